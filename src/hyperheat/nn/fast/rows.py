"""Gathers and aggregations over the rows of a matrix, with gradients that need no scattered writes.

`x[index]` would do for most of this, but its gradient is slow and, on several threads, not repeatable to the bit.
Letters: R rows of a table, C cells gathered from it, S segments, D width.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from hyperheat.nn.fast import kernel
from hyperheat.tensors import PairSums, Segments

__all__ = [
    "bag_sum",
    "pair_sum",
    "segment_log_softmax",
    "segment_max",
    "segment_mean",
    "segment_softmax",
    "segment_sum",
    "spread",
]


def pair_sum(x_RD: Tensor, sums: PairSums[Tensor]) -> Tensor:
    """For each cell the sum of its two rows: [R, D] -> [C, D]."""
    return _PairSum.apply(x_RD, sums.pairs, sums.starts, sums.cells)


def segment_sum(x_CD: Tensor, segments: Segments[Tensor]) -> Tensor:
    """For each segment the sum of its entries: [C, D] -> [S, D]; zero where it has none."""
    return _SegmentSum.apply(x_CD, segments.owner, segments.entries, segments.offsets)


def segment_mean(x_CD: Tensor, segments: Segments[Tensor]) -> Tensor:
    """For each segment the mean of its entries: [C, D] -> [S, D]; zero where it has none."""
    sizes = segments.offsets.diff().clamp(min=1).to(x_CD.dtype)
    return segment_sum(x_CD, segments) / sizes[:, None]


def segment_max(x_CD: Tensor, segments: Segments[Tensor]) -> Tensor:
    """For each segment and column the largest entry: [C, D] -> [S, D]; zero where it has none.

    Entries that tie for the maximum share its gradient evenly. A NaN entry makes the maximum NaN.
    """
    return _SegmentMax.apply(x_CD, segments.owner, segments.entries, segments.offsets)


def segment_softmax(x_CH: Tensor, segments: Segments[Tensor]) -> Tensor:
    """Softmax of each column over the entries of each segment: [C, H] -> [C, H]."""
    with torch.no_grad():
        highest = F.embedding(segments.owner, segment_max(x_CH, segments))
    weights = (x_CH - highest).exp()
    return weights / spread(segment_sum(weights, segments), segments)


def segment_log_softmax(x_C: Tensor, segments: Segments[Tensor]) -> Tensor:
    """Logarithm of the softmax over the entries of each segment: [C] -> [C]."""
    x = x_C[:, None]
    with torch.no_grad():
        highest = F.embedding(segments.owner, segment_max(x, segments))
    shifted = x - highest
    return (shifted - spread(segment_sum(shifted.exp(), segments).log(), segments)).squeeze(1)


def spread(x_SD: Tensor, segments: Segments[Tensor]) -> Tensor:
    """Each entry gets the row of its segment: [S, D] -> [C, D]."""
    return _Spread.apply(x_SD, segments.owner, segments.entries, segments.offsets)


def bag_sum(x: Tensor, index: Tensor, offsets: Tensor) -> Tensor:
    """For each bag b the sum of the rows `index[offsets[b]:offsets[b+1]]`, without a gradient."""
    return F.embedding_bag(index, x, offsets, mode="sum", include_last_offset=True)


class _PairSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, pairs: Tensor, starts: Tensor, cells: Tensor) -> Tensor:
        ctx.save_for_backward(starts, cells)
        return F.embedding_bag(pairs, x, mode="sum")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        starts, cells = ctx.saved_tensors
        return bag_sum(grad.contiguous(), cells, starts), None, None, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, owner: Tensor, entries: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(owner)
        return bag_sum(x, entries, offsets)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (owner,) = ctx.saved_tensors
        return F.embedding(owner, grad.contiguous()), None, None, None


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, owner: Tensor, entries: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(entries, offsets)
        return F.embedding(owner, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        entries, offsets = ctx.saved_tensors
        return bag_sum(grad.contiguous(), entries, offsets), None, None, None


class _SegmentMax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, owner: Tensor, entries: Tensor, offsets: Tensor) -> Tensor:
        compiled = kernel.loaded()
        ctx.compiled = compiled if compiled is not None and compiled.takes_rows(x) else None
        if ctx.compiled is not None:
            largest = ctx.compiled.segment_max(x, entries, offsets)
            ctx.save_for_backward(x, largest, entries, offsets)
            return largest
        target = x.new_zeros(len(offsets) - 1, x.shape[1])
        largest = target.scatter_reduce(0, owner[:, None].expand_as(x), x, "amax", include_self=False)
        if ctx.needs_input_grad[0]:
            is_largest = x == F.embedding(owner, largest)
            ctx.save_for_backward(is_largest, owner, entries, offsets)
        return largest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if ctx.compiled is not None:
            x, largest, entries, offsets = ctx.saved_tensors
            return ctx.compiled.segment_max_backward(x, entries, offsets, largest, grad), None, None, None
        is_largest, owner, entries, offsets = ctx.saved_tensors
        maxima = int(offsets.diff().count_nonzero()) * grad.shape[1]
        if int(is_largest.count_nonzero()) > maxima:  # ties are rare, and counting them is not cheap
            grad = grad / bag_sum(is_largest.to(grad.dtype), entries, offsets).clamp_(min=1)
        return F.embedding(owner, grad).masked_fill_(~is_largest, 0), None, None, None
