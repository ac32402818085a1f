"""What has weights of its own: subtokens of node labels, subtokens of relation and qualifier names, and kinds of slots."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hyperheat.files import parse_json, write_whole_text
from hyperheat.hypergraph import Hypergraph, subtokens
from hyperheat.tensors.slot_kinds import RolePair, SlotKinds, count_roles, frequent_roles

__all__ = ["UNKNOWN", "Splitter", "Vocabulary"]

UNKNOWN = "<unknown>"
Splitter = Literal["subtokens", "whole"]

_SPLITTERS: dict[str, Callable[[str], Sequence[str]]] = {
    "subtokens": subtokens.split,
    "whole": lambda name: (name,),
}


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Subtoken tables. Row 0 of both is the unknown subtoken, so names never seen in training still have a vector.

    `split` says how a string becomes subtokens: "subtokens" (`parName` -> par, name), or "whole" where
    strings are opaque identifiers. `roles` are the pairs of a relation and a role whose slots are a kind of their own,
    for encoders that have a matrix for each kind; batches for these are made with a vocabulary that has some.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    split: Splitter = "subtokens"
    roles: tuple[RolePair, ...] = ()
    _label_ids: dict[str, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _name_ids: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.split not in _SPLITTERS:
            raise ValueError(f"split: expected one of {', '.join(_SPLITTERS)}, got {self.split!r}")
        for table in ("labels", "names"):
            entries = getattr(self, table)
            if not entries or entries[0] != UNKNOWN:
                raise ValueError(f"{table}: expected {UNKNOWN!r} as first entry, got {entries[:1]!r}")
            if len(set(entries)) != len(entries):
                twice = Counter(entries).most_common(1)[0][0]
                raise ValueError(f"{table}: expected distinct subtokens, got {twice!r} more than once")
        if len(set(self.roles)) != len(self.roles):
            raise ValueError("roles: expected distinct pairs, got some more than once")

    @classmethod
    def build(
        cls,
        graphs: Iterable[Hypergraph],
        *,
        min_count: int = 1,
        max_size: int | None = None,
        split: Splitter = "subtokens",
        roles: int = 0,
    ) -> "Vocabulary":
        """Collect the subtokens that occur at least `min_count` times, the `max_size` most frequent of each table.

        `roles` is how many kinds of slots are kept, the most frequent ones.
        """
        if split not in _SPLITTERS:
            raise ValueError(f"split: expected one of {', '.join(_SPLITTERS)}, got {split!r}")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size: expected at least 0, got {max_size}")
        labels: Counter[str] = Counter()
        names: Counter[str] = Counter()
        slots: Counter[RolePair] = Counter()
        for graph in graphs:
            if roles:
                slots.update(
                    count_roles(graph.names, graph.relation, np.diff(graph.offsets), graph.qualifier)
                )
            named = np.concatenate([graph.relation, graph.qualifier[graph.qualifier >= 0]])
            for counter, used in ((labels, graph.label), (names, named)):
                counts = np.bincount(used, minlength=len(graph.names))
                _count_subtokens(graph.names, counts, _SPLITTERS[split], counter)
        return cls(
            labels=_select(labels, min_count, max_size),
            names=_select(names, min_count, max_size),
            split=split,
            roles=frequent_roles(slots, roles),
        )

    @classmethod
    def count(
        cls,
        strings: Sequence[str],
        labels: np.ndarray,
        names: np.ndarray,
        *,
        min_count: int = 1,
        max_size: int | None = None,
        roles: tuple[RolePair, ...] = (),
    ) -> "Vocabulary":
        """As `build`, from how often each string occurs as a label of nodes and as a name."""
        counters: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for counter, counts in zip(counters, (labels, names), strict=True):
            _count_subtokens(strings, counts, _SPLITTERS["subtokens"], counter)
        return cls(
            labels=_select(counters[0], min_count, max_size),
            names=_select(counters[1], min_count, max_size),
            roles=roles,
        )

    def label_ids(self, label: str) -> tuple[int, ...]:
        """The rows of a node label's subtokens."""
        return _look_up(label, self._label_ids, self._label_index, self.split)

    def name_ids(self, name: str) -> tuple[int, ...]:
        """The rows of a relation's or qualifier's subtokens."""
        return _look_up(name, self._name_ids, self._name_index, self.split)

    @cached_property
    def _label_index(self) -> dict[str, int]:
        return {subtoken: row for row, subtoken in enumerate(self.labels)}

    @cached_property
    def _name_index(self) -> dict[str, int]:
        return {subtoken: row for row, subtoken in enumerate(self.names)}

    @cached_property
    def slot_kinds(self) -> SlotKinds:
        """The kinds of slots by the roles."""
        return SlotKinds(self.roles)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the content, by which an encoder recognises batches made with its vocabulary."""
        return hashlib.sha256(self._json().encode()).hexdigest()[:16]

    def _json(self) -> str:
        content = {"split": self.split, "labels": self.labels, "names": self.names}
        if self.roles:
            content["roles"] = [list(role) for role in self.roles]
        return json.dumps(content, ensure_ascii=False, indent=0) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON; an interrupted write leaves the old file."""
        write_whole_text(path, self._json())

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read what `save` wrote."""
        try:
            return cls.parse(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, data: bytes) -> "Vocabulary":
        """Read the bytes of what `save` wrote."""
        try:
            content = parse_json(data.decode())
            if set(content) - {"roles"} != {"split", "labels", "names"}:
                raise ValueError(
                    f"expected the keys split, labels, names and perhaps roles, got {', '.join(map(str, content))}"
                )
            for table in ("labels", "names"):
                if not isinstance(content[table], list) or not all(
                    isinstance(s, str) for s in content[table]
                ):
                    raise ValueError(f"{table}: expected a list of strings, got {str(content[table])[:60]}")
            return cls(
                labels=tuple(content["labels"]),
                names=tuple(content["names"]),
                split=content["split"],
                roles=tuple(_role(pair) for pair in content.get("roles", [])),
            )
        except (ValueError, TypeError) as error:
            raise ValueError(f"not a vocabulary: {error}") from error


def _role(pair: Any) -> RolePair:
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise ValueError(f"roles: expected pairs of a relation and a role, got {str(pair)[:60]}")
    return pair[0], pair[1]


def _count_subtokens(
    strings: Sequence[str],
    counts: np.ndarray,
    split: Callable[[str], Sequence[str]],
    counter: Counter[str],
) -> None:
    for index in np.flatnonzero(counts).tolist():
        for subtoken in split(strings[index]):
            counter[subtoken] += int(counts[index])


def _select(counts: Counter[str], min_count: int, max_size: int | None) -> tuple[str, ...]:
    """The frequent subtokens, most frequent first, ties in alphabetical order."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    kept = [subtoken for subtoken, count in ranked if count >= min_count and subtoken != UNKNOWN]
    return (UNKNOWN, *kept[:max_size])


def _look_up(
    name: str, cache: dict[str, tuple[int, ...]], index: dict[str, int], split: Splitter
) -> tuple[int, ...]:
    ids = cache.get(name)
    if ids is None:
        if len(cache) > 200_000:  # an endless stream of names must not fill the memory
            cache.clear()
        ids = cache[name] = tuple(index.get(subtoken, 0) for subtoken in _SPLITTERS[split](name))
    return ids
