"""Parquet: columns, row groups, errors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position, parquet
from hyperheat.hypergraph.parquet import read_parquet, write_parquet


def numbered(number: int) -> Hypergraph:
    builder = HypergraphBuilder()
    span = (number, 0, number, 1) if number % 2 else None
    foo, bar = builder.add_node("foo", span), builder.add_node(f"bar{number}")
    builder.relate("BinOp", ("left", foo), (Position(2), bar), ("left", foo))
    builder.relate("empty")
    return builder.build()


def test_has_one_row_per_graph_and_columns_as_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "graphs.parquet"
    assert write_parquet([numbered(3), HypergraphBuilder().build(), numbered(4)], path) == 3
    first, empty, last = pq.read_table(path).to_pylist()
    assert first == {
        "names": ["foo", "bar3", "BinOp", "left", "empty"],
        "label": [0, 1],
        "relation": [2, 4],
        "offsets": [0, 3, 3],
        "qualifier": [3, -2, 3],
        "node": [0, 1, 0],
        "span": [3, 0, 3, 1, -1, -1, -1, -1],
    }
    assert empty["offsets"] == [0]
    assert last["span"] is None
    names = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert "RLE_DICTIONARY" in names.encodings


def test_streams_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_GROUP_GRAPHS", 4)
    path = tmp_path / "graphs.parquet"
    graphs = [numbered(i) for i in range(10)]
    assert write_parquet(iter(graphs), path) == 10
    assert pq.ParquetFile(path).num_row_groups == 3
    assert list(read_parquet(path)) == graphs


def test_large_graphs_end_their_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_GROUP_INCIDENCES", 5)  # each graph has three
    path = tmp_path / "graphs.parquet"
    write_parquet([numbered(i) for i in range(5)], path)
    assert pq.ParquetFile(path).num_row_groups == 3


def test_columns_are_slices_of_one_array(tmp_path: Path) -> None:
    path = tmp_path / "graphs.parquet"
    write_parquet([numbered(1), numbered(2)], path)
    one, two = read_parquet(path)
    start = one.node.__array_interface__["data"][0]
    assert two.node.__array_interface__["data"][0] == start + one.node.nbytes
    assert one.names[0] is two.names[0]


def test_reads_an_edge_of_two_thousand_incidences(tmp_path: Path) -> None:
    builder = HypergraphBuilder()
    builder.relate_sequence("Tokens", [builder.add_node("t") for _ in range(2_000)])
    path = tmp_path / "graphs.parquet"
    write_parquet([builder.build()], path)
    assert list(read_parquet(path)) == [builder.build()]


def test_no_graphs_at_all(tmp_path: Path) -> None:
    path = tmp_path / "graphs.parquet"
    assert write_parquet([], path) == 0
    assert list(read_parquet(path)) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    def failing() -> Iterator[Hypergraph]:
        yield numbered(1)
        raise RuntimeError("no more graphs")

    path = tmp_path / "graphs.parquet"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="no more graphs"):
        write_parquet(failing(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_refuses_text_that_utf8_cannot_hold(tmp_path: Path) -> None:
    builder = HypergraphBuilder()
    builder.add_node("\ud800")
    with pytest.raises(ValueError, match="names: expected text that UTF-8 can hold"):
        write_parquet([builder.build()], tmp_path / "graphs.parquet")


@pytest.mark.parametrize("keep", [0, 10, 200, -30])
def test_a_truncated_file_is_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "graphs.parquet"
    write_parquet([numbered(1)], path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"graphs\.parquet: expected a Parquet file of hypergraphs: "):
        list(read_parquet(path))


def test_damaged_data_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graphs.parquet"
    write_parquet([numbered(i) for i in range(50)], path)
    content = bytearray(path.read_bytes())
    content[20:200] = bytes(180)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"graphs\.parquet: expected a Parquet file of hypergraphs: "):
        list(read_parquet(path))


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_parquet(tmp_path / "none.parquet"))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("node", None, "node: expected this column, got names, label, relation, offsets, qualifier, span"),
        ("node", pa.array([3, 4]), "node: expected list<item: int32>, got int64"),
        ("node", pa.array([["0"], ["1"]]), "node: expected list<item: int32>, got list<element: string>"),
        ("node", pa.array([[0, 1, 0], None], pa.list_(pa.int32())), "node: expected no missing values"),
        ("label", pa.array([[0, 1], [0, None]], pa.list_(pa.int32())), "label: expected no missing values"),
        (
            "node",
            pa.array([[0, 1, 0], [0, 9, 0]], pa.list_(pa.int32())),
            "row 1: node[1]: expected an index from 0",
        ),
        ("span", pa.array([None, [1, 2, 3]], pa.list_(pa.int32())), "row 1: cannot reshape"),
        ("names", pa.array([["a"], ["b", None]], pa.list_(pa.string())), "names: expected no missing values"),
    ],
)
def test_bad_columns_are_named(tmp_path: Path, column: str, values: Any, message: str) -> None:
    path = tmp_path / "graphs.parquet"
    write_parquet([numbered(2), numbered(4)], path)
    table = pq.read_table(path)
    position = table.schema.get_field_index(column)
    table = table.drop_columns(column) if values is None else table.set_column(position, column, values)
    pq.write_table(table, path)
    with pytest.raises(ValueError, match=r"graphs\.parquet: ") as caught:
        list(read_parquet(path))
    assert message in str(caught.value)


def test_reading_a_shard_makes_no_object_per_incidence(tmp_path: Path) -> None:
    incidences = 300_000
    rng = np.random.default_rng(0)
    graph = Hypergraph(
        names=("a", "b"),
        label=np.zeros(1_000, np.int32),
        relation=np.ones(incidences // 3, np.int32),
        offsets=np.arange(0, incidences + 1, 3),
        qualifier=rng.integers(-5, 2, incidences),
        node=rng.integers(0, 1_000, incidences),
    )
    path = tmp_path / "graphs.parquet"
    write_parquet([graph], path)
    (read,) = read_parquet(path)
    assert not read.node.flags.owndata
    assert read.node.dtype == np.int32
    assert np.array_equal(read.node, graph.node)
    assert np.array_equal(read.qualifier, graph.qualifier)
