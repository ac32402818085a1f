"""The samples of a split as columns on disk, mapped into memory: any number of them, and batches without objects.

Shards are read once and written as flat columns into `.mapped/` beside them, with the strings of all graphs in one table.
A batch is then a few slices of each column. `MappedSamples.batch` equals `collate_samples` on the same samples.

    S samples; N nodes, E edges, I incidences, R candidates, B repairs of all of them
    nodes, edges, candidates, repairs, tags, kind [S]    label [N]    relation, arity [E]    qualifier, node [I]
    location, first, second, text [R]    repair [B]
"""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.dataset import Dataset, read_manifest
from hyperheat.detector.batch import BugBatch, JoinedCandidates, collate_candidates
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.tensors import Segments, Strings, Vocabulary
from hyperheat.tensors.collation import JoinedColumns, collate_columns
from hyperheat.tensors.indices import running_sum

__all__ = ["EncodedStrings", "MappedSamples"]

_FOLDER = ".mapped"
_VERSION = 1
_COLUMNS = {
    **dict.fromkeys(("nodes", "edges", "candidates", "repairs"), "int32"),
    "tags": "uint32",
    "kind": "int8",
    **dict.fromkeys(("label", "relation", "arity", "qualifier", "node"), "int32"),
    **dict.fromkeys(("location", "first", "second"), "int32"),
    "text": "int16",
    "repair": "int32",
}


@dataclass(frozen=True)
class EncodedStrings:
    """The subtokens of all strings of a split, by a vocabulary: as labels of nodes and as names."""

    labels: tuple[np.ndarray, np.ndarray]
    names: tuple[np.ndarray, np.ndarray]
    """Rows of the vocabulary, string after string, and where each string begins."""
    fingerprint: str

    @classmethod
    def of(cls, strings: Sequence[str], vocab: Vocabulary) -> "EncodedStrings":
        """Look all strings up."""
        return cls(
            _ragged([vocab.label_ids(string) for string in strings]),
            _ragged([vocab.name_ids(string) for string in strings]),
            vocab.fingerprint,
        )


