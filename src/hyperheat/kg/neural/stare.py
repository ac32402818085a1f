"""StarE's graph network as published (Galkin et al. 2020), with its sums reordered.

With rotate(x, r) the product of complex numbers whose halves are real and imaginary parts, for statement j in direction dir:

    g_j   = a r_j + (1 - a) W_q sum_k rotate(x_k, r_k)           over its qualifiers k
    x_v'  = tanh(BN((W_in sum_j w_j rotate(x_o, g_j) + W_out sum_j w_j rotate(x_s, g'_j) + W_loop rotate(x_v, r_loop)) / 3))
    r'    = W_rel r

where w_j = deg(receiver)^-1/2 deg(sender)^-1/2 counts, as in the published code, only the receivers of a direction: a sender
that never receives in it has degree 0, and its messages vanish; here they are not computed. The published code multiplies by
W_in and W_out per message; here they follow the sum, which is the same.
Letters: N entities, R relations, M statements, K qualifiers, J messages, D width.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from hyperheat.kg.neural.encoders import Table
from hyperheat.kg.neural.graph import Messages, PairGraph, pair_graph
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_sum, spread

__all__ = ["StareConfig", "StareGraph", "rotate"]


@dataclass(frozen=True, kw_only=True)
class StareConfig:
    """The published sizes."""

    dim: int = 200
    layers: int = 2
    dropout: float = 0.1
    """of the sums of messages"""
    layer_dropout: float = 0.3
    """between layers"""
    relation_weight: float = 0.8
    """a: how much of the relation there is beside the qualifiers"""

    def __post_init__(self) -> None:
        if self.dim % 2 or self.dim < 2 or self.layers < 1:
            raise ValueError(
                f"expected an even dim and a layer or more, got dim={self.dim}, layers={self.layers}"
            )


class StareGraph(nn.Module):
    """StarE's encoder."""

    plan = staticmethod(pair_graph)

    def __init__(self, config: StareConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(StareLayer(config) for _ in range(config.layers))
        self.dropout = Dropout(config.layer_dropout)

    def initialise(self, entities: Tensor, relations: Tensor) -> None:
        """Draw first vectors: relations are rotations by random angles, and backwards by the opposite ones."""
        nn.init.xavier_normal_(entities)
        with torch.no_grad():
            angles = torch.rand(len(relations) // 2, relations.shape[1] // 2) * (2 * math.pi)
            relations.copy_(torch.cat([_phases(angles), _phases(-angles)]))

    def forward(self, first: Table, graph: PairGraph[Tensor]) -> Table:
        x, r = first
        for index, layer in enumerate(self.layers):
            x, r = layer(self.dropout(x) if index else x, r, graph)
        return Table(x, r)


class StareLayer(nn.Module):
    """One round of messages in both directions."""

    def __init__(self, config: StareConfig) -> None:
        super().__init__()
        dim = config.dim
        self.weight = config.relation_weight
        self.qualifier, self.inwards, self.outwards, self.loop, self.relation = (
            nn.Linear(dim, dim, bias=False) for _ in range(5)
        )
        for linear in (self.qualifier, self.inwards, self.outwards, self.loop, self.relation):
            nn.init.xavier_normal_(linear.weight)
        self.loop_relation = nn.Parameter(nn.init.xavier_normal_(torch.empty(1, dim)))
        self.norm = nn.BatchNorm1d(dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, r: Tensor, graph: PairGraph[Tensor]) -> tuple[Tensor, Tensor]:
        """Entities [N, D] and relations [2R, D] -> the next ones."""
        forwards, backwards = r.chunk(2)
        pairs = rotate(spread(x, graph.value), spread(forwards, graph.qualifier))  # [K, D]
        q = self.qualifier(segment_sum(pairs, graph.owner))  # [M, D]
        inwards = self._messages(x, forwards, q, graph.inwards)
        outwards = self._messages(x, backwards, q, graph.outwards)
        loop = self.loop(rotate(x, self.loop_relation))
        summed = self.dropout(self.inwards(inwards)) + self.dropout(self.outwards(outwards)) + loop
        return torch.tanh(self.norm(summed / 3)), self.relation(r)

    def _messages(self, x: Tensor, r: Tensor, q: Tensor, messages: Messages[Tensor]) -> Tensor:
        """For every entity the weighted sum of what it receives in one direction [N, D]."""
        g = self.weight * spread(r, messages.relation) + (1 - self.weight) * spread(q, messages.statement)
        sent = rotate(spread(x, messages.sender), g) * messages.weight.to(x.dtype)[:, None]  # [J, D]
        return segment_sum(sent, messages.receiver)


def _phases(angles: Tensor) -> Tensor:
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def rotate(x: Tensor, r: Tensor) -> Tensor:
    """The complex product of vectors whose halves are real and imaginary parts."""
    return _Rotate.apply(x, r.expand_as(x))


class _Rotate(torch.autograd.Function):
    """Written into one tensor each way: chunks, products and a concatenation would take many."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, r: Tensor) -> Tensor:
        ctx.save_for_backward(x, r)
        return _product(x, r, 1.0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, r = ctx.saved_tensors
        return _product(grad, r, -1.0), _product(grad, x, -1.0)


def _product(x: Tensor, r: Tensor, sign: float) -> Tensor:
    """The product of x and r (sign 1), or of x and the conjugate of r (sign -1)."""
    (a, b), (c, d) = x.chunk(2, dim=-1), r.chunk(2, dim=-1)
    product = torch.empty_like(x, memory_format=torch.contiguous_format)
    real, imaginary = product.chunk(2, dim=-1)
    torch.mul(a, c, out=real).addcmul_(b, d, value=-sign)
    torch.mul(b, c, out=imaginary).addcmul_(a, d, value=sign)
    return product
