"""What an edge says to its nodes: one message to the edge itself and one to every incidence.

    x = [h_e, r_1 + h_1, ..., r_k + h_k]                     the slots of edge e
    [m_e, m_1, ..., m_k] = MHA(x)                            AttentionMessage
    q_e = DeepSet(x);  m_i = ReLU(W [x_i; q_e])              DeepSetMessage

Both never build x: `W (h + r) = W h + W r`, so each state and each distinct qualifier is projected once and the cells
gather sums of projected rows. Letters: N nodes, E edges, Q qualifiers, C cells, D width.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from hyperheat.nn.fast.attention import attend
from hyperheat.nn.fast.rows import pair_sum, segment_sum, spread
from hyperheat.tensors import AttentionPlan

if TYPE_CHECKING:
    from hyperheat.nn.config import HeatConfig

__all__ = ["AttentionMessage", "DeepSetMessage", "project"]


class AttentionMessage(nn.Module):
    """Multi-head self-attention among the slots of an edge (the paper's model)."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        dim = config.dim
        self.heads = config.heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        nn.init.xavier_uniform_(self.qkv.weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, h: Tensor, r: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """States [N+E, D] and qualifiers [Q, D] -> the message in each cell [C, D]."""
        table = project(h, r, self.qkv)  # [N+E+Q+1, 3D]
        return self.out(attend(table, plan, self.heads))  # [C, D]


class DeepSetMessage(nn.Module):
    """Messages from a pooled summary of the edge (the paper's DeepSet ablation).

    DeepSet(x) = rho(sum_i phi(x_i)) with phi = ReLU(A x + a), rho = two linear maps with a ReLU between
    """

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        dim = config.dim
        self.phi = nn.Linear(dim, dim)
        self.rho = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.slot = nn.Linear(dim, dim)
        self.summary = nn.Linear(dim, dim, bias=False)

    def forward(self, h: Tensor, r: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """States [N+E, D] and qualifiers [Q, D] -> the message in each cell [C, D]."""
        phi = F.relu(pair_sum(project(h, r, self.phi), plan.slots))  # [C, D]
        q = self.summary(self.rho(segment_sum(phi, plan.edges)))  # [E+1, D]; the last row is for padding
        return F.relu(pair_sum(project(h, r, self.slot), plan.slots) + spread(q, plan.edges))


def project(h: Tensor, r: Tensor, linear: nn.Linear) -> Tensor:
    """`[W h + b; W r; 0]`: the sum of a state's row and a qualifier's row is `W (h + r) + b`."""
    return _Project.apply(h, r, linear.weight, linear.bias)


class _Project(torch.autograd.Function):
    """Both products are written into one table, which spares a concatenation each way."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, r: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.dtypes = h.dtype, r.dtype, weight.dtype, bias.dtype
        device = h.device.type
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
            h, r, weight, bias = (x.to(dtype) for x in (h, r, weight, bias))
        ctx.save_for_backward(h, r, weight)
        table = h.new_empty(len(h) + len(r) + 1, len(weight))
        with torch.autocast(device, enabled=False):
            torch.addmm(bias, h, weight.T, out=table[: len(h)])
            torch.mm(r, weight.T, out=table[len(h) : -1])
        table[-1] = 0
        return table

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        h, r, weight = ctx.saved_tensors
        grad_h, grad_r = grad[: len(h)], grad[len(h) : -1]
        grad_weight = torch.addmm(grad_h.T @ h, grad_r.T, r)
        grads = grad_h @ weight, grad_r @ weight, grad_weight, grad_h.sum(0)
        return tuple(x.to(dtype) for x, dtype in zip(grads, ctx.dtypes, strict=True))
