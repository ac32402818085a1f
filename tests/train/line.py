"""A small job for tests: a line with dropout fitted to points; as a program it trains in a folder until it is done."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from hyperheat.configuration import override
from hyperheat.train import TrainSettings, fit


@dataclass
class LineJob:
    """Batches of unequal sizes, so that weights matter."""

    samples: int = 22
    size: int = 4
    dropout: float = 0.2
    model: nn.Module = field(init=False)
    validations: list[float] | None = None
    """Values to give in place of the measured ones."""

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(5)
        self.x = torch.randn(self.samples, 3, generator=generator)
        self.y = self.x @ torch.tensor([1.0, -2.0, 3.0]) + 0.5
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(self.dropout), nn.Linear(8, 1))

    def describe(self) -> dict[str, Any]:
        return {"samples": self.samples, "size": self.size}

    def batches(self, epoch: int) -> list[list[int]]:
        order = np.random.default_rng((0, epoch)).permutation(self.samples).tolist()
        return [order[start : start + self.size] for start in range(0, self.samples, self.size)]

    def weight(self, batch: list[int]) -> float:
        return len(batch)

    def load(self, batch: list[int]) -> tuple[Tensor, Tensor]:
        return self.x[batch], self.y[batch]

    def loss(self, tensors: tuple[Tensor, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        x, y = tensors
        difference = self.model(x)[:, 0] - y
        return (difference**2).sum(), {"absolute": difference.detach().abs().sum()}

    def validate(self) -> dict[str, float]:
        if self.validations is not None:
            return {"loss": self.validations.pop(0)}
        return {"loss": float(((self.model(self.x)[:, 0] - self.y) ** 2).mean())}

    def save(self, folder: Path) -> None:
        (folder / "config.json").write_text(json.dumps(self.describe()))
        save_file(self.model.state_dict(), folder / "model.safetensors")


def train(folder: str | Path, *assignments: str) -> None:
    """Train, or go on where a run in the folder was stopped."""
    settings = TrainSettings(max_steps=40, lr=0.05, threads=1, validate_every=10, log_every=1, ema=0.9)
    fit(LineJob(), override(settings, assignments), folder, resume=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
