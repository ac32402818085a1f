"""Hypergraphs from hypergraphs: binary edges only, fewer relations, fewer nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperheat.hypergraph.graph import Hypergraph, running_sum
from hyperheat.spelling import did_you_mean

__all__ = ["binarise", "drop_relations", "subgraph"]

_HUBS = ("rval", "node")  # the result of a call, the parent of a syntax node


def binarise(graph: Hypergraph) -> Hypergraph:
    """Replace every edge of three or more incidences by edges of two, as the paper did for its Table 2.

    The paper does not say how. Here the first rule that fits an edge decides which pairs it becomes:

    1. with a qualifier `rval`, else `node`: (that incidence, each other one);
    2. with positions only: a chain of neighbours in the order of positions;
    3. with exactly two qualifiers, as in `MayRead(prev, prev, succ)`: each of the one with each of the other;
    4. otherwise: (the first incidence, each other one), which for a statement is (subject, each other one).

    Each pair keeps the relation and, except in a chain, its two qualifiers. What is lost: which pairs were
    one edge and, in a chain, the positions, since each pair counts p1, p2. Edges of up to two incidences stay
    as they are. k incidences become k - 1 pairs, under rule 3 the product of the two groups' sizes.
    """
    incidences = _Incidences.of(graph)
    hub = _hubs(graph, incidences)
    chained = ~hub.exists & incidences.all_positions
    crossed = ~hub.exists & ~chained & (incidences.distinct_qualifiers == 2)
    starred = ~chained & ~crossed
    long = incidences.sizes > 2
    pairs = _concatenate(
        _unchanged(graph, incidences, ~long),
        _stars(incidences, hub.first, long & starred),
        _chains(graph, incidences, long & chained),
        _products(graph, incidences, long & crossed),
    )
    order = np.argsort(pairs.edge, kind="stable")
    source, slots = pairs.edge[order], np.stack([pairs.first, pairs.second], axis=1)[order]
    present = slots >= 0
    qualifier = graph.qualifier[slots] if graph.num_incidences else np.zeros(slots.shape, np.int32)
    qualifier = np.where((long & chained)[source, None], np.array([-1, -2], np.int32), qualifier)
    return Hypergraph(
        names=graph.names,
        label=graph.label,
        relation=graph.relation[source],
        offsets=running_sum(present.sum(axis=1)),
        qualifier=qualifier[present],
        node=graph.node[slots[present]],
        span=graph.span,
    )


def drop_relations(graph: Hypergraph, relations: Iterable[str]) -> Hypergraph:
    """Leave out every edge of the named relations; all nodes stay."""
    if isinstance(relations, str):
        raise TypeError(f"relations: expected several names, got the string {relations!r}")
    dropped = set(relations)
    present = [graph.names[index] for index in np.unique(graph.relation).tolist()]
    for name in sorted(dropped.difference(present)):
        others = f"there is {', '.join(sorted(present)[:5])}" if present else "the graph has no edges"
        hint = did_you_mean(name, present, most=3, otherwise=others)
        raise ValueError(f"relations: expected relations of the graph, got {name!r}; {hint}")
    is_dropped = np.array([name in dropped for name in graph.names], dtype=bool)
    return _select(graph, np.arange(graph.num_nodes), keep_edge=~is_dropped[graph.relation])


def subgraph(
    graph: Hypergraph, nodes: Sequence[int] | np.ndarray, *, outside: Literal["trim", "drop"]
) -> Hypergraph:
    """Keep the given nodes, numbered in the order given, and the edges among them.

    An edge with some participants outside is kept with its other incidences (`outside="trim"`) or left out
    (`outside="drop"`). An edge with all its participants outside is left out, one without any stays.
    """
    if outside not in ("trim", "drop"):
        raise ValueError(f"outside: expected 'trim' or 'drop', got {outside!r}")
    kept = _checked_nodes(graph, nodes)
    incidences = _Incidences.of(graph)
    inside = np.isin(graph.node, kept)
    count = incidences.count(inside)
    whole = count == incidences.sizes
    return _select(graph, kept, keep_edge=whole if outside == "drop" else whole | (count > 0))


@dataclass(frozen=True, kw_only=True)
class _Incidences:
    """What the rules ask about a graph's incidences: the edge of each, and facts per edge."""

    sizes: np.ndarray  # [E]
    edge: np.ndarray  # [I]
    all_positions: np.ndarray  # [E]
    distinct_qualifiers: np.ndarray  # [E]

    @classmethod
    def of(cls, graph: Hypergraph) -> "_Incidences":
        sizes = np.diff(graph.offsets)
        edge = graph.edge
        order = np.lexsort((graph.qualifier, edge))
        is_new = np.ones(graph.num_incidences, dtype=bool)
        is_new[1:] = (np.diff(edge[order]) != 0) | (np.diff(graph.qualifier[order]) != 0)
        return cls(
            sizes=sizes,
            edge=edge,
            all_positions=np.bincount(edge[graph.qualifier < 0], minlength=graph.num_edges) == sizes,
            distinct_qualifiers=np.bincount(edge[order][is_new], minlength=graph.num_edges),
        )

    def count(self, selected: np.ndarray) -> np.ndarray:
        """How many incidences of each edge are selected: [I] -> [E]."""
        return np.bincount(self.edge[selected], minlength=len(self.sizes))


