"""What the batches of all encoders share: nodes of many graphs in one numbering, with labels of one string table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.tensors.gather import ArrayT, Segments, segments

__all__ = [
    "NodeBatch",
    "Strings",
    "as_strings",
    "check_graphs",
    "join_columns",
    "join_strings",
    "map_arrays",
    "renumber",
    "running_sum",
]


@dataclass(frozen=True, kw_only=True)
class Strings(Generic[ArrayT]):
    """The distinct strings of a batch: subtoken i, a row of the vocabulary, belongs to string `owner[i]`."""

    tokens: ArrayT
    owner: Segments[ArrayT]


@dataclass(frozen=True, kw_only=True)
class NodeBatch(Generic[ArrayT]):
    """The nodes of several graphs."""

    num_graphs: int
    num_nodes: int
    vocabulary: str
    """The fingerprint of the vocabulary whose rows the batch speaks of."""
    node_offsets: ArrayT
    """Nodes of graph g are node_offsets[g] .. node_offsets[g+1]."""
    labels: Strings[ArrayT]
    label: ArrayT
    """The string in `labels` of each node [N]."""


def check_graphs(graphs: Sequence[Hypergraph]) -> None:
    """Refuse what cannot be a batch."""
    if len(graphs) == 0:
        raise ValueError("graphs: expected at least one hypergraph, got an empty sequence")
    for index, graph in enumerate(graphs):
        if not isinstance(graph, Hypergraph):
            raise TypeError(f"graphs[{index}]: expected a Hypergraph, got {type(graph).__name__}")


def join_strings(graphs: Sequence[Hypergraph]) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """One string table for all graphs, and their label, relation and qualifier columns renumbered to it."""
    index: dict[str, int] = {}
    label, relation, qualifier = [], [], []
    for graph in graphs:
        shared = np.array([index.setdefault(name, len(index)) for name in graph.names] or [0], dtype=np.int64)
        label.append(shared[graph.label])
        relation.append(shared[graph.relation])
        qualifier.append(
            np.where(graph.qualifier >= 0, shared[np.maximum(graph.qualifier, 0)], graph.qualifier)
        )
    return list(index), np.concatenate(label), np.concatenate(relation), np.concatenate(qualifier)


def renumber(values: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values below `limit` in rising order, and each value's place among them."""
    used = np.zeros(limit, dtype=bool)
    used[values] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[values]


def as_strings(ids: list[tuple[int, ...]]) -> Strings[np.ndarray]:
    """The rows of each string's subtokens, as arrays."""
    owner = np.repeat(np.arange(len(ids)), np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
    tokens = np.fromiter((i for string in ids for i in string), dtype=np.int64, count=len(owner))
    return Strings(tokens=tokens, owner=segments(owner, len(ids)))


def join_columns(columns: Sequence[np.ndarray], offsets: np.ndarray) -> np.ndarray:
    """Concatenate columns, each raised by its graph's offset."""
    shift = np.repeat(offsets[:-1], [len(column) for column in columns])
    return np.concatenate(columns).astype(np.int64) + shift


def running_sum(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Where each of several runs of these sizes begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def map_arrays(value: Any, function: Callable[[Any], Any]) -> Any:
    """Rebuild a tree of dataclasses with `function` applied to its arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: map_arrays(getattr(value, f.name), function) for f in fields(value)})
    return function(value) if hasattr(value, "dtype") else value
