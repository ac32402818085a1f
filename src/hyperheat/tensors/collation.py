"""Many hypergraphs as one batch: the arrays a network reads, planned once per batch on the CPU.

Letters: G graphs, N nodes, E edges, I incidences, C cells of the attention layout, L distinct labels, Q distinct
qualifiers and relations. Node and edge states share one table of N + E rows, in which the state of edge e is row N + e;
the Q qualifiers follow, then a row of zeros: so every cell is the sum of two rows of one table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.graph import running_sum
from hyperheat.tensors.indices import (
    ArrayT,
    PairSums,
    Segments,
    pair_sums,
    renumber,
    segments,
    to_tensors,
)
from hyperheat.tensors.layout import Group, Layout, by_size
from hyperheat.tensors.slot_kinds import RolePlan, SlotKinds, plan_roles
from hyperheat.tensors.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

__all__ = [
    "AttentionPlan",
    "EdgeBatch",
    "HypergraphBatch",
    "JoinedColumns",
    "NodeBatch",
    "RoleBatch",
    "StringLookup",
    "Strings",
    "as_strings",
    "check_graphs",
    "collate",
    "collate_columns",
    "collate_role_columns",
    "collate_roles",
    "join_strings",
    "plan_incidences",
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
    """The fingerprint of the vocabulary that the batch was made with."""
    node_offsets: ArrayT
    """Nodes of graph g are node_offsets[g] .. node_offsets[g+1]."""
    labels: Strings[ArrayT]
    label: ArrayT
    """The string in `labels` of each node [N]."""


@dataclass(frozen=True, kw_only=True)
class AttentionPlan(Generic[ArrayT]):
    """Where the cells of the attention rows come from and where their messages go."""

    num_nodes: int
    groups: tuple[Group, ...]
    slots: PairSums[ArrayT]
    """Cells [C] from the table of nodes, edges, qualifiers and a zero row [N+E+Q+1]."""
    receivers: Segments[ArrayT]
    """Cells [C] to nodes and edges [N+E]; one last segment takes the padding."""
    edges: Segments[ArrayT]
    """Cells [C] to edges [E]; one last segment takes the padding."""
    waste: float
    """Attention computed over attention needed."""

    def to_torch(self, device: "torch.device | str" = "cpu") -> "AttentionPlan[torch.Tensor]":
        """The same plan with torch tensors on a device."""
        return to_tensors(self, device)


@dataclass(frozen=True, kw_only=True)
class EdgeBatch(NodeBatch[ArrayT]):
    """The nodes and edges of several graphs, and the names that these have."""

    num_edges: int
    num_qualifiers: int
    """Distinct names and positions: an embedding makes a vector for each."""
    edge_offsets: ArrayT
    """Edges of graph g are edge_offsets[g] .. edge_offsets[g+1]."""
    names: Strings[ArrayT]
    positions: ArrayT
    """The distinct sequence positions. As qualifiers they are numbered after the names."""
    relation: ArrayT
    """The string in `names` of each edge [E]."""


@dataclass(frozen=True, kw_only=True)
class HypergraphBatch(EdgeBatch[ArrayT]):
    """A batch: of numpy arrays as `collate` makes it, or of torch tensors after `to_torch`."""

    qualifier: ArrayT
    """The qualifier of each incidence [I]: a string in `names`, or, from there on, one of the positions."""
    by_node: Segments[ArrayT]
    """Incidences [I] to nodes [N]."""
    by_edge: Segments[ArrayT]
    """Incidences [I] to edges [E], in order."""
    plan: AttentionPlan[ArrayT]

    def to_torch(self, device: "torch.device | str" = "cpu") -> "HypergraphBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        return to_tensors(self, device)


@dataclass(frozen=True, kw_only=True)
class RoleBatch(EdgeBatch[ArrayT]):
    """A batch for an encoder with a matrix for each kind of slot, as `collate_roles` makes it."""

    plan: RolePlan[ArrayT]

    def to_torch(self, device: "torch.device | str" = "cpu") -> "RoleBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        return to_tensors(self, device)


@dataclass(frozen=True, kw_only=True)
class StringLookup:
    """What a vocabulary says of strings by number: their subtokens as labels and as names, and their rows as roles."""

    labels: Callable[[np.ndarray], Strings[np.ndarray]]
    names: Callable[[np.ndarray], Strings[np.ndarray]]
    kinds: SlotKinds
    roles: Callable[[np.ndarray], np.ndarray]
    """Where strings stand among the relations and roles of `kinds` [*, 2]."""
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class JoinedColumns:
    """The columns of several graphs one after the other, with strings as numbers of one table."""

    nodes: np.ndarray
    """Nodes of each graph [G]."""
    edges: np.ndarray
    """Edges of each graph [G]."""
    label: np.ndarray
    relation: np.ndarray
    arity: np.ndarray
    """Incidences of each edge [E]."""
    qualifier: np.ndarray
    """A string, or minus a position [I]."""
    node: np.ndarray
    """Numbered in each graph alone [I]."""
    num_strings: int


def collate(
    graphs: Sequence[Hypergraph], vocab: Vocabulary, layout: Callable[[np.ndarray], Layout] = by_size
) -> HypergraphBatch[np.ndarray]:
    """Join graphs into one batch and plan its attention with `layout` (`by_size` or `packed`)."""
    return collate_columns(*_join(graphs, vocab), layout=layout)


def collate_roles(graphs: Sequence[Hypergraph], vocab: Vocabulary) -> RoleBatch[np.ndarray]:
    """Join graphs into one batch and plan its messages by the roles of the vocabulary."""
    return collate_role_columns(*_join(graphs, vocab))


def _join(graphs: Sequence[Hypergraph], vocab: Vocabulary) -> tuple[JoinedColumns, StringLookup]:
    check_graphs(graphs)
    strings, label, relation, qualifier = join_strings(graphs)
    columns = JoinedColumns(
        nodes=np.array([graph.num_nodes for graph in graphs]),
        edges=np.array([graph.num_edges for graph in graphs]),
        label=label,
        relation=relation,
        arity=np.concatenate([np.diff(graph.offsets) for graph in graphs]),
        qualifier=qualifier,
        node=np.concatenate([graph.node for graph in graphs]),
        num_strings=len(strings),
    )
    kinds = vocab.slot_kinds
    return columns, StringLookup(
        labels=lambda used: as_strings([vocab.label_ids(strings[i]) for i in used]),
        names=lambda used: as_strings([vocab.name_ids(strings[i]) for i in used]),
        kinds=kinds,
        roles=lambda used: kinds.rows([strings[i] for i in used]),
        fingerprint=vocab.fingerprint,
    )


def collate_columns(
    columns: JoinedColumns, lookup: StringLookup, layout: Callable[[np.ndarray], Layout] = by_size
) -> HypergraphBatch[np.ndarray]:
    """The batch of graphs that are joined already, with their attention planned."""
    edges, incidences, _ = _number(columns, lookup)
    num_nodes, num_edges, num_qualifiers = edges["num_nodes"], edges["num_edges"], edges["num_qualifiers"]
    node, edge, qualifier = incidences
    slots = layout(running_sum(columns.arity))
    return HypergraphBatch(
        **edges,
        qualifier=qualifier,
        by_node=segments(node, num_nodes),
        by_edge=segments(edge, num_edges),
        plan=_plan(slots, node, qualifier, num_nodes, num_edges, num_qualifiers),
    )


def collate_role_columns(columns: JoinedColumns, lookup: StringLookup) -> RoleBatch[np.ndarray]:
    """The batch of graphs that are joined already, with its messages planned by roles."""
    if not lookup.kinds.known:
        raise ValueError("vocab: expected one with roles, got none; build it with `roles=32`, for example")
    edges, (node, edge, qualifier), name_used = _number(columns, lookup)
    plan = plan_roles(
        lookup.kinds,
        lookup.roles(name_used),
        node=node,
        edge=edge,
        relation=edges["relation"],
        qualifier=qualifier,
        num_nodes=edges["num_nodes"],
        num_qualifiers=edges["num_qualifiers"],
    )
    return RoleBatch(**edges, plan=plan)


def _number(
    columns: JoinedColumns, lookup: StringLookup
) -> tuple[dict[str, Any], tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Number nodes, edges and names for a batch.

    The fields of an `EdgeBatch`; node, edge and qualifier of each incidence [I]; and which strings are its names.
    """
    node_offsets, edge_offsets = running_sum(columns.nodes), running_sum(columns.edges)
    edge = np.repeat(np.arange(len(columns.arity)), columns.arity)
    graph_of_edge = np.repeat(np.arange(len(columns.edges)), columns.edges)
    node = columns.node + node_offsets[graph_of_edge[edge]]

    label_used, label = renumber(columns.label, columns.num_strings)
    relation, qualifier = columns.relation, columns.qualifier
    is_name = qualifier >= 0
    name_used, named = renumber(np.concatenate([relation, qualifier[is_name]]), columns.num_strings)
    positions, place = np.unique(-qualifier[~is_name], return_inverse=True)
    relation = named[: len(relation)]
    qualifier = np.empty(len(node), dtype=np.int64)
    qualifier[is_name] = named[len(relation) :]
    qualifier[~is_name] = len(name_used) + place
    fields = {
        "num_graphs": len(columns.nodes),
        "num_nodes": len(label),
        "num_edges": len(relation),
        "num_qualifiers": len(name_used) + len(positions),
        "vocabulary": lookup.fingerprint,
        "node_offsets": node_offsets,
        "edge_offsets": edge_offsets,
        "labels": lookup.labels(label_used),
        "names": lookup.names(name_used),
        "positions": positions,
        "label": label,
        "relation": relation,
    }
    return fields, (node, edge, qualifier), name_used


