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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.dataset import no_samples, read_manifest, stream_samples
from hyperheat.detector.batch import BugBatch, JoinedCandidates, collate_candidates
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.hypergraph.graph import running_sum
from hyperheat.tensors import Segments, SlotKinds, Strings, Vocabulary
from hyperheat.tensors.collation import JoinedColumns, StringLookup, collate_columns, collate_role_columns
from hyperheat.tensors.slot_kinds import RolePair, count_roles, frequent_roles

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
_TAKEN = {
    **dict.fromkeys(("nodes", "edges", "candidates", "repairs"), "sample"),
    "label": "node",
    **dict.fromkeys(("relation", "arity"), "edge"),
    **dict.fromkeys(("qualifier", "node"), "incidence"),
    **dict.fromkeys(("location", "first", "second", "text"), "candidate"),
    "repair": "repair",
}
"""What a batch needs of each sample, and what a column has a value for."""


@dataclass(frozen=True, kw_only=True)
class EncodedStrings:
    """The subtokens of all strings of a split, by a vocabulary: as labels of nodes and as names."""

    labels: tuple[np.ndarray, np.ndarray]
    names: tuple[np.ndarray, np.ndarray]
    """Rows of the vocabulary, string after string, and where each string begins."""
    kinds: SlotKinds
    roles: np.ndarray
    """Where each string stands among relations and roles [*, 2]."""
    fingerprint: str

    @classmethod
    def of(cls, strings: Sequence[str], vocab: Vocabulary) -> "EncodedStrings":
        """Look all strings up."""
        kinds = vocab.slot_kinds
        return cls(
            labels=_ragged([vocab.label_ids(string) for string in strings]),
            names=_ragged([vocab.name_ids(string) for string in strings]),
            kinds=kinds,
            roles=kinds.rows(strings),
            fingerprint=vocab.fingerprint,
        )

    def lookup(self, used: np.ndarray) -> StringLookup:
        """What the vocabulary says of the strings of a batch, `used`, numbered among these."""
        return StringLookup(
            labels=lambda chosen: _rows_of(self.labels, used[chosen]),
            names=lambda chosen: _rows_of(self.names, used[chosen]),
            kinds=self.kinds,
            roles=lambda chosen: self.roles[used[chosen]],
            fingerprint=self.fingerprint,
        )


class MappedSamples:
    """The samples of one split of one or more folders, numbered one folder after the other; some may have none."""

    def __init__(self, folders: str | Path | Sequence[str | Path], split: str) -> None:
        folders = [folders] if isinstance(folders, str | Path) else folders
        self._parts = [_Part(_prepare(Path(folder), split)) for folder in folders]
        self._first = running_sum([len(part) for part in self._parts])
        if not len(self):
            raise no_samples(", ".join(map(str, folders)), split)
        self._first_string = running_sum([part.num_strings for part in self._parts])
        self.hashes = [sha256 for part in self._parts for sha256 in part.hashes]
        self.sizes = np.concatenate([part.sizes for part in self._parts])

    def __len__(self) -> int:
        return int(self._first[-1])

    @property
    def counts(self) -> list[int]:
        """The number of samples of each folder."""
        return [len(part) for part in self._parts]

    @cached_property
    def kinds(self) -> np.ndarray:
        """The kind of bug of each sample, or NO_BUG; of a dense sample that of its first bug."""
        return np.concatenate([part.columns["kind"] for part in self._parts]).astype(np.int64)

    def having(self, tag: str) -> np.ndarray:
        """Which samples have a tag."""
        return np.concatenate([part.having(tag) for part in self._parts])

    def strings(self) -> list[str]:
        """The strings of the graphs; relations and qualifiers are numbers of them, as are labels."""
        return [string for part in self._parts for string in part.strings()]

    def vocabulary(self, *, min_count: int, max_size: int, roles: int = 0) -> Vocabulary:
        """The subtokens that occur often enough, and the most frequent roles."""
        counts = [part.count() for part in self._parts]
        labels, names = (np.concatenate(column) for column in zip(*counts, strict=True))
        slots: Counter[RolePair] = Counter()
        for part in self._parts if roles else ():
            slots.update(part.count_roles())
        return Vocabulary.count(
            self.strings(),
            labels,
            names,
            min_count=min_count,
            max_size=max_size,
            roles=frequent_roles(slots, roles),
        )

    def batch(self, indices: Sequence[int], encoded: EncodedStrings) -> BugBatch[np.ndarray]:
        """The batch of some samples, as an encoder of hypergraphs reads it."""
        taken = self._take(np.asarray(indices))
        label, relation, qualifier = taken["label"], taken["relation"], taken["qualifier"]
        is_name = qualifier >= 0
        used, place = np.unique(np.concatenate([label, relation, qualifier[is_name]]), return_inverse=True)
        label, relation, names = np.split(place, np.cumsum([len(label), len(relation)]))
        qualifier[is_name] = names
        columns = JoinedColumns(
            nodes=taken["nodes"],
            edges=taken["edges"],
            label=label,
            relation=relation,
            arity=taken["arity"],
            qualifier=qualifier,
            node=taken["node"],
            num_strings=len(used),
        )
        collate = collate_role_columns if encoded.kinds.known else collate_columns
        graphs = collate(columns, encoded.lookup(used))
        return collate_candidates(
            graphs,
            JoinedCandidates(
                sizes=taken["candidates"],
                node=taken["location"],
                location=taken["location"],
                text=taken["text"],
                first=taken["first"],
                second=taken["second"],
                num_repairs=taken["repairs"],
                repairs=taken["repair"],
            ),
        )

    def _take(self, indices: np.ndarray) -> dict[str, np.ndarray]:
        """All columns of some samples, with strings as numbers of all folders."""
        part_of = np.searchsorted(self._first, indices, side="right") - 1
        pieces = [
            self._parts[part].take(index - self._first[part])
            for part, index in zip(part_of.tolist(), indices.tolist(), strict=True)
        ]
        taken = {name: np.concatenate([piece[name] for piece in pieces]).astype(np.int64) for name in _TAKEN}
        shift = self._first_string[part_of]
        for name in ("label", "relation", "qualifier"):
            taken[name] += np.repeat(shift, [len(piece[name]) for piece in pieces]) * (taken[name] >= 0)
        return taken