@dataclass(frozen=True)
class _Hubs:
    first: np.ndarray  # [E] the incidence that a star is drawn from
    exists: np.ndarray  # [E] whether a qualifier of _HUBS chose it


def _hubs(graph: Hypergraph, incidences: _Incidences) -> _Hubs:
    first = graph.offsets[:-1].copy()
    exists = np.zeros(graph.num_edges, dtype=bool)
    for name in reversed(_HUBS):  # the earlier name overwrites
        if name in graph.names:
            found = np.flatnonzero(graph.qualifier == graph.names.index(name))[::-1]
            first[incidences.edge[found]] = found  # reversed, so that the first occurrence is written last
            exists[incidences.edge[found]] = True
    return _Hubs(first, exists)


@dataclass(frozen=True)
class _Pairs:
    """New edges: the edge each comes from and the incidences it takes, -1 for none."""

    edge: np.ndarray
    first: np.ndarray
    second: np.ndarray


def _concatenate(*parts: _Pairs) -> _Pairs:
    return _Pairs(
        np.concatenate([part.edge for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
    )


def _unchanged(graph: Hypergraph, incidences: _Incidences, chosen: np.ndarray) -> _Pairs:
    edge = np.flatnonzero(chosen)
    start, size = graph.offsets[edge], incidences.sizes[edge]
    return _Pairs(edge, np.where(size > 0, start, -1), np.where(size > 1, start + 1, -1))


def _stars(incidences: _Incidences, hub: np.ndarray, chosen: np.ndarray) -> _Pairs:
    other = np.flatnonzero(chosen[incidences.edge])
    other = other[other != hub[incidences.edge[other]]]
    edge = incidences.edge[other]
    return _Pairs(edge, hub[edge], other)


def _chains(graph: Hypergraph, incidences: _Incidences, chosen: np.ndarray) -> _Pairs:
    link = np.flatnonzero(chosen[incidences.edge])
    link = link[np.lexsort((-graph.qualifier[link], incidences.edge[link]))]  # position p is the qualifier -p
    edge = incidences.edge[link]
    joined = edge[1:] == edge[:-1]
    return _Pairs(edge[1:][joined], link[:-1][joined], link[1:][joined])


def _products(graph: Hypergraph, incidences: _Incidences, chosen: np.ndarray) -> _Pairs:
    member = np.flatnonzero(chosen[incidences.edge])
    edge = incidences.edge[member]
    leads = graph.qualifier[member] == graph.qualifier[graph.offsets[edge]]
    left, right = member[leads], member[~leads]
    partners = np.bincount(edge[~leads], minlength=graph.num_edges)
    first_partner = np.cumsum(partners) - partners
    repeats = partners[incidences.edge[left]]
    within = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    left = np.repeat(left, repeats)
    edge = incidences.edge[left]
    return _Pairs(edge, left, right[first_partner[edge] + within])


def _checked_nodes(graph: Hypergraph, nodes: Sequence[int] | np.ndarray) -> np.ndarray:
    kept = np.asarray(nodes)
    if kept.size == 0:
        return np.zeros(0, dtype=np.int64)
    if kept.ndim != 1 or not np.issubdtype(kept.dtype, np.integer):
        raise TypeError(f"nodes: expected a list of node indices, got {kept.dtype} of shape {kept.shape}")
    bad = kept[(kept < 0) | (kept >= graph.num_nodes)]
    if bad.size:
        raise IndexError(f"nodes: expected indices from 0 to {graph.num_nodes - 1}, got {bad[0]}")
    values, counts = np.unique(kept, return_counts=True)
    if len(values) < len(kept):
        raise ValueError(f"nodes: expected each node once, got {values[counts > 1][0]} twice")
    return kept


def _select(graph: Hypergraph, nodes: np.ndarray, *, keep_edge: np.ndarray) -> Hypergraph:
    """Keep these nodes in this order, these edges, and of their incidences those at kept nodes."""
    renumbered = np.full(graph.num_nodes, -1, dtype=np.int64)
    renumbered[nodes] = np.arange(len(nodes))
    edge = graph.edge
    kept = keep_edge[edge] & (renumbered[graph.node] >= 0)
    label, relation = graph.label[nodes], graph.relation[keep_edge]
    qualifier = graph.qualifier[kept].copy()
    named = qualifier >= 0
    used = np.unique(np.concatenate([label, relation, qualifier[named]]))
    renamed = np.full(len(graph.names), -1, dtype=np.int32)
    renamed[used] = np.arange(len(used))
    qualifier[named] = renamed[qualifier[named]]
    return Hypergraph(
        names=tuple(graph.names[index] for index in used.tolist()),
        label=renamed[label],
        relation=renamed[relation],
        offsets=running_sum(np.bincount(edge[kept], minlength=graph.num_edges)[keep_edge]),
        qualifier=qualifier,
        node=renumbered[graph.node[kept]],
        span=None if graph.span is None else graph.span[nodes],
    )
