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

from hyperheat.hypergraph.files import require, whole_file
from hyperheat.hypergraph.graph import Hypergraph

__all__ = ["read_parquet", "write_parquet"]

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
    parquet = require("pyarrow.parquet")
    schema = _schema()
    settings = {"compression": "zstd", "use_dictionary": ["names.list.element"]}
    count = 0
    with whole_file(path) as temporary, parquet.ParquetWriter(temporary, schema, **settings) as writer:
        for group in _groups(graphs):
            writer.write_batch(_encode(group, schema))
            count += len(group)
    return count


def read_parquet(path: str | os.PathLike[str]) -> Iterator[Hypergraph]:
    """Yield the hypergraphs of a file, holding one row group at a time; errors name the file and the row."""
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            _check_schema(file.schema_arrow)
            for group in range(file.num_row_groups):
                for columns in _rows(file.read_row_group(group)):
                    yield _decode(row, columns)
                    row += 1
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: expected a Parquet file of hypergraphs: {error}") from error


def _schema() -> Any:
    arrow = require("pyarrow")
    kinds = {
        "names": arrow.string(),
        **{name: arrow.type_for_alias(kind) for name, kind in _INTEGERS.items()},
    }
    return arrow.schema([arrow.field(name, arrow.list_(kind)) for name, kind in kinds.items()])


def _check_schema(found: Any) -> None:
    for field in _schema():
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


def _encode(group: list[Hypergraph], schema: Any) -> Any:
    """One record batch of several graphs: each column is the concatenation of theirs."""
    arrow = require("pyarrow")
    try:
        names = arrow.array(chain.from_iterable(graph.names for graph in group), arrow.string())
    except UnicodeEncodeError as error:
        raise ValueError(f"names: expected text that UTF-8 can hold, got {error.object!r}") from None
    columns = [arrow.ListArray.from_arrays(_bounds(len(graph.names) for graph in group), names)]
    for column, kind in _INTEGERS.items():
        parts = [getattr(graph, column) for graph in group]
        flat = [np.zeros(0, kind) if part is None else part.reshape(-1) for part in parts]
        missing = arrow.array([part is None for part in parts])
        bounds = arrow.array(_bounds(len(part) for part in flat))
        columns.append(arrow.ListArray.from_arrays(bounds, arrow.array(np.concatenate(flat)), mask=missing))
    return arrow.record_batch(columns, schema=schema)


def _bounds(lengths: Iterable[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.int32)


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    """The columns of each graph of a row group, as slices of the group's flat arrays."""
    texts, name_bounds = _names(table["names"].combine_chunks())
    flat = {column: _flat(column, table[column].combine_chunks()) for column in _INTEGERS}
    for row in range(table.num_rows):
        columns: dict[str, Any] = {"names": tuple(texts[name_bounds[row] : name_bounds[row + 1]])}
        for column, (values, bounds, missing) in flat.items():
            columns[column] = None if missing[row] else values[bounds[row] : bounds[row + 1]]
        yield columns


def _names(array: Any) -> tuple[list[str], np.ndarray]:
    """The names of all graphs one after the other, each distinct one a single Python string."""
    _check_nulls("names", array, nullable=False)
    encoded = array.values.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    return [distinct[index] for index in encoded.indices.to_numpy().tolist()], array.offsets.to_numpy()


def _flat(column: str, array: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _check_nulls(column, array, nullable=column == "span")
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return array.values.to_numpy(), array.offsets.to_numpy(), missing


def _check_nulls(column: str, array: Any, *, nullable: bool) -> None:
    if array.values.null_count or (array.null_count and not nullable):
        raise ValueError(f"{column}: expected no missing values, got some")


def _decode(row: int, columns: dict[str, Any]) -> Hypergraph:
    span = columns.pop("span")
    try:
        return Hypergraph(**columns, span=None if span is None else span.reshape(-1, 4))
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"row {row}: {error}") from error
