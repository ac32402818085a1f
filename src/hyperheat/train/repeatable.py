"""The same bits every time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.utils import deterministic

__all__ = ["repeatable", "seed_batch"]


def seed_batch(seed: int, step: int, place: int) -> None:
    """Seed torch for one batch of one step, whichever process computes it."""
    sequence = np.random.SeedSequence((seed, step, place))
    torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))


@contextmanager
def repeatable(threads: int | None) -> Iterator[None]:
    """Use algorithms that repeat their results to the bit, where torch has them, and a number of threads."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    fill = getattr(deterministic, "fill_uninitialized_memory")  # noqa: B009, a property unknown to type checkers
    torch.use_deterministic_algorithms(True, warn_only=True)
    setattr(deterministic, "fill_uninitialized_memory", False)  # noqa: B010
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        setattr(deterministic, "fill_uninitialized_memory", fill)  # noqa: B010
        torch.set_num_threads(before[1])
