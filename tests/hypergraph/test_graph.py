"""The data type: validation, printing, equality, freezing."""

from typing import Any

import numpy as np
import pytest

from hyperheat.hypergraph import Edge, Hypergraph, HypergraphBuilder, Position


def columns(**changed: Any) -> dict[str, Any]:
    """BinOp(left: foo, right: bar), column by column."""
    return {
        "names": ("foo", "bar", "BinOp", "left", "right"),
        "label": [0, 1],
        "relation": [2],
        "offsets": [0, 2],
        "qualifier": [3, 4],
        "node": [0, 1],
    } | changed


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"names": ("foo", 3)}, TypeError, "names[1]: expected a string, got 3 (int)"),
        ({"names": tuple("abcdb")}, ValueError, "names: expected distinct strings, got 'b' twice"),
        ({"label": [0, 5]}, IndexError, "label[1]: expected an index from 0 to 4, got 5"),
        ({"label": [0.5, 1.0]}, TypeError, "label: expected integers, got an array of float64"),
        ({"label": [[0], [1]]}, ValueError, "label: expected 1 dimension(s), got shape (2, 1)"),
        ({"label": [0, 2**40]}, ValueError, "label: expected values that fit int32, got 0 .. 1099511627776"),
        ({"relation": [-1]}, IndexError, "relation[0]: expected an index from 0 to 4, got -1"),
        ({"offsets": [0]}, ValueError, "offsets: expected 2 entries (edges + 1), got 1"),
        ({"offsets": [0, 1]}, ValueError, "offsets: expected a rising sequence from 0 to 2, got [0, 1]"),
        ({"offsets": [1, 2]}, ValueError, "offsets: expected a rising sequence from 0 to 2, got [1, 2]"),
        (
            {"relation": [2, 2], "offsets": [0, 3, 2]},
            ValueError,
            "offsets: expected a rising sequence from 0 to 2, got [0, 3, 2]",
        ),
        ({"qualifier": [3, 5]}, IndexError, "qualifier[1]: expected an index below 5, got 5"),
        ({"qualifier": [3]}, ValueError, "qualifier: expected 2 entries (as many as node), got 1"),
        ({"node": [0, 2]}, IndexError, "node[1]: expected an index from 0 to 1, got 2"),
        ({"node": [-1, 0]}, IndexError, "node[0]: expected an index from 0 to 1, got -1"),
        ({"span": [[1, 2, 3, 4]]}, ValueError, "span: expected shape (2, 4), got (1, 4)"),
        ({"span": [1, 2, 3, 4]}, ValueError, "span: expected 2 dimension(s), got shape (4,)"),
    ],
)
def test_bad_columns_are_refused_by_name(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        Hypergraph(**columns(**changed))
    assert str(caught.value) == message


def test_prints_edges_and_isolated_nodes() -> None:
    builder = HypergraphBuilder()
    x, other_x, space, _ = (builder.add_node(label) for label in ("x", "x", "a b", "alone"))
    builder.relate("BinOp", ("left", x), ("right", other_x))
    builder.relate_sequence("Tokens", [space, x])
    builder.relate("empty")
    assert str(builder.build()) == (
        'BinOp(left: x#0, right: x#1)\nTokens(p1: "a b", p2: x#0)\nempty()\nisolated: alone'
    )


def test_prints_an_empty_graph() -> None:
    empty = HypergraphBuilder().build()
    assert str(empty) == "empty hypergraph"
    assert repr(empty) == "Hypergraph(0 nodes, 0 edges, 0 incidences)"
    assert list(empty) == []
    assert len(empty) == 0
    assert empty  # an empty hypergraph is still one


def test_reads_back_as_edges() -> None:
    graph = Hypergraph(**columns(qualifier=[3, -7]))
    assert list(graph) == [Edge("BinOp", (("left", 0), (Position(7), 1)))]
    assert graph.labels == ["foo", "bar"]
    assert graph.relations == ["BinOp"]
    assert graph.qualifiers == ["left", Position(7)]


def test_equality_ignores_the_layout_of_the_string_table() -> None:
    graph = Hypergraph(**columns())
    relabelled = Hypergraph(
        **columns(
            names=("unused", "right", "left", "BinOp", "bar", "foo"),
            label=[5, 4],
            relation=[3],
            qualifier=[2, 1],
        )
    )
    assert graph == relabelled


@pytest.mark.parametrize(
    "changed",
    [
        {"label": [1, 0]},
        {"relation": [3]},
        {"qualifier": [4, 3]},
        {"qualifier": [3, -1]},
        {"node": [1, 0]},
        {"relation": [2, 2], "offsets": [0, 1, 2]},
        {"span": np.zeros((2, 4), dtype=int)},
    ],
)
def test_every_column_counts_for_equality(changed: dict[str, Any]) -> None:
    assert Hypergraph(**columns()) != Hypergraph(**columns(**changed))


def test_is_not_equal_to_other_types_and_not_hashable() -> None:
    graph = Hypergraph(**columns())
    assert graph != "BinOp(left: foo, right: bar)"
    with pytest.raises(TypeError):
        hash(graph)


def test_columns_cannot_be_written() -> None:
    graph = Hypergraph(**columns())
    with pytest.raises(ValueError, match="read-only"):
        graph.label[0] = 1


def test_position_of_a_name_that_looks_like_one_differs_from_it() -> None:
    assert str(Position(1)) == "p1"
    assert Position(1) < Position(2)
    names = ("foo", "bar", "BinOp", "p1", "p2")
    assert Hypergraph(**columns(names=names)) != Hypergraph(**columns(names=names, qualifier=[-1, -2]))


@pytest.mark.parametrize("index", [0, -1, 2**31, 1.0, True, "1"])
def test_positions_count_from_one(index: Any) -> None:
    with pytest.raises(ValueError, match=r"position: expected an int from 1 to 2\*\*31 - 1, got "):
        Position(index)
