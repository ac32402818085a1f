"""JSON lines: streaming, exact text, errors with file and line."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
from hyperheat.hypergraph.jsonl import read_jsonl, write_jsonl


def small() -> Hypergraph:
    builder = HypergraphBuilder()
    foo, bar = builder.add_node("foo"), builder.add_node("bar")
    builder.relate("BinOp", ("left", foo), (Position(2), bar))
    return builder.build()


LINE = '{"nodes": ["foo", "bar"], "edges": [{"relation": "BinOp", "incidences": [["left", 0], [2, 1]]}]}\n'


def test_writes_one_readable_line_per_graph(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    assert write_jsonl([small(), HypergraphBuilder().build()], path) == 2
    assert path.read_text() == LINE + '{"nodes": [], "edges": []}\n'


def test_reads_lazily_and_skips_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    path.write_text(LINE + "\n  \n" + LINE + "broken")
    assert list(islice(read_jsonl(path), 2)) == [small(), small()]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("broken", "Expecting value"),
        ("[]", "expected an object with nodes, edges and at most spans, got list"),
        ('{"nodes": []}', "expected an object with nodes, edges and at most spans, got ['nodes']"),
        ('{"nodes": [], "edges": [], "weights": []}', "got ['edges', 'nodes', 'weights']"),
        ('{"nodes": "ab", "edges": []}', "nodes: expected a list, got 'ab'"),
        ('{"nodes": [1], "edges": []}', "label: expected a string, got 1 (int)"),
        ('{"nodes": ["a"], "edges": [], "spans": []}', "spans: expected 1 entries (as many as nodes), got 0"),
        ('{"nodes": ["a"], "edges": [], "spans": [[1]]}', "span: expected four integers"),
        (
            '{"nodes": [], "edges": ["f"]}',
            "edges[0]: expected an object with relation and incidences, got 'f'",
        ),
        (
            '{"nodes": [], "edges": [{"relation": "f", "incidences": 3}]}',
            "edges[0].incidences: expected a list, got 3",
        ),
        (
            '{"nodes": [], "edges": [{"relation": "f", "incidences": [["x"]]}]}',
            "expected [qualifier, node], got ['x']",
        ),
        (
            '{"nodes": [], "edges": [{"relation": "f", "incidences": [["x", 0]]}]}',
            "f: expected a node from 0 to -1",
        ),
        (
            '{"nodes": ["a"], "edges": [{"relation": "f", "incidences": [[0, 0]]}]}',
            "position: expected an int from 1",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "graphs.jsonl"
    path.write_text(LINE + line + "\n")
    graphs = read_jsonl(path)
    assert next(graphs) == small()
    with pytest.raises(ValueError, match=r"graphs\.jsonl:2: ") as caught:
        next(graphs)
    assert message in str(caught.value)


def test_broken_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    path.write_bytes(LINE.encode() + b'{"nodes": ["\xff"], "edges": []}\n')
    with pytest.raises(ValueError, match=r"graphs\.jsonl:2: 'utf-8' codec can't decode"):
        list(read_jsonl(path))


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    def failing() -> Iterator[Hypergraph]:
        yield small()
        raise RuntimeError("no more graphs")

    path = tmp_path / "graphs.jsonl"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="no more graphs"):
        write_jsonl(failing(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
