"""Encoders: vectors of entities and relations that know the graph around them.

    NoEncoder     x = LN(x0)                                                     (Hy-Transformer)
    HeatGraph     x = HEAT(LN(x0)) with an edge per statement                    (nn/heat.py)
    StareGraph    StarE's graph network                                          (stare.py)

Each maps first vectors of entities [N, D] and relations [2R, D] to encoded ones; relations from R on are asked backwards,
and only decoders read them. Letters: N entities, R relations, E edge states, D width.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.graph import EdgeGraph, NoGraph, edge_graph, no_graph
from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.update import KeepState

__all__ = ["HeatGraph", "NoEncoder", "Table", "Tables"]

_FIRST = 0.005
"""The size of first vectors' entries; Adam moves an entry by about the learning rate, whatever its size."""


class Table(NamedTuple):
    """Encoded entities [N, D] and relations [2R, D]."""

    entities: Tensor
    relations: Tensor


@dataclass(frozen=True, kw_only=True)
class NoEncoder:
    """No graph: an entity is its own vector."""

    dim: int = 128


class Tables(nn.Module):
    """Normalised tables; `plan` says what the encoder reads of statements."""

    plan = staticmethod(no_graph)

    def __init__(self, config: NoEncoder | HeatConfig) -> None:
        super().__init__()
        self.entity_norm = nn.LayerNorm(config.dim)
        self.relation_norm = nn.LayerNorm(config.dim)

    def initialise(self, entities: Tensor, relations: Tensor) -> None:
        """Draw first vectors [N, D] and [2R, D]: short ones, which the first steps turn far before they are normalised."""
        for table in (entities, relations):
            nn.init.normal_(table, std=_FIRST)

    def forward(self, first: Table, graph: NoGraph) -> Table:
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
        entities, relations = self.tables(first, NoGraph())
        names = relations[: len(relations) // 2]
        h = self.dropout(torch.cat([entities, F.embedding(graph.state, names)]))  # [N+E, D]
        r = self.dropout(torch.cat([self.role, names]))  # [2+R, D]
        for layer in self.layers:
            h = layer(h, r, graph.plan)
        return Table(h[: len(entities)], relations)