def plan_incidences(
    incidence_index: np.ndarray,
    qualifier: np.ndarray,
    *,
    num_nodes: int,
    num_edges: int,
    num_qualifiers: int,
) -> AttentionPlan[np.ndarray]:
    """Plan the attention of one graph given as (node, edge) pairs [2, I] and a qualifier per pair [I].

    Pairs may come in any order.
    """
    if incidence_index.ndim != 2 or len(incidence_index) != 2:
        raise ValueError(
            f"incidence_index: expected shape [2, incidences], got {list(incidence_index.shape)}"
        )
    node, edge = incidence_index
    if qualifier.shape != node.shape:
        raise ValueError(
            f"qualifier: expected {len(node)} entries (one per incidence), got {list(qualifier.shape)}"
        )
    limits = {
        "incidence_index[0]": (node, num_nodes),
        "incidence_index[1]": (edge, num_edges),
        "qualifier": (qualifier, num_qualifiers),
    }
    for name, (column, limit) in limits.items():
        if column.dtype.kind not in "iu":
            raise TypeError(f"{name}: expected integers, got {column.dtype}")
        if len(column) and not 0 <= column.min() <= column.max() < limit:
            raise IndexError(f"{name}: expected 0 to {limit - 1}, got {column.min()} to {column.max()}")
    order = np.argsort(edge, kind="stable")
    offsets = running_sum(np.bincount(edge, minlength=num_edges))
    return _plan(by_size(offsets), node[order], qualifier[order], num_nodes, num_edges, num_qualifiers)


