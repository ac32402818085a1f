"""HIF: what is written, what is read from others, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperheat.hypergraph import HypergraphBuilder, Position
from hyperheat.hypergraph.hif import from_hif, read_hif, to_hif, write_hif


def test_writes_the_fields_of_the_standard() -> None:
    builder = HypergraphBuilder()
    foo, bar = builder.add_node("foo", (1, 2, 3, 4)), builder.add_node("bar")
    builder.relate("BinOp", ("left", foo), (Position(2), bar))
    builder.relate("empty")
    assert to_hif(builder.build()) == {
        "network-type": "undirected",
        "nodes": [
            {"node": 0, "attrs": {"label": "foo", "span": [1, 2, 3, 4]}},
            {"node": 1, "attrs": {"label": "bar", "span": [-1, -1, -1, -1]}},
        ],
        "edges": [{"edge": 0, "attrs": {"relation": "BinOp"}}, {"edge": 1, "attrs": {"relation": "empty"}}],
        "incidences": [
            {"edge": 0, "node": 0, "attrs": {"qualifier": "left"}},
            {"edge": 0, "node": 1, "attrs": {"position": 2}},
        ],
    }


def test_reads_files_of_others() -> None:
    graph = from_hif(
        {
            "network-type": "directed",
            "metadata": {},
            "nodes": [{"node": "alone"}, {"node": "b", "weight": 1.0}],
            "incidences": [
                {"edge": "e2", "node": "a"},
                {"edge": 7, "node": "b", "direction": "head"},
                {"edge": "e2", "node": "a", "weight": 1},
                {"edge": 7, "node": 1, "direction": "tail"},
                {"edge": "e2", "node": "1"},
            ],
        }
    )
    assert graph.labels == ["alone", "b", "a", "1", "1"]  # the ids 1 and "1" are two nodes
    assert str(graph) == "edge(member: a, member: a, member: 1#4)\nedge(head: b, tail: 1#3)\nisolated: alone"


def test_an_id_may_be_listed_twice_and_incidences_count_each_time() -> None:
    graph = from_hif(
        {
            "nodes": [{"node": "n"}, {"node": "n"}],
            "edges": [{"edge": "n"}, {"edge": "n"}],
            "incidences": [{"edge": "n", "node": "n"}, {"edge": "n", "node": "n"}],
        }
    )
    assert str(graph) == "edge(member: n, member: n)"


def test_names_what_it_leaves_out() -> None:
    document = {
        "network-type": "asc",
        "metadata": {"author": "someone"},
        "nodes": [{"node": 1, "attrs": {"colour": "red"}}, {"node": 2, "attrs": {"colour": "blue"}}],
        "incidences": [{"edge": 0, "node": 1}],
    }
    with pytest.warns(UserWarning, match="dropped") as caught:
        from_hif(document)
    assert str(caught[0].message) == (
        "dropped, because a hypergraph cannot store it: metadata (1), "
        "network-type asc (that all subsets of an edge are edges) (1), nodes[].attrs.colour (2)"
    )


@pytest.mark.parametrize(
    ("field", "records", "message"),
    [
        (
            "incidences",
            [{"edge": 0, "node": 0, "weight": 0.5}],
            "incidences[0].weight: expected 1 or no weight",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "weight": float("nan")}],
            "hypergraphs are unweighted), got nan",
        ),
        ("nodes", [{"node": 0}, {"node": 1, "weight": 2}], "nodes[1].weight: expected 1 or no weight"),
        ("edges", [{"edge": 0, "weight": True}], "edges[0].weight: expected 1 or no weight"),
        ("edges", [{"edge": 0, "weight": "1"}], "edges[0].weight: expected 1 or no weight"),
        (
            "nodes",
            [{"node": 0, "attrs": {"label": "a"}}, {"node": 0, "attrs": {"label": "b"}}],
            "nodes[1].attrs: expected {'label': 'a'} as before for the node 0, got {'label': 'b'}",
        ),
        (
            "edges",
            [{"edge": "e"}, {"edge": "e", "attrs": {"relation": "f"}}],
            "edges[1].attrs: expected {} as before for the edge 'e', got {'relation': 'f'}",
        ),
        ("nodes", [{"id": 0}], "nodes[0].node: expected a string or an integer, got None"),
        (
            "incidences",
            [{"edge": 0, "node": 1.5}],
            "incidences[0].node: expected a string or an integer, got 1.5",
        ),
        (
            "incidences",
            [{"edge": True, "node": 1}],
            "incidences[0].edge: expected a string or an integer, got True",
        ),
        ("incidences", {}, "incidences: expected a list, got dict"),
        ("nodes", [3], "nodes[0]: expected an object, got 3"),
        ("nodes", [{"node": 0, "attrs": [1]}], "nodes[0].attrs: expected an object, got [1]"),
        ("nodes", [{"node": 0, "attrs": {"label": 3}}], "nodes[0].attrs.label: expected a string, got 3"),
        ("nodes", [{"node": 0, "attrs": {"span": [1, 2]}}], "nodes[0].attrs.span: expected four integers"),
        (
            "edges",
            [{"edge": 0, "attrs": {"relation": None}}],
            "edges[0].attrs.relation: expected a string, got None",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "attrs": {"qualifier": 1}}],
            "incidences[0].attrs.qualifier: expected a string, got 1",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "attrs": {"position": 0}}],
            "incidences[0].attrs.position: expected an int from 1",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "attrs": {"position": 1, "qualifier": "x"}}],
            "incidences[0].attrs: expected only one of qualifier, position and the direction, got several",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "direction": "head", "attrs": {"qualifier": "x"}}],
            "incidences[0].attrs: expected only one of qualifier, position and the direction, got several",
        ),
        (
            "incidences",
            [{"edge": 0, "node": 0, "direction": "up"}],
            "incidences[0].direction: expected head or tail",
        ),
        ("network-type", "tree", "network-type: expected undirected, directed or asc, got 'tree'"),
    ],
)
def test_refuses_by_field(field: str, records: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        from_hif({"incidences": [], field: records})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"incidences": [', "Expecting value"),
        (b"\xff\xfe\xfa", "decode"),
        (b"", "Expecting value"),
        (b"[]", "expected a HIF document, an object with the field incidences"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_corrupt_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"broken\.json: ") as caught:
        read_hif(path)
    assert message in str(caught.value)


def test_writes_whole_files_of_plain_json(tmp_path: Path) -> None:
    builder = HypergraphBuilder()
    builder.relate(
        "größe", ("x", builder.add_node("a\ud800\n"))
    )  # a lone surrogate, as a string literal may have
    path = tmp_path / "graph.json"
    path.write_text("old")
    write_hif(builder.build(), path)
    assert json.loads(path.read_bytes())["edges"][0]["attrs"]["relation"] == "größe"
    assert read_hif(path) == builder.build()
    assert list(tmp_path.iterdir()) == [path]
