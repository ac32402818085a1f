"""Encoders: vectors of entities and relations that know the graph around them.

    NoEncoder     x = LN(x0)                                                     (Hy-Transformer)
    HeatGraph     x = HEAT(LN(x0)) with an edge per statement                    (nn/heat.py)
    StareGraph    StarE's graph network                                          (stare.py)

Each maps first vectors of entities [N, D] and relations [2R, D] to encoded ones; relations from R on are asked backwards,
and only decoders read them. `plan` turns statements into what the encoder reads, on the CPU, anew for every training step.

HEAT reads the edge of each statement (`Statements.incidences`). Edge states that no layer changes are one row per relation,
not per edge.
Letters: N entities, R relations, M statements, E edge states, D width.
"""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.update import KeepState
from hyperheat.tensors import AttentionPlan, by_size, pair_sums, segments
from hyperheat.tensors.indices import ArrayT

__all__ = ["EdgeGraph", "HeatGraph", "NoEncoder", "Table", "Tables", "edge_graph"]

_FIRST = 0.005
"""The standard deviation of first vectors; Adam moves an entry by about the learning rate, whatever its size."""


class Table(NamedTuple):
    """Encoded entities [N, D] and relations [2R, D]."""

    entities: Tensor
    relations: Tensor


@dataclass(frozen=True, kw_only=True)
class EdgeGraph(Generic[ArrayT]):
    """What HEAT reads."""

    state: ArrayT
    """[E] the relation that is the first state of each edge"""
    plan: AttentionPlan[ArrayT]


@dataclass(frozen=True, kw_only=True)
class NoEncoder:
    """No graph: an entity is its own vector."""

    dim: int = 128


class Tables(nn.Module):
    """Normalised tables, without the graph."""

    def __init__(self, config: NoEncoder | HeatConfig) -> None:
        super().__init__()
        self.entity_norm = nn.LayerNorm(config.dim)
        self.relation_norm = nn.LayerNorm(config.dim)

    def plan(self, statements: Statements) -> None:
        """Nothing is read of the statements."""

    def initialise(self, entities: Tensor, relations: Tensor) -> None:
        """Draw first vectors [N, D] and [2R, D]: short ones, whose direction the first steps can still change."""
        for table in (entities, relations):
            nn.init.normal_(table, std=_FIRST)

    def forward(self, first: Table, graph: None) -> Table:
        return Table(self.entity_norm(first.entities), self.relation_norm(first.relations))


class HeatGraph(nn.Module):
    """HEAT over the whole graph: edges begin as their relation, the names of incidences are relations too."""

    def __init__(self, config: HeatConfig) -> None:
        super().__init__()
        layers = config.layer_configs()
        self.tables = Tables(config)
        self.shared_states = all(layer.edge_update is KeepState for layer in layers)
        self.role = nn.Parameter(torch.randn(2, config.dim))
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(HeatLayer(layer) for layer in layers)

    def plan(self, statements: Statements) -> Any:
        """What HEAT reads of statements."""
        return edge_graph(statements, shared_states=self.shared_states)

    def initialise(self, entities: Tensor, relations: Tensor) -> None:
        """Draw first vectors [N, D] and [2R, D]."""
        self.tables.initialise(entities, relations)

    def forward(self, first: Table, graph: EdgeGraph[Tensor]) -> Table:
        entities, relations = self.tables(first, None)
        names = relations[: len(relations) // 2]
        h = self.dropout(torch.cat([entities, F.embedding(graph.state, names)]))  # [N+E, D]
        r = self.dropout(torch.cat([self.role, names]))  # [2+R, D]
        for layer in self.layers:
            h = layer(h, r, graph.plan)
        return Table(h[: len(entities)], relations)


def edge_graph(statements: Statements, *, shared_states: bool) -> EdgeGraph[np.ndarray]:
    """Plan HEAT's attention; with `shared_states` the edges of a relation share the row of their state."""
    num_nodes, num_relations = len(statements.entities), len(statements.relations)
    state = np.arange(num_relations) if shared_states else statements.relation.astype(np.int64)
    edge_row = statements.relation if shared_states else np.arange(len(statements))
    offsets, node, name = statements.incidences()
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
