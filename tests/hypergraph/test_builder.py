"""Building hypergraphs step by step."""

from typing import Any

import numpy as np
import pytest

from hyperheat.hypergraph import HypergraphBuilder, Position


def test_builds_multisets_positions_and_spans() -> None:
    builder = HypergraphBuilder()
    a = builder.add_node("a", (1, 0, 1, 1))
    b = builder.add_node("b")
    assert builder.relate("f", ("x", a), ("x", a), (Position(3), b)) == 0
    assert builder.relate_sequence("Tokens", [b, a], start=4) == 1
    assert builder.relate("g") == 2
    graph = builder.build()
    assert str(graph) == "f(x: a, x: a, p3: b)\nTokens(p4: b, p5: a)\ng()"
    assert graph.span is not None
    assert graph.span.tolist() == [[1, 0, 1, 1], [-1, -1, -1, -1]]


def test_goes_on_after_build() -> None:
    builder = HypergraphBuilder()
    builder.add_node("a")
    first = builder.build()
    builder.relate("f", ("x", 0))
    assert str(first) == "isolated: a"
    assert str(builder.build()) == "f(x: a)"


def test_has_no_spans_unless_one_is_given() -> None:
    builder = HypergraphBuilder()
    builder.add_node("a")
    assert builder.build().span is None


def test_takes_numpy_indices() -> None:
    builder = HypergraphBuilder()
    builder.add_node("a")
    builder.relate("f", ("x", np.int64(0)), ("y", np.int32(0)))  # pyright: ignore[reportArgumentType]
    assert str(builder.build()) == "f(x: a, y: a)"


def test_an_edge_of_two_thousand_incidences() -> None:
    builder = HypergraphBuilder()
    builder.relate_sequence("Tokens", [builder.add_node(f"t{i}") for i in range(2_000)])
    (edge,) = builder.build()
    assert edge.incidences[0] == (Position(1), 0)
    assert edge.incidences[-1] == (Position(2_000), 1_999)


@pytest.mark.parametrize(
    ("relation", "incidences", "error", "message"),
    [
        (3, [], TypeError, "relation: expected a string, got 3 (int)"),
        ("f", [(3, 0)], TypeError, "qualifier: expected a string, got 3 (int)"),
        ("f", ["x"], TypeError, "f: expected (qualifier, node) pairs, got 'x'"),
        ("f", [("x", 0, 0)], TypeError, "f: expected (qualifier, node) pairs, got ('x', 0, 0)"),
        ("f", [("x", "0")], TypeError, "f: expected a node index, got '0' (str)"),
        ("f", [("x", True)], TypeError, "f: expected a node index, got True (bool)"),
        ("f", [("x", 1)], IndexError, "f: expected a node from 0 to 0, got 1"),
        ("f", [("x", -1)], IndexError, "f: expected a node from 0 to 0, got -1"),
    ],
)
def test_bad_edges_are_refused(
    relation: Any, incidences: list[Any], error: type[Exception], message: str
) -> None:
    builder = HypergraphBuilder()
    builder.add_node("a")
    with pytest.raises(error) as caught:
        builder.relate(relation, *incidences)
    assert str(caught.value) == message
    assert builder.build().num_edges == 0


@pytest.mark.parametrize("span", [(1, 2, 3), "1234", (1, 2, 3, "4"), (1, 2, 3, 2**31), (1, 2, 3, -2), 7])
def test_bad_spans_are_refused(span: Any) -> None:
    builder = HypergraphBuilder()
    with pytest.raises(ValueError, match="span: expected four integers"):
        builder.add_node("a", span)
    assert builder.num_nodes == 0


def test_bad_labels_are_refused() -> None:
    with pytest.raises(TypeError, match=r"label: expected a string, got None \(NoneType\)"):
        HypergraphBuilder().add_node(None)  # pyright: ignore[reportArgumentType]
