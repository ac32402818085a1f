"""Transforms: hand-made graphs before and after."""

from typing import Any

import numpy as np
import pytest

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
from hyperheat.hypergraph.transforms import binarise, drop_relations, subgraph


def graph_of(*edges: tuple[str, list[tuple[str | Position, str]]]) -> Hypergraph:
    """A graph whose nodes are the letters a to f."""
    builder = HypergraphBuilder()
    index = {letter: builder.add_node(letter, (n, 0, n, 1)) for n, letter in enumerate("abcdef")}
    for relation, incidences in edges:
        builder.relate(relation, *((qualifier, index[letter]) for qualifier, letter in incidences))
    return builder.build()


def lines(graph: Hypergraph) -> list[str]:
    return [line for line in str(graph).splitlines() if not line.startswith("isolated")]


def positions(letters: str, order: list[int]) -> list[tuple[str | Position, str]]:
    return [(Position(place), letter) for letter, place in zip(letters, order, strict=True)]


@pytest.mark.parametrize(
    ("incidences", "expected"),
    [
        pytest.param([], ["r()"], id="empty edges stay"),
        pytest.param([("x", "a")], ["r(x: a)"], id="single incidences stay"),
        pytest.param([("x", "a"), ("rval", "b")], ["r(x: a, rval: b)"], id="pairs stay"),
        pytest.param(
            [(Position(7), "a"), (Position(3), "b")], ["r(p7: a, p3: b)"], id="pairs of positions stay"
        ),
        pytest.param(
            [("x", "a"), ("rval", "b"), ("y", "c")],
            ["r(rval: b, x: a)", "r(rval: b, y: c)"],
            id="rval is the hub",
        ),
        pytest.param(
            [("left", "a"), ("node", "b"), ("right", "a")],
            ["r(node: b, left: a)", "r(node: b, right: a)"],
            id="node is the hub",
        ),
        pytest.param(
            [("node", "a"), ("rval", "b"), ("rval", "c")],
            ["r(rval: b, node: a)", "r(rval: b, rval: c)"],
            id="the first rval goes before node",
        ),
        pytest.param(
            positions("abca", [1, 2, 3, 4]),
            ["r(p1: a, p2: b)", "r(p1: b, p2: c)", "r(p1: c, p2: a)"],
            id="a sequence becomes a chain",
        ),
        pytest.param(
            positions("abc", [9, 2, 5]),
            ["r(p1: b, p2: c)", "r(p1: c, p2: a)"],
            id="a chain follows the positions",
        ),
        pytest.param(
            positions("abc", [2, 1, 1]),
            ["r(p1: b, p2: c)", "r(p1: c, p2: a)"],
            id="equal positions keep their order",
        ),
        pytest.param(
            [("prev", "a"), ("prev", "b"), ("succ", "c"), ("succ", "d")],
            ["r(prev: a, succ: c)", "r(prev: a, succ: d)", "r(prev: b, succ: c)", "r(prev: b, succ: d)"],
            id="two qualifiers give their product",
        ),
        pytest.param(
            [("src", "a"), ("obj", "b"), ("when", "c")],
            ["r(src: a, obj: b)", "r(src: a, when: c)"],
            id="a statement is a star from its subject",
        ),
        pytest.param(
            [("x", "a"), ("x", "a"), ("x", "b")],
            ["r(x: a, x: a)", "r(x: a, x: b)"],
            id="one qualifier is a star",
        ),
    ],
)
def test_binarise_one_edge(incidences: list[tuple[str | Position, str]], expected: list[str]) -> None:
    assert lines(binarise(graph_of(("r", incidences)))) == expected


def test_binarise_keeps_the_order_of_edges_and_all_nodes() -> None:
    graph = graph_of(
        ("s", positions("abc", [1, 2, 3])),
        ("e", []),
        ("m", [("prev", "a"), ("succ", "b"), ("succ", "c")]),
        ("f", [("x", "d"), ("rval", "a"), ("y", "b")]),
        ("s", positions("dcb", [1, 2, 3])),
    )
    binary = binarise(graph)
    assert lines(binary) == [
        *("s(p1: a, p2: b)", "s(p1: b, p2: c)", "e()", "m(prev: a, succ: b)", "m(prev: a, succ: c)"),
        *("f(rval: a, x: d)", "f(rval: a, y: b)", "s(p1: d, p2: c)", "s(p1: c, p2: b)"),
    ]
    assert binary.labels == graph.labels
    assert np.array_equal(binary.span, graph.span)  # pyright: ignore[reportArgumentType]


