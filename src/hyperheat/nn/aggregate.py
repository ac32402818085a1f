"""From the messages to a node to its one update, `u_n = Agg({m_{e -> n}})`.

An edge has a single message, which every aggregation passes on unchanged. A node without any edge gets zero.
Letters: C cells, N nodes, E edges, D width, H heads.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from hyperheat.nn.fast.rows import segment_max, segment_mean, segment_softmax, segment_sum, spread
from hyperheat.tensors import AttentionPlan

if TYPE_CHECKING:
    from hyperheat.nn.config import HeatConfig

__all__ = ["CrossAttentionAggregate", "MaxAggregate", "MeanAggregate", "SumAggregate"]


class MaxAggregate(nn.Module):
    """The element-wise maximum (the paper's model)."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()

    def forward(self, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """Messages [C, D] -> updates [N+E, D]."""
        return segment_max(m, plan.receivers)[: len(h)]


class SumAggregate(nn.Module):
    """The sum."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()

    def forward(self, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """Messages [C, D] -> updates [N+E, D]."""
        return segment_sum(m, plan.receivers)[: len(h)]


class MeanAggregate(nn.Module):
    """The mean."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()

    def forward(self, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """Messages [C, D] -> updates [N+E, D]."""
        return segment_mean(m, plan.receivers)[: len(h)]


class CrossAttentionAggregate(nn.Module):
    """Multi-head attention with the node state as query (the paper's CrossAtt).

    u_n = W_o softmax(W_q h_n . W_k m) W_v m over the messages m to n
    """

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()
        dim = config.dim
        self.heads = config.heads
        self.query = nn.Linear(dim, dim)
        self.key_value = nn.Linear(dim, 2 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, m: Tensor, h: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """Messages [C, D] -> updates [N+E, D]."""
        num_nodes = plan.num_nodes
        passed_on = segment_sum(m, plan.receivers)[num_nodes : len(h)]  # [E, D]: each a sum of one
        query = torch.cat([self.query(h), h.new_zeros(1, h.shape[1])])  # the last row is for padding
        query = spread(query, plan.receivers).unflatten(1, (self.heads, -1))  # [C, H, D/H]
        key, value = self.key_value(m).unflatten(1, (2, self.heads, -1)).unbind(1)
        scores = (query * key).sum(-1) * query.shape[-1] ** -0.5  # [C, H]
        weights = segment_softmax(scores, plan.receivers)
        attended = segment_sum((weights[..., None] * value).flatten(1), plan.receivers)[:num_nodes]
        has_message = plan.receivers.offsets.diff()[:num_nodes, None] > 0
        return torch.cat([self.out(attended) * has_message, passed_on])
