"""Dropout whose random numbers cost little on the CPU: one byte each, eight from every number drawn.

`nn.Dropout` draws a number per entry, which takes about a seventh of the time of a training step of HEAT. A byte
can only express shares in steps of 1/256, so the share is rounded, and the scale is that of the rounded share.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["Dropout"]


class Dropout(nn.Module):
    """Zero each entry with probability p and scale the others by 1 / (1 - p), while training."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"p: expected a number from 0 up to 1, got {p!r}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        dropped = min(round(256 * self.p), 255)
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= dropped
        return x * kept.to(x.dtype).mul_(256 / (256 - dropped))

    def extra_repr(self) -> str:
        return f"p={self.p}"