class _Part:
    """The samples of one folder."""

    def __init__(self, folder: Path) -> None:
        header = json.loads((folder / "header.json").read_text(encoding="utf-8"))
        self.hashes: list[str] = header["shards"]
        self.num_strings: int = header["strings"]
        self._tags: list[str] = header["tags"]
        self._strings = folder / "strings.json"
        self.columns = {name: _map(folder / name, kind) for name, kind in _COLUMNS.items()}
        self.sizes = np.array(self.columns["nodes"])
        edges = running_sum(self.columns["edges"])
        self._starts = {
            "sample": np.arange(len(self.sizes) + 1),
            "node": running_sum(self.sizes),
            "edge": edges,
            "incidence": running_sum(self.columns["arity"])[edges],
            "candidate": running_sum(self.columns["candidates"]),
            "repair": running_sum(self.columns["repairs"]),
        }

    def __len__(self) -> int:
        return len(self.sizes)

    def take(self, index: int) -> dict[str, np.ndarray]:
        """The columns of one sample."""
        return {
            name: self.columns[name][self._starts[of][index] : self._starts[of][index + 1]]
            for name, of in _TAKEN.items()
        }

    def having(self, tag: str) -> np.ndarray:
        if tag not in self._tags:
            return np.zeros(len(self), dtype=bool)
        return (np.array(self.columns["tags"]) >> self._tags.index(tag) & 1).astype(bool)

    def strings(self) -> list[str]:
        return json.loads(self._strings.read_text(encoding="utf-8"))

    def count(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each string is a label, and how often a name."""
        columns, size = self.columns, self.num_strings
        names = _count(columns["relation"], size) + _count(columns["qualifier"], size)
        return _count(columns["label"], size), names

    def count_roles(self, chunk: int = 1 << 22) -> Counter[RolePair]:
        """How often each pair of a relation and a role occurs, counted some edges at a time."""
        strings, found = self.strings(), Counter[RolePair]()
        first = 0
        for start in range(0, len(self.columns["arity"]), chunk):
            relation, arity = (
                np.asarray(self.columns[n][start : start + chunk]) for n in ("relation", "arity")
            )
            end = first + int(arity.sum())
            found.update(
                count_roles(
                    strings,
                    relation,
                    arity,
                    np.asarray(self.columns["qualifier"][first:end]),
                )
            )
            first = end
        return found


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
    temporary = place.with_name(f".{split}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        tags, strings = _write(stream_samples(folder, split, pairs=False), temporary)
        (temporary / "strings.json").write_text(json.dumps(strings, ensure_ascii=False), encoding="utf-8")
        text = json.dumps({**head, "tags": tags, "strings": len(strings)})
        (temporary / "header.json").write_text(text, encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place


def _write(samples: Iterable[Sample], folder: Path) -> tuple[list[str], list[str]]:
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
