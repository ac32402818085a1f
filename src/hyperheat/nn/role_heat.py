"""HEAT with a matrix for each kind of slot instead of attention: on code it learns faster.

A kind of slot is a relation and a role in it, such as the left side of a comparison (`tensors/slot_kinds.py`). With A_k
and B_k the matrices of kind k, and the slots x = [h_e, r_1 + h_1, ...] of an edge as in HEAT, each layer computes

    slots with a name, and h_e    m_i = B_k(i) x_i + b + (sum over the n other such slots of A_k(j) x_j) / sqrt(n)
    slots with a position         m_i = B_k(i) x_i + b + A_k(i-1) x_(i-1) + C x_(i+1)
    update of a node              u_n = max over the messages to n;   of an edge: u_e = m_e
    new states                    h' = LN(q + FFN(q)),  q = LN(h + u)

So a sequence is a chain, in which each place hears its neighbours, and any other edge is a set with roles. First states,
qualifiers, aggregation and update are HEAT's. Letters: N nodes, E edges, Q qualifiers, C cells, P of them with a
position, T kinds, D width.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from hyperheat.nn.embedding import HypergraphEmbedding
from hyperheat.nn.fast.rows import pair_sum, segment_max, segment_sum, spread
from hyperheat.nn.heat import States, check_batch
from hyperheat.nn.update import FeedForward, KeepState, OwnUpdate
from hyperheat.tensors import OTHER_KINDS, RoleBatch, RolePlan, Vocabulary

__all__ = ["RoleConfig", "RoleEncoder", "RoleLayer"]


@dataclass(frozen=True, kw_only=True)
class RoleConfig:
    """Sizes."""

    dim: int = 128
    layers: int = 4
    ff: int = 256
    """Hidden width of the feed-forward part."""
    roles: int = 24
    """How many pairs of a relation and a role are kinds of their own; all others are three kinds."""
    dropout: float = 0.0
    final_edges: bool = False
    """Whether the last layer updates edge states, which nodes do not need."""

    def __post_init__(self) -> None:
        for name in ("dim", "layers", "ff", "roles"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name}: expected an int of at least 1, got {value!r}")
        if self.dim % 2:
            raise ValueError(f"dim: expected an even number, got {self.dim}")
        if type(self.final_edges) is not bool:
            raise ValueError(f"final_edges: expected true or false, got {self.final_edges!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 up to 1, got {self.dropout!r}")

    @property
    def hidden(self) -> int:
        """Hidden width of the feed-forward part."""
        return self.ff

    @property
    def feed_forward(self) -> type[FeedForward]:
        """The second part of an update."""
        return FeedForward


_PIECES = tuple(2**power for power in range(11, 3, -1))
"""How many rows are multiplied at once where products are compiled; see `_pieces`."""


class RoleMessage(nn.Module):
    """What an edge says to its nodes and to itself."""

    def __init__(self, config: RoleConfig) -> None:
        super().__init__()
        dim, kinds = config.dim, config.roles + OTHER_KINDS
        self.kinds = nn.Parameter(torch.empty(kinds, 2 * dim, dim))  # A and B of each
        self.after = nn.Linear(dim, dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(dim))
        nn.init.uniform_(self.kinds, -(dim**-0.5), dim**-0.5)

    def forward(self, h: Tensor, r: Tensor, plan: RolePlan[Tensor]) -> Tensor:
        """States [N+E, D] and qualifiers [Q, D] -> the message in each cell [C, D]."""
        x = pair_sum(torch.cat([h.to(r.dtype), r, r.new_zeros(1, r.shape[1])]), plan.slots)  # [C, D]
        said, own = linear_by_kind(x, self.kinds, plan.sizes).chunk(2, dim=1)  # A x and B x, [C, D] each
        num_positions = len(plan.neighbours.pairs)
        before, after = said[:num_positions], self.after(x[:num_positions])
        chain = pair_sum(torch.cat([before, after, before.new_zeros(1, before.shape[1])]), plan.neighbours)
        said = said[num_positions:].contiguous()
        others = spread(segment_sum(said, plan.edges), plan.edges) - said  # [C-P, D]
        heard = torch.cat([chain, others * plan.scale.to(others.dtype)])
        return heard + own + self.bias.to(own.dtype)


class RoleLayer(nn.Module):
    """One round of messages."""

    def __init__(self, config: RoleConfig, *, update_edges: bool) -> None:
        super().__init__()
        self.qualifier = nn.Linear(config.dim, config.dim)
        self.message = RoleMessage(config)
        self.update = (OwnUpdate if update_edges else KeepState)(config)

    def forward(self, h: Tensor, r: Tensor, plan: RolePlan[Tensor]) -> Tensor:
        """States [N+E, D] and qualifier embeddings [Q, D] -> states [N+E, D]."""
        m = self.message(h, self.qualifier(r), plan)  # [C, D]
        return self.update(h, segment_max(m, plan.receivers), plan.num_nodes)


class RoleEncoder(nn.Module):
    """A batch of hypergraphs in, states of its nodes and edges out."""

    def __init__(self, config: RoleConfig, vocab: Vocabulary) -> None:
        super().__init__()
        if not 0 < len(vocab.roles) <= config.roles:
            raise ValueError(f"vocab: expected 1 to {config.roles} roles, got {len(vocab.roles)}")
        self.config, self.vocab = config, vocab
        self.embedding = HypergraphEmbedding(config.dim, vocab, config.dropout)
        self.layers = nn.ModuleList(
            RoleLayer(config, update_edges=config.final_edges or index < config.layers - 1)
            for index in range(config.layers)
        )

    def forward(self, batch: RoleBatch[Tensor]) -> States:
        """A batch from `collate_roles(graphs, encoder.vocab).to_torch()` -> states."""
        check_batch(batch, self.vocab)
        h, r = self.embedding(batch)
        for layer in self.layers:
            h = layer(h, r, batch.plan)
        return States(h[: batch.num_nodes], h[batch.num_nodes :])


def linear_by_kind(x: Tensor, weight: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Rows [C, D] in blocks of some sizes, each times the matrix of its kind [T, O, D] -> [C, O]."""
    return _LinearByKind.apply(x, weight, sizes)


