"""The data type: a typed and qualified hypergraph, frozen and columnar.

An edge is `relation(qualifier: node, qualifier: node, ...)`. It is a multiset of incidences: a node may occur
in it twice, with the same qualifier or another. A qualifier is a name, or a `Position` in a sequence.

All strings live once in `names`; the columns hold indices into it:

    label      [N]     the name of each node
    relation   [E]     the name of each edge's type
    offsets    [E+1]   incidences of edge e are offsets[e] .. offsets[e+1]
    qualifier  [I]     >= 0: an index into names; < 0: the position -qualifier of a sequence
    node       [I]     the node of each incidence
    span       [N, 4]  optional source span of each node: line, column, end line, end column; -1 where unknown
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Edge", "Hypergraph", "Position", "running_sum"]

_PLAIN_LABEL = re.compile(r"[^\s,:()#\"'\\]+")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a sequence, counted from 1: the qualifier `p1`, `p2`, ... of a sequence relation."""

    index: int

    def __post_init__(self) -> None:
        if type(self.index) is not int or not 1 <= self.index < 2**31:
            raise ValueError(f"position: expected an int from 1 to 2**31 - 1, got {self.index!r}")

    def __str__(self) -> str:
        return f"p{self.index}"


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge, readable: its relation and its (qualifier, node) pairs in the order they were given."""

    relation: str
    incidences: tuple[tuple[str | Position, int], ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hypergraph:
    """A frozen hypergraph; build one with `HypergraphBuilder`. Every construction is validated."""

    names: tuple[str, ...]
    label: np.ndarray
    relation: np.ndarray
    offsets: np.ndarray
    qualifier: np.ndarray
    node: np.ndarray
    span: np.ndarray | None = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        for column, dtype in _COLUMNS.items():
            array = _frozen_integers(column, getattr(self, column), dtype, dimensions=1)
            object.__setattr__(self, column, array)
        if self.span is not None:
            object.__setattr__(self, "span", _frozen_integers("span", self.span, np.int32, dimensions=2))
        self._validate()

    def _validate(self) -> None:
        for index, name in enumerate(self.names):
            if type(name) is not str:
                raise TypeError(f"names[{index}]: expected a string, got {name!r} ({type(name).__name__})")
        if len(set(self.names)) < len(self.names):
            twice = next(name for index, name in enumerate(self.names) if name in self.names[:index])
            raise ValueError(f"names: expected distinct strings, got {twice!r} twice")
        _check_range("label", self.label, 0, len(self.names))
        _check_range("relation", self.relation, 0, len(self.names))
        _check_range("qualifier", self.qualifier, np.iinfo(np.int32).min, len(self.names))
        _check_range("node", self.node, 0, self.num_nodes)
        if len(self.offsets) != self.num_edges + 1:
            raise ValueError(
                f"offsets: expected {self.num_edges + 1} entries (edges + 1), got {len(self.offsets)}"
            )
        first, last = self.offsets[0], self.offsets[-1]
        if first != 0 or last != self.num_incidences or (np.diff(self.offsets) < 0).any():
            raise ValueError(
                f"offsets: expected a rising sequence from 0 to {self.num_incidences}, "
                f"got {_shorten(self.offsets.tolist())}"
            )
        if len(self.qualifier) != self.num_incidences:
            raise ValueError(
                f"qualifier: expected {self.num_incidences} entries (as many as node), "
                f"got {len(self.qualifier)}"
            )
        if self.span is not None and self.span.shape != (self.num_nodes, 4):
            raise ValueError(f"span: expected shape ({self.num_nodes}, 4), got {self.span.shape}")

    @property
    def num_nodes(self) -> int:
        return len(self.label)

    @property
    def num_edges(self) -> int:
        return len(self.relation)

    @property
    def num_incidences(self) -> int:
        return len(self.node)

    @property
    def edge(self) -> np.ndarray:
        """The edge of each incidence, beside `node`: [I]."""
        return np.repeat(np.arange(self.num_edges), np.diff(self.offsets))

    @property
    def labels(self) -> list[str]:
        """The label of every node, in order."""
        return [self.names[i] for i in self.label.tolist()]

    @property
    def relations(self) -> list[str]:
        """The relation of every edge, in order."""
        return [self.names[i] for i in self.relation.tolist()]

    @property
    def qualifiers(self) -> list[str | Position]:
        """The qualifier of every incidence, in order."""
        return [self.names[i] if i >= 0 else Position(-i) for i in self.qualifier.tolist()]

    def __len__(self) -> int:
        return self.num_edges

    def __bool__(self) -> bool:
        return True  # an empty hypergraph is still a hypergraph

    def __iter__(self) -> Iterator[Edge]:
        pairs = list(zip(self.qualifiers, self.node.tolist(), strict=True))
        bounds = self.offsets.tolist()
        for index, relation in enumerate(self.relations):
            yield Edge(relation, tuple(pairs[bounds[index] : bounds[index + 1]]))

    def __eq__(self, other: object) -> bool:
        """Equal nodes, edges and incidences in equal order, however the string tables are laid out."""
        if not isinstance(other, Hypergraph):
            return NotImplemented
        return (
            np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.node, other.node)
            and self.labels == other.labels
            and self.relations == other.relations
            and self.qualifiers == other.qualifiers
            and (self.span is None) == (other.span is None)
            and (self.span is None or np.array_equal(self.span, other.span))  # pyright: ignore[reportArgumentType]
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"Hypergraph({self.num_nodes} nodes, {self.num_edges} edges, {self.num_incidences} incidences)"

    def display_labels(self) -> list[str]:
        """Labels as `str` shows them: quoted where needed, `label#node` where several nodes share one."""
        labels = self.labels
        counts = Counter(labels)
        return [
            (label if _PLAIN_LABEL.fullmatch(label) else json.dumps(label, ensure_ascii=False))
            + (f"#{index}" if counts[label] > 1 else "")
            for index, label in enumerate(labels)
        ]

    def __str__(self) -> str:
        """One line `relation(qualifier: label, ...)` per edge, then the nodes that no edge holds."""
        shown = self.display_labels()
        lines = [
            f"{edge.relation}({', '.join(f'{qualifier}: {shown[n]}' for qualifier, n in edge.incidences)})"
            for edge in self
        ]
        isolated = np.setdiff1d(np.arange(self.num_nodes), self.node).tolist()
        if isolated:
            lines.append("isolated: " + ", ".join(shown[n] for n in isolated))
        return "\n".join(lines) if lines else "empty hypergraph"


_COLUMNS: dict[str, Any] = {
    "label": np.int32,
    "relation": np.int32,
    "offsets": np.int64,
    "qualifier": np.int32,
    "node": np.int32,
}


def _frozen_integers(field_name: str, values: Any, dtype: Any, *, dimensions: int) -> np.ndarray:
    array = np.asarray(values)
    if array.size == 0:
        array = array.reshape((0, 4) if dimensions == 2 else (0,)).astype(dtype)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{field_name}: expected integers, got an array of {array.dtype}")
    if array.ndim != dimensions:
        raise ValueError(f"{field_name}: expected {dimensions} dimension(s), got shape {array.shape}")
    limits = np.iinfo(dtype)
    if array.dtype != dtype and array.size and (array.min() < limits.min or array.max() > limits.max):
        low, high = array.min(), array.max()
        raise ValueError(f"{field_name}: expected values that fit {np.dtype(dtype)}, got {low} .. {high}")
    frozen = np.ascontiguousarray(array, dtype=dtype).view()
    frozen.flags.writeable = False
    return frozen


def _check_range(field_name: str, array: np.ndarray, low: int, high: int) -> None:
    if array.size == 0:
        return
    if array.min() < low or array.max() >= high:
        where = int(np.flatnonzero((array < low) | (array >= high))[0])
        bound = f"below {high}" if low < -1 else f"from {low} to {high - 1}"
        raise IndexError(f"{field_name}[{where}]: expected an index {bound}, got {array[where]}")


def _shorten(values: Sequence[int], limit: int = 8) -> str:
    shown = ", ".join(map(str, values[:limit]))
    return f"[{shown}{', ...' if len(values) > limit else ''}]"


def running_sum(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where each of several runs of these sizes begins, and where the last one ends: offsets, as of a hypergraph."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
