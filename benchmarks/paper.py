"""The paper's algorithm, as published: the yardstick of the layer benchmark.

Every incidence is built as state plus qualifier; edges are packed greedily into rows of 16, 64, 256, 768 or 1024
cells (Appendix A); `nn.MultiheadAttention`, called with its defaults, runs per width with a mask that keeps the edges of
a row apart; the messages are put back into one table and aggregated by a scattered maximum. It computes the same
function as `HeatLayer` from the same weights. A plan with masks spares it what the published code does without need:
averaging the attention weights, and building the masks anew in every layer.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.nn.config import HeatConfig
from hyperheat.nn.heat import HeatLayer
from hyperheat.nn.message import AttentionMessage
from hyperheat.tensors import HypergraphBatch, packed

__all__ = ["PaperLayer", "PaperPlan", "paper_plan"]


@dataclass(frozen=True, kw_only=True)
class PaperPlan:
    """Per width: which slot each cell holds and to which edge it belongs [B, L]; -1 is padding."""

    num_nodes: int
    node: Tensor
    qualifier: Tensor
    slots: list[Tensor]
    edges: list[Tensor]
    masks: list[Tensor] | None
    """What keeps the edges of a row apart [B*H, L, L], where it is prepared once for all layers."""


def paper_plan(batch: HypergraphBatch[np.ndarray], masks_for: int | None = None) -> PaperPlan:
    """Pack the edges of a batch as the paper does; prepare masks for that many heads, if given."""
    layout = packed(batch.by_edge.offsets)
    sizes = [group.rows * group.width for group in layout.groups]
    slots, edges = (
        [
            cells.view(group.rows, group.width)
            for cells, group in zip(torch.as_tensor(column).split(sizes), layout.groups, strict=True)
        ]
        for column in (layout.slot, layout.edge)
    )
    return PaperPlan(
        num_nodes=batch.num_nodes,
        node=torch.as_tensor(batch.by_node.owner),
        qualifier=torch.as_tensor(batch.qualifier),
        slots=slots,
        edges=edges,
        masks=None if masks_for is None else [_penalty(_mask(edge, masks_for)) for edge in edges],
    )


def _mask(edge: Tensor, heads: int) -> Tensor:
    """True between cells of different edges, for every head [B*H, L, L]."""
    return (edge[:, :, None] != edge[:, None, :]).repeat_interleave(heads, dim=0)


def _penalty(mask: Tensor) -> Tensor:
    """The mask as numbers to add, which spares the attention the conversion of truth values."""
    return torch.zeros(mask.shape).masked_fill_(mask, -torch.inf)


class PaperLayer(nn.Module):
    """One HEAT layer (max aggregation) by the paper's algorithm, with the weights of a `HeatLayer`."""

    def __init__(self, layer: HeatLayer, config: HeatConfig) -> None:
        super().__init__()
        assert isinstance(layer.message, AttentionMessage)
        self.heads = config.heads
        self.qualifier = layer.qualifier
        self.update = layer.update
        self.attention = nn.MultiheadAttention(config.dim, config.heads, batch_first=True)
        with torch.no_grad():
            self.attention.in_proj_weight.copy_(layer.message.qkv.weight)
            self.attention.in_proj_bias.copy_(layer.message.qkv.bias)
            self.attention.out_proj.weight.copy_(layer.message.out.weight)
            self.attention.out_proj.bias.copy_(layer.message.out.bias)

    def forward(self, h: Tensor, r: Tensor, plan: PaperPlan) -> Tensor:
        """States [N+E, D] and qualifier embeddings [Q, D] -> states [N+E, D]."""
        h_node, h_edge = h[: plan.num_nodes], h[plan.num_nodes :]
        incidences = h_node[plan.node] + self.qualifier(r)[plan.qualifier]
        table = torch.cat(
            [h_edge, incidences, h.new_ones(1, h.shape[1])]
        )  # [E+I+1, D]; slot -1 is the last row
        m = torch.empty_like(table)
        masks = plan.masks or [None] * len(plan.edges)
        for slot, edge, mask in zip(plan.slots, plan.edges, masks, strict=True):
            x = table[slot]  # [B, L, D]
            apart = _mask(edge, self.heads) if mask is None else mask
            out, _ = self.attention(x, x, x, attn_mask=apart, need_weights=plan.masks is None)
            index = (slot % len(table)).view(-1, 1).expand(-1, h.shape[1])
            m.scatter_(0, index, out.flatten(0, 1))
        to_edge, to_node, _ = m.split([len(h_edge), len(incidences), 1])
        u_node = self.aggregate(to_node, h_node, plan.node)
        return self.update(h, torch.cat([u_node, to_edge]), plan.num_nodes)

    def aggregate(self, m: Tensor, h: Tensor, node: Tensor) -> Tensor:
        """Messages [I, D] to nodes [I] with states [N, D] -> updates [N, D]."""
        index = node[:, None].expand_as(m)
        return torch.zeros_like(h).scatter_reduce(0, index, m, "amax", include_self=False)
