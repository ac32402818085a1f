"""Samples in Parquet files: one row per sample, made into objects when asked for.

project, version, path, function, line, tags, source    where a sample comes from, and its text
names, label, relation, offsets, qualifier, node        its hypergraph, as in `hyperheat.hypergraph.parquet`
candidates_location, ..., repairs                        see `Sample`
token_of, pairs_names, ...                              its graph of pairs, likewise; not in every file
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from hyperheat.detector.sample import TEXTS, Candidates, Origin, Sample
from hyperheat.extras import require
from hyperheat.files import whole_file
from hyperheat.hypergraph.parquet import (
    GraphTable,
    ListColumn,
    check_fields,
    encode_graphs,
    encode_lists,
    graph_fields,
)
from hyperheat.rewrites import KINDS

__all__ = ["Shard", "check_parquet", "read_shard", "write_shard"]

_GROUP = 512
_PAIRS = "pairs_"
_TEXTS = ("project", "version", "path", "function", "source")
_CANDIDATES = tuple(field.name for field in fields(Candidates))
_LISTS = ("repairs", *(f"candidates_{name}" for name in _CANDIDATES))
_TOKENS = "token_of"


def check_parquet() -> None:
    """Raise ImportError in one sentence if files of samples cannot be written; workers would blame their jobs for it."""
    require("pyarrow.parquet", extra="train")


def write_shard(samples: Iterable[Sample], path: str | os.PathLike[str], *, pairs: bool = True) -> int:
    """Write samples and return how many there were; the file appears only when all are written."""
    arrow, parquet = require("pyarrow", extra="train"), require("pyarrow.parquet", extra="train")
    schema = arrow.schema(_fields(pairs=pairs))
    settings = {"compression": "zstd", "compression_level": 3}
    count = 0
    with whole_file(path) as temporary, parquet.ParquetWriter(temporary, schema, **settings) as writer:
        for group in _groups(samples):
            writer.write_batch(arrow.record_batch(_encode(group, pairs=pairs), schema=schema))
            count += len(group)
    return count


def read_shard(path: str | os.PathLike[str]) -> Iterator[Sample]:
    """Yield the samples of a file."""
    shard = Shard(path)
    return (shard[row] for row in range(len(shard)))


class Shard:
    """The samples of a file, held as a few flat arrays; without the graphs of pairs if `pairs` is false."""

    def __init__(self, path: str | os.PathLike[str], *, pairs: bool = True) -> None:
        arrow, parquet = require("pyarrow", extra="train"), require("pyarrow.parquet", extra="train")
        self._path = os.fspath(path)
        try:
            expected = _fields(pairs=pairs)
            check_fields(parquet.read_schema(path), expected)
            table = parquet.read_table(path, columns=[field.name for field in expected], partitioning=None)
            self._graphs = GraphTable(table)
            self._pairs = GraphTable(table, _PAIRS) if pairs else None
            self._lists = {name: ListColumn(table, name) for name in (*_LISTS, *([_TOKENS] if pairs else []))}
            self._values = {name: table[name].to_pylist() for name in (*_TEXTS, "line", "tags")}
        except FileNotFoundError:
            raise
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise ValueError(f"{self._path}: expected a Parquet file of bug samples: {error}") from error

    def __len__(self) -> int:
        return len(self._graphs)

    def __getitem__(self, row: int) -> Sample:
        if not 0 <= row < len(self):
            raise IndexError(f"row: expected 0 to {len(self) - 1}, got {row}")
        try:
            return self._sample(row)
        except ValueError as error:
            raise ValueError(f"{self._path}: row {row}: {error}") from error

    def _sample(self, row: int) -> Sample:
        values = {name: column[row] for name, column in self._values.items()}
        lists = {name: column[row] for name, column in self._lists.items()}
        columns = {name: np.asarray(lists[f"candidates_{name}"]) for name in _CANDIDATES}
        sample = Sample(
            origin=Origin(
                **{name: values[name] for name in ("project", "version", "path", "function", "line")},
                tags=tuple(values["tags"]),
            ),
            source=values["source"],
            graph=self._graphs.graph(row),
            pairs=None if self._pairs is None else self._pairs.graph(row),
            token_of=np.asarray(lists.get(_TOKENS, np.zeros(0, np.int32))),
            candidates=Candidates(**columns),
            repairs=tuple(np.asarray(lists["repairs"]).tolist()),
        )
        _check(sample)
        return sample

    def sizes(self) -> list[int]:
        """The number of nodes of each sample."""
        return self._graphs.sizes()


def _check(sample: Sample) -> None:
    """Refuse numbers that lead outside of the sample: a wrong file must not become a crash in a model."""
    nodes, rows = sample.graph.num_nodes, len(sample.candidates)
    tokens = 0 if sample.pairs is None else nodes
    if len(sample.token_of) != tokens or not _within(sample.token_of, -1, nodes):
        raise ValueError(f"token_of: expected a node or -1 for each of {nodes} nodes")
    columns = [getattr(sample.candidates, name) for name in _CANDIDATES]
    if any(len(column) != rows for column in columns) or not rows:
        raise ValueError(f"candidates: expected columns of equal length, got {[len(c) for c in columns]}")
    if not _within(sample.candidates.location, 0, nodes) or (np.diff(sample.candidates.location) < 0).any():
        raise ValueError("candidates: expected locations among the nodes, in order")
    if not all(_within(column, -1, nodes) for column in (sample.candidates.first, sample.candidates.second)):
        raise ValueError("candidates: expected variables and arguments among the nodes")
    if not _within(sample.candidates.text, -1, len(TEXTS)) or not _within(
        sample.candidates.kind, 0, len(KINDS)
    ):
        raise ValueError("candidates: expected known kinds and texts")
    if ((sample.candidates.text < 0) & (sample.candidates.first < 0)).any():
        raise ValueError("candidates: expected a text, a variable or arguments in each")
    repairs = np.array(sample.repairs, dtype=np.int64)
    if not _within(repairs, 0, rows) or (np.diff(repairs) <= 0).any():
        raise ValueError(f"repairs: expected rising places below {rows}, got {sample.repairs}")


def _within(values: np.ndarray, low: int, end: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < end)


def _fields(*, pairs: bool) -> list[Any]:
    arrow = require("pyarrow", extra="train")
    return [
        *(arrow.field(name, arrow.string()) for name in _TEXTS),
        arrow.field("line", arrow.int32()),
        arrow.field("tags", arrow.list_(arrow.string())),
        *(arrow.field(name, arrow.list_(arrow.int32())) for name in _LISTS),
        *graph_fields(),
        *([arrow.field(_TOKENS, arrow.list_(arrow.int32())), *graph_fields(_PAIRS)] if pairs else []),
    ]


def _encode(group: list[Sample], *, pairs: bool) -> list[Any]:
    arrow = require("pyarrow", extra="train")
    texts = [[getattr(s.origin, name) for s in group] for name in _TEXTS[:-1]]
    lists = [
        [np.array(s.repairs, dtype=np.int32) for s in group],
        *([getattr(s.candidates, name) for s in group] for name in _CANDIDATES),
    ]
    return [
        *(arrow.array(column, arrow.string()) for column in [*texts, [s.source for s in group]]),
        arrow.array([s.origin.line for s in group], arrow.int32()),
        arrow.array([list(s.origin.tags) for s in group], arrow.list_(arrow.string())),
        *(encode_lists(column, "int32") for column in lists),
        *encode_graphs([s.graph for s in group]),
        *(_encode_pairs(group) if pairs else []),
    ]


def _encode_pairs(group: list[Sample]) -> list[Any]:
    pairs = [sample.pairs for sample in group if sample.pairs is not None]
    if len(pairs) != len(group):
        raise ValueError("pairs: expected the graph of pairs of every sample, got None")
    return [encode_lists([sample.token_of for sample in group], "int32"), *encode_graphs(pairs)]


def _groups(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    group: list[Sample] = []
    for sample in samples:
        group.append(sample)
        if len(group) == _GROUP:
            yield group
            group = []
    if group:
        yield group