def _plan(
    layout: Layout,
    node: np.ndarray,
    qualifier: np.ndarray,
    num_nodes: int,
    num_edges: int,
    num_qualifiers: int,
) -> AttentionPlan[np.ndarray]:
    """Turn slots into rows of the state table: an edge state is one row, an incidence is a node and a qualifier."""
    slot = layout.slot
    is_incidence = slot >= num_edges
    incidence = slot[is_incidence] - num_edges
    zero = num_nodes + num_edges + num_qualifiers
    pairs = np.full((len(slot), 2), zero, dtype=np.int64)
    pairs[slot >= 0, 0] = num_nodes + slot[slot >= 0]
    pairs[is_incidence, 0] = node[incidence]
    pairs[is_incidence, 1] = num_nodes + num_edges + qualifier[incidence]
    receiver = np.minimum(pairs[:, 0], num_nodes + num_edges)
    return AttentionPlan(
        num_nodes=num_nodes,
        groups=layout.groups,
        slots=pair_sums(pairs, zero),
        receivers=segments(receiver, num_nodes + num_edges + 1),
        edges=segments(np.where(layout.edge >= 0, layout.edge, num_edges), num_edges + 1),
        waste=layout.waste,
    )


def check_graphs(graphs: Sequence[Hypergraph]) -> None:
    """Raise an error unless there is at least one graph and all are hypergraphs."""
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


def as_strings(ids: list[tuple[int, ...]]) -> Strings[np.ndarray]:
    """The rows of each string's subtokens, as arrays."""
    owner = np.repeat(np.arange(len(ids)), np.fromiter(map(len, ids), dtype=np.int64, count=len(ids)))
    tokens = np.fromiter((i for string in ids for i in string), dtype=np.int64, count=len(owner))
    return Strings(tokens=tokens, owner=segments(owner, len(ids)))
