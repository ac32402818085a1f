"""The paper's algorithm, faithfully: the yardstick of the layer benchmark.

Every incidence is built as state plus qualifier; edges are packed greedily into rows of 16, 64, 256, 768 or 1024
cells (Appendix A); `nn.MultiheadAttention` runs per width with a mask that separates the edges of a row; messages
are aggregated by a scattered maximum. It computes the same function as `HeatLayer` from the same weights. In its favour, rows
and masks are prepared once per batch and attention weights are not returned.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.nn.config import HeatConfig
from hyperheat.nn.heat import HeatLayer
from hyperheat.nn.message import SelfAttentionMessages
from hyperheat.tensors import HypergraphBatch, packed

__all__ = ["PaperLayer", "PaperPlan", "paper_plan"]


@dataclass(frozen=True, kw_only=True)
class PaperPlan:
    """Per width: which slot each cell holds [B, L] and what may attend to what [B*H, L, L]; then, over all widths, the
    cells that are no padding and the node or edge that each of their messages goes to."""

    num_nodes: int
    node: Tensor
    qualifier: Tensor
    rows: list[Tensor]
    masks: list[Tensor]
    filled: Tensor
    receiver: Tensor


def paper_plan(batch: HypergraphBatch[np.ndarray], heads: int) -> PaperPlan:
    """Pack the edges of a batch as the paper does."""
    layout = packed(batch.by_edge.offsets)
    slot = torch.as_tensor(layout.slot)
    sizes = [group.rows * group.width for group in layout.groups]
    masks = []
    for group, edge in zip(layout.groups, torch.as_tensor(layout.edge).split(sizes), strict=True):
        edge = edge.view(group.rows, group.width)
        apart = (edge[:, :, None] != edge[:, None, :]).repeat_interleave(heads, dim=0)
        masks.append(torch.zeros(apart.shape).masked_fill_(apart, -torch.inf))
    receiver_of_slot = np.concatenate([batch.num_nodes + np.arange(batch.num_edges), batch.by_node.owner])
    filled = torch.nonzero(slot >= 0).squeeze(1)
    return PaperPlan(
        num_nodes=batch.num_nodes,
        node=torch.as_tensor(batch.by_node.owner),
        qualifier=torch.as_tensor(batch.qualifier),
        rows=[
            rows.view(group.rows, group.width)
            for group, rows in zip(layout.groups, slot.clamp(min=0).split(sizes), strict=True)
        ],
        masks=masks,
        filled=filled,
        receiver=torch.as_tensor(receiver_of_slot)[slot[filled]],
    )


class PaperLayer(nn.Module):
    """One HEAT layer (max aggregation) by the paper's algorithm, with the weights of a `HeatLayer`."""

    def __init__(self, layer: HeatLayer, config: HeatConfig) -> None:
        super().__init__()
        assert isinstance(layer.message, SelfAttentionMessages)
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
        slots = torch.cat([h_edge, h_node[plan.node] + self.qualifier(r)[plan.qualifier]])  # [E+I, D]
        messages = []
        for rows, mask in zip(plan.rows, plan.masks, strict=True):
            x = slots[rows]  # [B, L, D]
            messages.append(self.attention(x, x, x, attn_mask=mask, need_weights=False)[0].flatten(0, 1))
        m = torch.cat(messages)[plan.filled]  # [E+I, D]
        index = plan.receiver[:, None].expand_as(m)
        u = torch.zeros_like(h).scatter_reduce(0, index, m, "amax", include_self=False)
        return self.update(h, u, plan.num_nodes)
