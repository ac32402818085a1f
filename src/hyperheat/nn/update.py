"""The Transformer update of a state h by its aggregated message u:

    q = LN(h + u);  h' = LN(q + FFN(q))                      FeedForward
    h' = LN(h + u)                                           NoFeedForward

for nodes, and for edges with their own weights (OwnUpdate), with the nodes' weights (TiedUpdate), or not at all, so that
an edge keeps its first state h_e^(0) in every layer (KeepState). Letters: N nodes, E edges, D width, F hidden width.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.fast.dropout import Dropout

if TYPE_CHECKING:
    from hyperheat.nn.config import HeatConfig

__all__ = ["FeedForward", "KeepState", "NoFeedForward", "OwnUpdate", "TiedUpdate"]


@dataclass(frozen=True)
class FeedForward:
    """The second sublayer of the update (the paper's model)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return FeedForwardSublayer(config.dim, config.hidden, config.dropout)


@dataclass(frozen=True)
class NoFeedForward:
    """No second sublayer (the paper's ablation without FFN)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return nn.Identity()


@dataclass(frozen=True)
class OwnUpdate:
    """Edges are updated with weights of their own (the paper's model)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return SeparateUpdates(config)


@dataclass(frozen=True)
class TiedUpdate:
    """Edges are updated with the weights of the nodes (the published reference code)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return SharedUpdates(config)


@dataclass(frozen=True)
class KeepState:
    """Edges keep their first state (the paper's ablation without hyperedge state)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return NodeUpdates(config)


class FeedForwardSublayer(nn.Module):
    """LN(q + FFN(q))"""

    def __init__(self, dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.widen = nn.Linear(dim, hidden)
        self.narrow = nn.Linear(hidden, dim)
        self.norm = nn.LayerNorm(dim)
        self.dropout = Dropout(dropout)

    def forward(self, q: Tensor) -> Tensor:
        hidden = F.relu_(self.widen(q))  # [N, F]; in place, as the linear map does not need its output
        return self.norm(q + self.dropout(self.narrow(self.dropout(hidden))))


class Update(nn.Module):
    """q = LN(h + u), then the second sublayer."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)
        self.feed_forward = config.feed_forward.build(config)

    def forward(self, h: Tensor, u: Tensor) -> Tensor:
        return self.feed_forward(self.norm(h + self.dropout(u)))


class SeparateUpdates(nn.Module):
    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        self.node = Update(config)
        self.edge = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        (h_node, h_edge), (u_node, u_edge) = (x.tensor_split([num_nodes]) for x in (h, u))
        return torch.cat([self.node(h_node, u_node), self.edge(h_edge, u_edge)])


class SharedUpdates(nn.Module):
    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        self.node = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        return self.node(h, u)


class NodeUpdates(nn.Module):
    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        self.node = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        return torch.cat([self.node(h[:num_nodes], u[:num_nodes]), h[num_nodes:]])
