"""Multi-head self-attention inside each edge, over the rows that a layout has planned.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(D/H)) V,  separately for every edge and head

Letters: C cells (a group's cells are B rows of L), H heads, K = D / H width of a head.
"""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from hyperheat.tensors import AttentionPlan, Group

__all__ = ["attend"]


def attend(qkv: Tensor, plan: AttentionPlan[Tensor], heads: int) -> Tensor:
    """Queries, keys and values of all cells [C, 3D] -> what each cell attends to [C, D]."""
    sizes = [group.rows * group.width for group in plan.groups]
    owners = plan.edges.owner.split(sizes)
    parts = [
        _attend_group(part, group, heads, owner)
        for part, group, owner in zip(qkv.split(sizes), plan.groups, owners, strict=True)
    ]
    return torch.cat(parts) if parts else qkv.new_zeros(0, qkv.shape[1] // 3)


def _attend_group(qkv: Tensor, group: Group, heads: int, owner: Tensor) -> Tensor:
    cells = qkv.view(group.rows, group.width, 3, heads, -1)  # [B, L, 3, H, K]
    q, k, v = cells.permute(2, 0, 3, 1, 4)  # each [B, H, L, K]
    mask = _mask(group, owner, qkv)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(len(qkv), -1)


def _mask(group: Group, owner: Tensor, like: Tensor) -> Tensor | None:
    """Zero between cells of one edge, minus infinity elsewhere; None where a row is one edge."""
    if group.block == group.width:
        return None
    if group.block is not None:
        return _block_mask(group.width, group.block, like.dtype, like.device)
    owner = owner.view(group.rows, 1, group.width)
    return _penalty(owner[..., :, None] == owner[..., None, :], like.dtype)


@lru_cache(maxsize=64)
def _block_mask(width: int, block: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    owner = torch.arange(width, device=device) // block
    return _penalty(owner[:, None] == owner[None, :], dtype)


def _penalty(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -torch.inf)