def test_binarise_an_edge_of_two_thousand_incidences() -> None:
    builder = HypergraphBuilder()
    nodes = [builder.add_node("t") for _ in range(2_000)]
    builder.relate_sequence("Tokens", nodes)
    builder.relate("m", *(("prev" if node < 1_000 else "succ", node) for node in nodes))
    binary = binarise(builder.build())
    assert binary.num_edges == 1_999 + 1_000 * 1_000
    assert (np.diff(binary.offsets) == 2).all()


def test_drop_relations_keeps_nodes_and_forgets_names() -> None:
    graph = graph_of(("r", [("x", "a")]), ("s", [("y", "b")]), ("r", []), ("t", [(Position(2), "c")]))
    rest = drop_relations(graph, ["r", "s"])
    assert str(rest) == "t(p2: c)\nisolated: a, b, d, e, f"
    assert rest.names == (*"abcdef", "t")
    assert drop_relations(graph, []) == graph


def test_drop_relations_names_the_nearest() -> None:
    graph = graph_of(("MayRead", []), ("MayWrite", []), ("AstNode", []))
    with pytest.raises(ValueError, match=r"got 'MayReed'; did you mean MayRead\?"):
        drop_relations(graph, ["MayReed"])
    with pytest.raises(ValueError, match=r"got 'zzz'; there is AstNode, MayRead, MayWrite"):
        drop_relations(graph, ["zzz"])
    with pytest.raises(ValueError, match=r"got 'r'; the graph has no edges"):
        drop_relations(graph_of(), ["r"])
    with pytest.raises(TypeError, match="expected several names, got the string 'MayRead'"):
        drop_relations(graph, "MayRead")


def test_a_label_is_not_a_relation() -> None:
    with pytest.raises(ValueError, match="got 'a'"):
        drop_relations(graph_of(("r", [("x", "a")])), ["a"])


CROSSING = graph_of(
    ("in", [("x", "a"), ("y", "c")]),
    ("across", [("x", "a"), ("y", "b"), ("z", "c"), ("z", "c")]),
    ("out", [("x", "b"), ("y", "d")]),
    ("empty", []),
)


def test_subgraph_trims_or_drops_what_reaches_outside() -> None:
    trimmed = subgraph(CROSSING, [2, 0], outside="trim")
    assert str(trimmed) == "in(x: a, y: c)\nacross(x: a, z: c, z: c)\nempty()"
    assert str(subgraph(CROSSING, [2, 0], outside="drop")) == "in(x: a, y: c)\nempty()"


def test_subgraph_numbers_nodes_in_the_order_given() -> None:
    part = subgraph(CROSSING, np.array([2, 0]), outside="drop")
    assert part.labels == ["c", "a"]
    assert part.node.tolist() == [1, 0]
    assert part.span is not None
    assert part.span.tolist() == [[2, 0, 2, 1], [0, 0, 0, 1]]
    assert "out" not in part.names


def test_subgraph_of_nothing() -> None:
    assert str(subgraph(CROSSING, [], outside="trim")) == "empty()"


@pytest.mark.parametrize(
    ("nodes", "outside", "error", "message"),
    [
        ([6], "trim", IndexError, "nodes: expected indices from 0 to 5, got 6"),
        ([-1], "trim", IndexError, "nodes: expected indices from 0 to 5, got -1"),
        ([1, 2, 1], "trim", ValueError, "nodes: expected each node once, got 1 twice"),
        ([True] * 6, "trim", TypeError, "nodes: expected a list of node indices, got bool of shape (6,)"),
        ([0.5], "trim", TypeError, "nodes: expected a list of node indices, got float64 of shape (1,)"),
        ([0], "keep", ValueError, "outside: expected 'trim' or 'drop', got 'keep'"),
    ],
)
def test_subgraph_refuses(nodes: Any, outside: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        subgraph(CROSSING, nodes, outside=outside)
    assert str(caught.value) == message
