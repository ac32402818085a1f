"""Multi-head self-attention inside each edge, over the rows of cells that a layout has planned.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(K)) V,  separately for every edge and head

`attend` is the one entry. `_attend_at_once` is the plain form. On a CPU `_ChunkedAttention` does the same in chunks that
stay in the cache, and gathers again in the gradient what it would otherwise have to keep. Small edges go to the compiled
kernel if it is loaded.
Letters: R rows of the table, C cells (those of a group are B rows of L), H heads, K = D / H width of a head.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from hyperheat.nn.fast import kernel
from hyperheat.nn.fast.rows import bag_sum, pair_sum
from hyperheat.tensors import AttentionPlan, Group

__all__ = ["attend"]

_CHUNK = 1 << 19  # numbers in the queries, keys and values of a chunk


def attend(table: Tensor, plan: AttentionPlan[Tensor], heads: int) -> Tensor:
    """Queries, keys and values of states and qualifiers [R, 3D] -> what each cell attends to [C, D]."""
    rows = len(plan.slots.starts) - 1
    if len(table) != rows:
        raise ValueError(
            f"table: expected {rows} rows, those of the plan's states and qualifiers, got {len(table)}"
        )
    if table.device.type == "cpu":
        if table.dtype == torch.bfloat16 and kernel.loaded() is not None:
            table = table.float()  # the kernel reads nothing narrower
        return _ChunkedAttention.apply(table, plan, heads)
    return _attend_at_once(table, plan, heads)


def _attend_at_once(table: Tensor, plan: AttentionPlan[Tensor], heads: int) -> Tensor:
    cells = pair_sum(table, plan.slots)  # [C, 3D]
    sizes = [group.rows * group.width for group in plan.groups]
    outs = [cells.new_zeros(0, cells.shape[1] // 3)]
    for part, owner, group in zip(
        cells.split(sizes), plan.edges.owner.split(sizes), plan.groups, strict=True
    ):
        q, k, v = _heads(part, group.width, heads)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=_mask(group, owner, part))
        outs.append(out.transpose(1, 2).reshape(len(part), -1))
    return torch.cat(outs)


class _ChunkedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, plan: AttentionPlan[Tensor], heads: int) -> Tensor:
        table = table.contiguous()
        out = table.new_empty(len(plan.slots.pairs), table.shape[1] // 3)
        compiled = kernel.loaded()
        fused, chunks = _divide(plan, table, heads, compiled)
        for start, group in fused:
            compiled.forward(table, plan.slots.pairs, out, start, group, heads)  # pyright: ignore[reportOptionalMemberAccess]
        normalisers = []  # of each chunk [B, H, L], for the gradient
        for start, stop, group in chunks:
            q, k, v, mask = _gather(table, plan, start, stop, group, heads)
            attended, normaliser = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                q, k, v, attn_mask=mask
            )
            _heads_of(out[start:stop], group.width, heads).copy_(attended)
            normalisers.append(normaliser)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(table, out, *normalisers)
            ctx.plan, ctx.heads, ctx.compiled, ctx.fused, ctx.chunks = plan, heads, compiled, fused, chunks
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        table, out, *normalisers = ctx.saved_tensors
        plan, heads = ctx.plan, ctx.heads
        grad_out = grad_out.contiguous()
        grad = table.new_empty(len(out), table.shape[1])
        for start, group in ctx.fused:
            ctx.compiled.backward(table, plan.slots.pairs, grad_out, grad, start, group, heads)
        for (start, stop, group), normaliser in zip(ctx.chunks, normalisers, strict=True):
            q, k, v, mask = _gather(table, plan, start, stop, group, heads)
            grads = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
                _heads_of(grad_out[start:stop], group.width, heads),
                q,
                k,
                v,
                _heads_of(out[start:stop], group.width, heads),
                normaliser,
                0.0,
                False,
                attn_mask=mask,
            )
            for target, value in zip(_heads(grad[start:stop], group.width, heads), grads, strict=True):
                target.copy_(value)
        return bag_sum(grad, plan.slots.cells, plan.slots.starts), None, None


def _divide(
    plan: AttentionPlan[Tensor], table: Tensor, heads: int, compiled: kernel.Kernel | None
) -> tuple[list[tuple[int, Group]], list[tuple[int, int, Group]]]:
    """The groups for the kernel (first cell, group), and the others in chunks of whole rows (first cell, end, group)."""
    fused, chunks = [], []
    start = 0
    for group in plan.groups:
        end = start + group.rows * group.width
        if compiled is not None and compiled.takes(group, table, plan.slots.pairs, heads):
            fused.append((start, group))
        else:
            step = max(1, _CHUNK // (table.shape[1] * group.width)) * group.width
            chunks += [(first, min(first + step, end), group) for first in range(start, end, step)]
        start = end
    return fused, chunks


def _gather(
    table: Tensor, plan: AttentionPlan[Tensor], start: int, stop: int, group: Group, heads: int
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    cells = F.embedding_bag(plan.slots.pairs[start:stop], table, mode="sum")
    q, k, v = _heads(cells, group.width, heads)
    return q, k, v, _mask(group, plan.edges.owner[start:stop], cells)


def _heads(qkv: Tensor, width: int, heads: int) -> tuple[Tensor, ...]:
    """Queries, keys and values of a group's cells, seen as [B, H, L, K] each."""
    return qkv.view(-1, width, 3, heads, qkv.shape[1] // (3 * heads)).permute(2, 0, 3, 1, 4).unbind()


def _heads_of(out: Tensor, width: int, heads: int) -> Tensor:
    """What a group's cells attend to, seen as [B, H, L, K]."""
    return out.view(-1, width, heads, out.shape[1] // heads).transpose(1, 2)


def _mask(group: Group, owner: Tensor, like: Tensor) -> Tensor | None:
    """Zero between cells of one edge, minus infinity elsewhere; None where a row is one edge."""
    if group.block == group.width:
        return None
    if group.block is not None:
        return _block_mask(group.width, group.block, like.dtype, like.device)
    owner = owner.view(-1, 1, group.width)
    return _penalty(owner[..., :, None] == owner[..., None, :], like.dtype)


@lru_cache(maxsize=64)
def _block_mask(width: int, block: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    with torch.inference_mode(False):  # it is kept, and may be used in training later
        owner = torch.arange(width, device=device) // block
        return _penalty(owner[:, None] == owner[None, :], dtype)


def _penalty(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, -torch.inf)
