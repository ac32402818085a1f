"""Statements as the graph that an encoder reads, planned on the CPU for every step anew.

HEAT reads an edge `relation(src: subject, obj: object, qualifier: value, ...)` per statement; the names of incidences are
numbered 0 src, 1 obj, 2 + r the qualifier r. Edge states that no layer changes are one row per relation, not per edge.
StarE's GNN reads pairs subject-object with relation and qualifiers, in both directions.
Letters: N entities, R relations, M statements, K their qualifiers, J messages.
"""

from dataclasses import dataclass
from typing import Generic

import numpy as np

from hyperheat.kg.statements import Statements
from hyperheat.tensors import AttentionPlan, Segments, by_size, pair_sums, segments
from hyperheat.tensors.indices import ArrayT

__all__ = [
    "EdgeGraph",
    "Messages",
    "NoGraph",
    "PairGraph",
    "edge_graph",
    "incidences",
    "no_graph",
    "pair_graph",
]


@dataclass(frozen=True, kw_only=True)
class NoGraph:
    """What a model without an encoder reads."""


@dataclass(frozen=True, kw_only=True)
class EdgeGraph(Generic[ArrayT]):
    """What HEAT reads."""

    state: ArrayT
    """[E] the relation that is the first state of each edge"""
    plan: AttentionPlan[ArrayT]


@dataclass(frozen=True, kw_only=True)
class Messages(Generic[ArrayT]):
    """What StarE's GNN sends in one direction; messages of weight 0 are left out."""

    statement: Segments[ArrayT]
    """Messages [J] to statements [M]"""
    relation: Segments[ArrayT]
    """Messages [J] to relations [R]"""
    sender: Segments[ArrayT]
    """Messages [J] to entities [N]"""
    receiver: Segments[ArrayT]
    weight: ArrayT
    """[J]"""


@dataclass(frozen=True, kw_only=True)
class PairGraph(Generic[ArrayT]):
    """What StarE's GNN reads of the statements that send anything."""

    inwards: Messages[ArrayT]
    """from objects to subjects"""
    outwards: Messages[ArrayT]
    owner: Segments[ArrayT]
    """Qualifiers [K] to statements [M]"""
    value: Segments[ArrayT]
    """Qualifiers [K] to entities [N]"""
    qualifier: Segments[ArrayT]
    """Qualifiers [K] to relations [R]"""


def no_graph(statements: Statements) -> NoGraph:
    """Nothing."""
    return NoGraph()


def edge_graph(statements: Statements, *, shared_states: bool) -> EdgeGraph[np.ndarray]:
    """Plan HEAT's attention; with `shared_states` the edges of a relation share the row of their state."""
    num_nodes, num_relations = len(statements.entities), len(statements.relations)
    state = np.arange(num_relations) if shared_states else statements.relation.astype(np.int64)
    edge_row = statements.relation if shared_states else np.arange(len(statements))
    offsets, node, name = incidences(statements)
    layout = by_size(offsets)
    num_edges, num_states = len(statements), len(state)
    zero = num_nodes + num_states + num_relations + 2
    is_incidence = layout.slot >= num_edges
    incidence = layout.slot[is_incidence] - num_edges
    pairs = np.full((len(layout.slot), 2), zero, dtype=np.int64)
    pairs[~is_incidence, 0] = num_nodes + edge_row[layout.slot[~is_incidence]]
    pairs[is_incidence, 0] = node[incidence]
    pairs[is_incidence, 1] = num_nodes + num_states + name[incidence]
    receiver = pairs[:, 0].copy()  # an index with gaps would take torch's slow way to scatter
    return EdgeGraph(
        state=state,
        plan=AttentionPlan(
            num_nodes=num_nodes,
            groups=layout.groups,
            slots=pair_sums(pairs, zero),
            receivers=segments(receiver, num_nodes + num_states + 1),
            edges=segments(layout.edge, num_edges + 1),
            waste=layout.waste,
        ),
    )


def incidences(statements: Statements) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The incidences of each statement's edge: offsets [M+1], nodes and names."""
    count = len(statements)
    offsets = statements.offsets + 2 * np.arange(count + 1)
    others = np.repeat(2 * np.arange(1, count + 1), statements.num_qualifiers) + np.arange(
        len(statements.value)
    )
    node, name = np.empty((2, offsets[-1]), np.int64)
    node[offsets[:-1]], name[offsets[:-1]] = statements.subject, 0
    node[offsets[:-1] + 1], name[offsets[:-1] + 1] = statements.object, 1
    node[others], name[others] = statements.value, 2 + statements.qualifier
    return offsets, node, name


def pair_graph(statements: Statements) -> PairGraph[np.ndarray]:
    """Plan the sums of StarE's messages."""
    num_entities, num_relations = len(statements.entities), len(statements.relations)
    ends = statements.subject, statements.object
    degrees = [np.bincount(end, minlength=num_entities) for end in ends]
    # A sender that never receives in a direction has degree 0 there, and the published code sends nothing then.
    sends = degrees[0][statements.object] > 0, degrees[1][statements.subject] > 0
    kept = statements[sends[0] | sends[1]]
    sends = [sent[sends[0] | sends[1]] for sent in sends]
    owner = np.repeat(np.arange(len(kept)), kept.num_qualifiers)

    def plan(column: np.ndarray, limit: int) -> Segments[np.ndarray]:
        return segments(column.astype(np.int64), limit)

    def messages(
        sent: np.ndarray, degree: np.ndarray, sender: np.ndarray, receiver: np.ndarray
    ) -> Messages[np.ndarray]:
        sender, receiver = sender[sent], receiver[sent]
        return Messages(
            statement=plan(np.flatnonzero(sent), len(kept)),
            relation=plan(kept.relation[sent], num_relations),
            sender=plan(sender, num_entities),
            receiver=plan(receiver, num_entities),
            weight=(degree[sender] * degree[receiver]) ** -0.5,
        )

    return PairGraph(
        inwards=messages(sends[0], degrees[0], kept.object, kept.subject),
        outwards=messages(sends[1], degrees[1], kept.subject, kept.object),
        owner=plan(owner, len(kept)),
        value=plan(kept.value, num_entities),
        qualifier=plan(kept.qualifier, num_relations),
    )