class _LinearByKind(torch.autograd.Function):
    """All products are written into one tensor each way, which spares concatenations."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, sizes: tuple[int, ...]) -> Tensor:
        ctx.dtypes = x.dtype, weight.dtype
        device = x.device.type
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
            x, weight = x.to(dtype), weight.to(dtype)
        ctx.kinds, ctx.sizes = _pieces(sizes) if _is_compiled(x) else (range(len(sizes)), sizes)
        ctx.save_for_backward(x, weight)
        out = x.new_empty(len(x), weight.shape[1])
        with torch.autocast(device, enabled=False):
            for rows, to, kind in zip(x.split(ctx.sizes), out.split(ctx.sizes), ctx.kinds, strict=True):
                torch.mm(rows, weight[kind].T, out=to)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, weight = ctx.saved_tensors
        grad_x, grad_weight = torch.empty_like(x), torch.zeros_like(weight)
        blocks = (each.split(ctx.sizes) for each in (grad, x, grad_x))
        for g, rows, to, kind in zip(*blocks, ctx.kinds, strict=True):
            torch.mm(g, weight[kind], out=to)
            grad_weight[kind].addmm_(g.T, rows)
        dtypes = ctx.dtypes
        return grad_x.to(dtypes[0]), grad_weight.to(dtypes[1]), None


def _is_compiled(x: Tensor) -> bool:
    """Whether torch compiles products with these rows for every new shape."""
    return x.dtype == torch.bfloat16 and x.device.type == "cpu"


def _pieces(sizes: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Blocks cut into pieces of 2048, 1024, ... 16 rows and a rest: the kind of each piece, and its size.

    Blocks of every batch have other sizes. With these few, products are compiled once and then found again: on a
    processor for which that takes long, training is twice as fast.
    """
    kinds: list[int] = []
    pieces: list[int] = []
    for kind, left in enumerate(sizes):
        for size in _PIECES:
            count, left = divmod(left, size)
            pieces += [size] * count
        pieces += [left] * (left > 0)
        kinds += [kind] * (len(pieces) - len(kinds))
    return kinds, pieces
