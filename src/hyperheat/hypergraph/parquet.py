"""Many hypergraphs in one Parquet file, one row per graph, columns as in `Hypergraph`.

    names      list of string, dictionary-encoded: a name is stored once per row group, not once per graph
    label, relation, offsets, qualifier, node  list of integer
    span       list of integer, four per node; null where the graph has no spans

A row group is read as a few flat arrays, and each graph's columns are slices of them: no Python object is
made per node, edge or incidence. Needs pyarrow, which is imported only when a function is called.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from hyperheat.extras import require
from hyperheat.files import whole_file
from hyperheat.hypergraph.graph import Hypergraph

__all__ = [
    "GraphTable",
    "ListColumn",
    "check_fields",
    "encode_graphs",
    "encode_lists",
    "graph_fields",
    "read_parquet",
    "write_parquet",
]

_INTEGERS = {
    "label": "int32",
    "relation": "int32",
    "offsets": "int64",
    "qualifier": "int32",
    "node": "int32",
    "span": "int32",
}
_GROUP_GRAPHS = 1_024
_GROUP_INCIDENCES = 4_000_000


def write_parquet(graphs: Iterable[Hypergraph], path: str | os.PathLike[str]) -> int:
    """Write the hypergraphs and return how many there were; the file appears only when all are written."""
    arrow, parquet = require("pyarrow", extra="interop"), require("pyarrow.parquet", extra="interop")
    schema = arrow.schema(graph_fields())
    settings = {"compression": "zstd", "use_dictionary": ["names.list.element"]}
    count = 0
    with whole_file(path) as temporary, parquet.ParquetWriter(temporary, schema, **settings) as writer:
        for group in _groups(graphs):
            writer.write_batch(arrow.record_batch(encode_graphs(group), schema=schema))
            count += len(group)
    return count


def read_parquet(path: str | os.PathLike[str]) -> Iterator[Hypergraph]:
    """Yield the hypergraphs of a file, holding one row group at a time; errors name the file and the row."""
    arrow, parquet = require("pyarrow", extra="interop"), require("pyarrow.parquet", extra="interop")
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            check_fields(file.schema_arrow, graph_fields())
            for group in range(file.num_row_groups):
                graphs = GraphTable(file.read_row_group(group))
                for index in range(len(graphs)):
                    yield graphs.graph(index, row)
                    row += 1
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: expected a Parquet file of hypergraphs: {error}") from error


def graph_fields(prefix: str = "") -> list[Any]:
    """The columns of a hypergraph, for the schema of a table whose rows hold one or more of them."""
    arrow = require("pyarrow", extra="interop")
    kinds = {
        "names": arrow.string(),
        **{name: arrow.type_for_alias(kind) for name, kind in _INTEGERS.items()},
    }
    return [arrow.field(prefix + name, arrow.list_(kind)) for name, kind in kinds.items()]


def check_fields(found: Any, expected: Iterable[Any]) -> None:
    """Raise ValueError unless a schema has all of the expected columns."""
    for field in expected:
        index = found.get_field_index(field.name)
        if index < 0:
            raise ValueError(f"{field.name}: expected this column, got {', '.join(found.names) or 'none'}")
        if found.field(index).type != field.type:
            raise ValueError(f"{field.name}: expected {field.type}, got {found.field(index).type}")


def _groups(graphs: Iterable[Hypergraph]) -> Iterator[list[Hypergraph]]:
    group: list[Hypergraph] = []
    incidences = 0
    for graph in graphs:
        group.append(graph)
        incidences += graph.num_incidences
        if len(group) == _GROUP_GRAPHS or incidences >= _GROUP_INCIDENCES:
            yield group
            group, incidences = [], 0
    if group:
        yield group


def encode_graphs(group: list[Hypergraph]) -> list[Any]:
    """The columns of several graphs, one row per graph, in the order of `graph_fields`."""
    arrow = require("pyarrow", extra="interop")
    try:
        names = arrow.array(chain.from_iterable(graph.names for graph in group), arrow.string())
    except UnicodeEncodeError as error:
        raise ValueError(f"names: expected text that UTF-8 can hold, got {error.object!r}") from None
    columns = [arrow.ListArray.from_arrays(_bounds(len(graph.names) for graph in group), names)]
    columns += [
        encode_lists([getattr(graph, column) for graph in group], kind) for column, kind in _INTEGERS.items()
    ]
    return columns


def encode_lists(parts: list[np.ndarray | None], kind: str) -> Any:
    """A column of lists of integers, one per row; null for None."""
    arrow = require("pyarrow", extra="interop")
    flat = [
        np.zeros(0, kind) if part is None else part.reshape(-1).astype(kind, copy=False) for part in parts
    ]
    missing = arrow.array([part is None for part in parts])
    bounds = arrow.array(_bounds(len(part) for part in flat))
    return arrow.ListArray.from_arrays(bounds, arrow.array(np.concatenate(flat)), mask=missing)


def _bounds(lengths: Iterable[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int32)


class ListColumn:
    """A column of lists of integers as one flat array: the list of each row is a slice of it."""

    def __init__(self, table: Any, name: str, *, nullable: bool = False) -> None:
        array = table[name].combine_chunks()
        _check_nulls(name, array, nullable=nullable)
        self._values, self._bounds = array.values.to_numpy(), array.offsets.to_numpy()
        self._missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None

    def __getitem__(self, row: int) -> np.ndarray | None:
        if self._missing is not None and self._missing[row]:
            return None
        return self._values[self._bounds[row] : self._bounds[row + 1]]

    def lengths(self) -> np.ndarray:
        """The length of each list."""
        return np.diff(self._bounds)


class GraphTable:
    """The hypergraphs of a table, made when asked for; each distinct name is a single Python string."""

    def __init__(self, table: Any, prefix: str = "") -> None:
        names = table[prefix + "names"].combine_chunks()
        _check_nulls(prefix + "names", names, nullable=False)
        encoded = names.values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        self._names = [distinct[index] for index in encoded.indices.to_numpy().tolist()]
        self._bounds = names.offsets.to_numpy()
        self._columns = {
            column: ListColumn(table, prefix + column, nullable=column == "span") for column in _INTEGERS
        }
        self._rows = table.num_rows

    def __len__(self) -> int:
        return self._rows

    def sizes(self) -> list[int]:
        """The number of nodes of each graph."""
        return self._columns["label"].lengths().tolist()

    def graph(self, index: int, row: int | None = None) -> Hypergraph:
        """The graph of a row of the table; an error calls it `row`, its number in the file."""
        columns: dict[str, Any] = {name: column[index] for name, column in self._columns.items()}
        names = tuple(self._names[self._bounds[index] : self._bounds[index + 1]])
        span = columns.pop("span")
        try:
            return Hypergraph(names=names, **columns, span=None if span is None else span.reshape(-1, 4))
        except (ValueError, TypeError, IndexError) as error:
            raise ValueError(f"row {index if row is None else row}: {error}") from error


def _check_nulls(column: str, array: Any, *, nullable: bool) -> None:
    if array.values.null_count or (array.null_count and not nullable):
        raise ValueError(f"{column}: expected no missing values, got some")
