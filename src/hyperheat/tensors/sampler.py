"""Which graphs go into which batch: shuffled, filled to a budget, nothing dropped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["BudgetSampler"]


@dataclass(frozen=True, kw_only=True)
class BudgetSampler:
    """Batches of graph indices whose sizes sum to at most `budget`, as a function of (seed, epoch) alone.

    `sizes` are the nodes or slots (edges + incidences) of each graph, whichever fills the memory. A graph larger than the
    budget is not cut or dropped: it gets a batch of its own, and `oversized` lists it.
    """

    sizes: Sequence[int]
    budget: int
    seed: int = 0
    shuffle: bool = True
    oversized: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError(f"budget: expected at least 1, got {self.budget}")
        if any(size < 0 for size in self.sizes):
            raise ValueError(f"sizes: expected no negative size, got {min(self.sizes)}")
        large = tuple(i for i, size in enumerate(self.sizes) if size > self.budget)
        object.__setattr__(self, "oversized", large)

    def batches(self, epoch: int = 0) -> Iterator[list[int]]:
        """The batches of one epoch; together they hold every graph exactly once."""
        order = np.arange(len(self.sizes))
        if self.shuffle:
            np.random.default_rng((self.seed, epoch)).shuffle(order)
        batch: list[int] = []
        filled = 0
        for index in order.tolist():
            size = self.sizes[index]
            if batch and filled + size > self.budget:
                yield batch
                batch, filled = [], 0
            batch.append(index)
            filled += size
        if batch:
            yield batch
