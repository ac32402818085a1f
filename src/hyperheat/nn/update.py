"""The Transformer update of a state h by its aggregated message u:

    q = LN(h + u);  h' = LN(q + FFN(q))                      FeedForward
    h' = LN(h + u)                                           NoFeedForward

for nodes, and for edges with their own weights (OwnUpdate), with the nodes' weights (TiedUpdate), or not at all, so that
an edge keeps its first state h_e^(0) in every layer (KeepState). Letters: N nodes, E edges, D width, F hidden width.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.fast.dropout import Dropout

__all__ = ["FeedForward", "KeepState", "NoFeedForward", "OwnUpdate", "TiedUpdate", "Update"]


class Sizes(Protocol):
    """What a feed-forward part reads of a configuration."""

    @property
    def dim(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def dropout(self) -> float: ...


class UpdateSizes(Sizes, Protocol):
    """What an update reads of a configuration."""

    @property
    def feed_forward(self) -> Callable[[Sizes], nn.Module]: ...


class FeedForward(nn.Module):
    """The second sublayer, LN(q + FFN(q)) (the paper's model)."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()
        self.widen = nn.Linear(config.dim, config.hidden)
        self.narrow = nn.Linear(config.hidden, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, q: Tensor) -> Tensor:
        hidden = F.relu_(self.widen(q))  # [N, F]; in place, as the linear map does not need its output
        return self.norm(q + self.dropout(self.narrow(self.dropout(hidden))))


class NoFeedForward(nn.Identity):
    """No second sublayer (the paper's ablation without FFN)."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()


class Update(nn.Module):
    """q = LN(h + u), then the second sublayer."""

    def __init__(self, config: UpdateSizes) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)
        self.feed_forward = config.feed_forward(config)

    def forward(self, h: Tensor, u: Tensor) -> Tensor:
        return self.feed_forward(self.norm(h + self.dropout(u)))


class OwnUpdate(nn.Module):
    """Edges are updated with weights of their own (the paper's model)."""

    def __init__(self, config: UpdateSizes) -> None:
        super().__init__()
        self.node = Update(config)
        self.edge = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        (h_node, h_edge), (u_node, u_edge) = (x.tensor_split([num_nodes]) for x in (h, u))
        return torch.cat([self.node(h_node, u_node), self.edge(h_edge, u_edge)])


class TiedUpdate(nn.Module):
    """Edges are updated with the weights of the nodes (the published reference code)."""

    def __init__(self, config: UpdateSizes) -> None:
        super().__init__()
        self.node = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        return self.node(h, u)


class KeepState(nn.Module):
    """Edges keep their first state (the paper's ablation without hyperedge state)."""

    def __init__(self, config: UpdateSizes) -> None:
        super().__init__()
        self.node = Update(config)

    def forward(self, h: Tensor, u: Tensor, num_nodes: int) -> Tensor:
        """States and updates [N+E, D] -> new states [N+E, D]."""
        return torch.cat([self.node(h[:num_nodes], u[:num_nodes]), h[num_nodes:]])
