"""Aggregation in pieces: messages come a few edges at a time, and the updates of nodes are the same in the end.

    running = RUNNING[type(layer.aggregate)](layer.aggregate, h_nodes)
    for ...: running.add(nodes, m, h, plan)                  the messages of some edges, whose nodes are `nodes`
    u = running.finish()                                     what layer.aggregate makes of all messages at once

Without gradients. Letters: N nodes of the whole graph, n nodes of a piece, C cells of a piece, D width, H heads.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

from hyperheat.nn.aggregate import CrossAttentionAggregate, MaxAggregate, MeanAggregate, SumAggregate
from hyperheat.nn.fast.rows import segment_max, segment_sum, spread
from hyperheat.tensors import AttentionPlan, Segments

__all__ = ["RUNNING", "RunningAggregate"]


class RunningAggregate(Protocol):
    """The updates of all nodes so far."""

    def add(self, nodes: Tensor, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> None:
        """Take in the messages [C, D] of a piece with the states `h` and the nodes [n], each of which gets a message."""
        ...

    def finish(self) -> Tensor:
        """The updates [N, D]; zero for a node without a message."""
        ...


class RunningMax:
    """The maximum so far, minus infinity where there is none."""

    def __init__(self, aggregate: MaxAggregate, h: Tensor) -> None:
        self._highest = torch.full_like(h, -torch.inf)

    def add(self, nodes: Tensor, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> None:
        """Raise the maxima of some nodes."""
        found = segment_max(m, plan.receivers)[: len(nodes)]
        self._highest[nodes] = torch.maximum(self._highest[nodes], found)

    def finish(self) -> Tensor:
        """The maxima."""
        return self._highest.masked_fill_(self._highest == -torch.inf, 0)


class RunningSum:
    """The sum so far."""

    def __init__(self, aggregate: SumAggregate | MeanAggregate, h: Tensor) -> None:
        self._sum = torch.zeros_like(h)
        self._count = h.new_zeros(len(h), 1)

    def add(self, nodes: Tensor, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> None:
        """Add the messages to some nodes."""
        self._sum[nodes] += segment_sum(m, plan.receivers)[: len(nodes)]
        self._count[nodes] += _sizes(plan.receivers)[: len(nodes)]

    def finish(self) -> Tensor:
        """The sums."""
        return self._sum


class RunningMean(RunningSum):
    """The sum and the number of messages so far."""

    def finish(self) -> Tensor:
        """The means."""
        return self._sum / self._count.clamp(min=1)


class RunningCrossAttention:
    """The highest score so far, and the sums of weights and of weighted values, both relative to it."""

    def __init__(self, aggregate: CrossAttentionAggregate, h: Tensor) -> None:
        self._aggregate = aggregate
        self._highest = h.new_full((len(h), aggregate.heads, 1), -torch.inf)
        self._weight = torch.zeros_like(self._highest)
        self._value = h.new_zeros(len(h), aggregate.heads, h.shape[1] // aggregate.heads)

    def add(self, nodes: Tensor, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> None:
        """Attend to the messages to some nodes."""
        aggregate, receivers = self._aggregate, plan.receivers
        heads = (aggregate.heads, -1)
        query = torch.cat([aggregate.query(h), h.new_zeros(1, h.shape[1])])  # the last row is for padding
        key, value = aggregate.key_value(m).unflatten(1, (2, *heads)).unbind(1)  # [C, H, D/H]
        scores = (spread(query, receivers).unflatten(1, heads) * key).sum(-1) * key.shape[-1] ** -0.5
        highest = segment_max(scores, receivers)  # [n, H]
        weights = (scores - spread(highest, receivers)).exp()
        total = segment_sum(weights, receivers)[: len(nodes), :, None]
        values = segment_sum((weights[..., None] * value).flatten(1), receivers)[: len(nodes)]
        highest = highest[: len(nodes), :, None]
        top = torch.maximum(self._highest[nodes], highest)
        before, now = (self._highest[nodes] - top).exp(), (highest - top).exp()
        self._weight[nodes] = before * self._weight[nodes] + now * total
        self._value[nodes] = before * self._value[nodes] + now * values.unflatten(1, heads)
        self._highest[nodes] = top

    def finish(self) -> Tensor:
        """What each node attends to."""
        has_message = self._weight[:, :1, 0] > 0
        attended = (self._value / self._weight.clamp(min=torch.finfo(self._weight.dtype).tiny)).flatten(1)
        return self._aggregate.out(attended) * has_message


def _sizes(segments: Segments[Tensor]) -> Tensor:
    return segments.offsets.diff()[:, None]


RUNNING: dict[type, Any] = {
    MaxAggregate: RunningMax,
    SumAggregate: RunningSum,
    MeanAggregate: RunningMean,
    CrossAttentionAggregate: RunningCrossAttention,
}
"""The running form of each aggregate."""
