"""Which samples are trained on, in which order and in which batches: a function of the settings, a seed and the epoch.

planted bugs    every epoch is one pass over the samples with at most one bug
dense phase     the first epoch has as many batches of samples with many bugs as the phase has steps
real bugs       every epoch is one pass over the real bugs, each in one batch with the repaired function, among clean
functions and planted bugs that are drawn anew from the corpus
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from hyperheat.bugs.recipes import BugSettings
from hyperheat.tensors import BudgetSampler

__all__ = ["Curriculum"]


@dataclass(frozen=True, kw_only=True)
class Curriculum:
    """What is known of each sample, as columns with one entry per sample."""

    settings: BugSettings
    sizes: np.ndarray
    """Nodes."""
    dense: np.ndarray
    """Whether it has many bugs at once."""
    clean: np.ndarray
    """Whether it has no bug."""
    real: np.ndarray
    """Whether it is a real bug, or right after one the repaired function."""
    readable: np.ndarray
    """Whether the encoder can read it; batches do not depend on that otherwise."""

    def __post_init__(self) -> None:
        if not self._fitting(~self.dense).any():
            raise ValueError("expected samples with at most one bug in the split 'train', got none")
        if self.settings.dense_steps and not self._fitting(self.dense).any():
            raise ValueError("expected dense samples in the split 'train', got none")

    def batches(self, epoch: int) -> list[np.ndarray]:
        """The batches of an epoch."""
        if self.real.any():
            return self._readable(self._among_real(epoch))
        plain = np.flatnonzero(self._fitting(~self.dense))
        if self.settings.dense_steps == 0:
            return self._readable(self._pass(plain, epoch))
        if epoch > 0:
            return self._readable(self._pass(plain, epoch - 1))
        dense = np.flatnonzero(self._fitting(self.dense))
        every = chain.from_iterable(self._pass(dense, number) for number in itertools.count())
        count = self.settings.dense_steps * self.settings.train.batches_per_step
        return self._readable(islice(every, count))

    def _pass(self, indices: np.ndarray, number: int) -> Iterator[np.ndarray]:
        sampler = BudgetSampler(
            sizes=self.sizes[indices].tolist(), budget=self.settings.budget, seed=self.settings.train.seed
        )
        return (indices[batch] for batch in sampler.batches(number))

    def _among_real(self, epoch: int) -> Iterator[np.ndarray]:
        """Groups that stay together, in random order, in batches up to the budget."""
        settings = self.settings
        rng = np.random.default_rng((settings.train.seed, epoch))
        bugs = np.flatnonzero(self._fitting(self.real & ~self.clean))
        repaired = np.append(self.real & self.clean, False)
        groups = [np.arange(bug, bug + 1 + repaired[bug + 1]) for bug in bugs]
        for kind, each in ((self.clean, settings.clean_per_real), (~self.clean, settings.planted_per_real)):
            others = np.flatnonzero(self._fitting(kind & ~self.dense & ~self.real))
            drawn = rng.permutation(others)[: round(each * len(bugs))]
            groups += np.split(drawn, len(drawn)) if len(drawn) else []
        sizes = [int(self.sizes[group].sum()) for group in groups]
        sampler = BudgetSampler(sizes=sizes, budget=settings.budget, seed=settings.train.seed)
        return (np.concatenate([groups[i] for i in batch]) for batch in sampler.batches(epoch))

    def _fitting(self, chosen: np.ndarray) -> np.ndarray:
        """Those of some samples that are not too large."""
        largest = self.settings.largest
        return chosen if largest is None else chosen & (self.sizes <= largest)

    def _readable(self, batches: Iterable[Sequence[int] | np.ndarray]) -> list[np.ndarray]:
        read = (np.asarray(batch)[self.readable[batch]] for batch in batches)
        return [batch for batch in read if len(batch)]