class MappedSamples:
    """The samples of one split."""

    def __init__(self, folder: str | Path, split: str) -> None:
        place = _prepare(Path(folder), split)
        header = json.loads((place / "header.json").read_text(encoding="utf-8"))
        self.hashes: list[str] = header["shards"]
        self._tags: list[str] = header["tags"]
        self._strings = place / "strings.json"
        self._columns = {name: _map(place / name, kind) for name, kind in _COLUMNS.items()}
        sizes = {
            name: np.asarray(self._columns[name]) for name in ("nodes", "edges", "candidates", "repairs")
        }
        self.sizes = sizes["nodes"]
        edge_starts = running_sum(sizes["edges"])
        self._starts = {
            "nodes": running_sum(sizes["nodes"]),
            "edges": edge_starts,
            "incidences": running_sum(self._columns["arity"])[edge_starts],
            "candidates": running_sum(sizes["candidates"]),
            "repairs": running_sum(sizes["repairs"]),
        }

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def kinds(self) -> np.ndarray:
        """The kind of bug of each sample, or NO_BUG; of a dense sample that of its first bug."""
        return self._columns["kind"]

    def having(self, tag: str) -> np.ndarray:
        """Which samples have a tag."""
        if tag not in self._tags:
            return np.zeros(len(self), dtype=bool)
        return (np.asarray(self._columns["tags"]) >> self._tags.index(tag) & 1).astype(bool)

    def strings(self) -> list[str]:
        """All distinct strings; relations and qualifiers are numbers of them, as are labels."""
        return json.loads(self._strings.read_text(encoding="utf-8"))

    def vocabulary(self, *, min_count: int, max_size: int) -> Vocabulary:
        """The subtokens that occur often enough."""
        strings = self.strings()
        labels = _count(self._columns["label"], len(strings))
        qualifier = self._columns["qualifier"]
        names = _count(self._columns["relation"], len(strings)) + _count(qualifier, len(strings))
        return Vocabulary.count(strings, labels, names, min_count=min_count, max_size=max_size)

    def batch(self, indices: Sequence[int], encoded: EncodedStrings) -> BugBatch[np.ndarray]:
        """The batch of some samples, as an encoder of hypergraphs reads it."""
        label, relation, arity = self._take("label", "nodes", indices), *self._edges(indices)
        qualifier, node = (self._take(name, "incidences", indices) for name in ("qualifier", "node"))
        is_name = qualifier >= 0
        used, place = np.unique(np.concatenate([label, relation, qualifier[is_name]]), return_inverse=True)
        label, relation, names = np.split(place, np.cumsum([len(label), len(relation)]))
        qualifier = qualifier.astype(np.int64)
        qualifier[is_name] = names
        columns = JoinedColumns(
            nodes=self._take_rows("nodes", indices),
            edges=self._take_rows("edges", indices),
            label=label,
            relation=relation,
            arity=arity,
            qualifier=qualifier,
            node=node,
            num_strings=len(used),
        )
        graphs = collate_columns(
            columns,
            labels=lambda chosen: _rows_of(encoded.labels, used[chosen]),
            names=lambda chosen: _rows_of(encoded.names, used[chosen]),
            vocabulary=encoded.fingerprint,
        )
        location = self._take("location", "candidates", indices)
        return collate_candidates(
            graphs,
            JoinedCandidates(
                sizes=self._take_rows("candidates", indices),
                node=location,
                location=location,
                text=self._take("text", "candidates", indices),
                first=self._take("first", "candidates", indices),
                second=self._take("second", "candidates", indices),
                num_repairs=self._take_rows("repairs", indices),
                repairs=self._take("repair", "repairs", indices).astype(np.int64),
            ),
        )

    def _edges(self, indices: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        return self._take("relation", "edges", indices), self._take("arity", "edges", indices)

    def _take(self, column: str, of: str, indices: Sequence[int]) -> np.ndarray:
        values, starts = self._columns[column], self._starts[of]
        return np.concatenate([values[starts[index] : starts[index + 1]] for index in indices])

    def _take_rows(self, column: str, indices: Sequence[int]) -> np.ndarray:
        return self._columns[column][np.asarray(indices)].astype(np.int64)


def _prepare(folder: Path, split: str) -> Path:
    """The folder of the columns, written if it is not there or belongs to other shards."""
    hashes = [shard["sha256"] for shard in read_manifest(folder)["shards"] if shard["split"] == split]
    place = folder / _FOLDER / split
    head = {"version": _VERSION, "shards": hashes}
    header = place / "header.json"
    if header.exists():
        found = json.loads(header.read_text(encoding="utf-8"))
        if {name: found.get(name) for name in head} == head:
            return place
    samples = Dataset(folder, split, pairs=False)
    temporary = place.with_name(f".{split}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        tags, strings = _write(samples, temporary)
        (temporary / "strings.json").write_text(json.dumps(strings, ensure_ascii=False), encoding="utf-8")
        text = json.dumps({**head, "tags": tags})
        (temporary / "header.json").write_text(text, encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place


def _write(samples: Dataset, folder: Path) -> tuple[list[str], list[str]]:
    """Write all columns; the tags and the strings that they number."""
    tags: dict[str, int] = {}
    strings: dict[str, int] = {}
    files = {name: (folder / name).open("wb") for name in _COLUMNS}
    try:
        for sample in samples:
            for name, values in _columns_of(sample, strings, tags).items():
                files[name].write(np.asarray(values).astype(_COLUMNS[name]).tobytes())
    finally:
        for file in files.values():
            file.close()
    return list(tags), list(strings)


def _columns_of(sample: Sample, strings: dict[str, int], tags: dict[str, int]) -> dict[str, Any]:
    graph, candidates = sample.graph, sample.candidates
    number = np.array([strings.setdefault(name, len(strings)) for name in graph.names] or [0])
    bits = [tags.setdefault(tag, len(tags)) for tag in sample.origin.tags]
    if len(tags) > 32:
        raise ValueError(f"tags: expected at most 32 different ones, got {', '.join(tags)}")
    return {
        "nodes": [graph.num_nodes],
        "edges": [graph.num_edges],
        "candidates": [len(candidates)],
        "repairs": [len(sample.repairs)],
        "tags": [sum(1 << bit for bit in bits)],
        "kind": [candidates.kind[sample.repairs[0]] if sample.repairs else NO_BUG],
        "label": number[graph.label],
        "relation": number[graph.relation],
        "arity": np.diff(graph.offsets),
        "qualifier": np.where(graph.qualifier >= 0, number[np.maximum(graph.qualifier, 0)], graph.qualifier),
        "node": graph.node,
        "location": candidates.location,
        "first": candidates.first,
        "second": candidates.second,
        "text": candidates.text,
        "repair": sample.repairs,
    }


def _map(path: Path, kind: str) -> np.ndarray:
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r")


def _count(values: np.ndarray, size: int, chunk: int = 1 << 24) -> np.ndarray:
    """How often each of `size` numbers occurs; negative ones are left out."""
    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, len(values), chunk):
        part = np.asarray(values[start : start + chunk])
        counts += np.bincount(part[part >= 0], minlength=size)
    return counts


def _ragged(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    starts = running_sum(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
    flat = np.fromiter((i for row in rows for i in row), dtype=np.int32, count=int(starts[-1]))
    return flat, starts


def _rows_of(ragged: tuple[np.ndarray, np.ndarray], strings: np.ndarray) -> Strings[np.ndarray]:
    """The subtokens of some strings."""
    flat, starts = ragged
    first, lengths = starts[strings], starts[strings + 1] - starts[strings]
    offsets = running_sum(lengths)
    owner = np.repeat(np.arange(len(strings)), lengths)
    within = np.arange(len(owner)) - offsets[owner]
    tokens = flat[first[owner] + within].astype(np.int64)
    return Strings(tokens=tokens, owner=Segments(owner=owner, offsets=offsets, entries=np.arange(len(owner))))
