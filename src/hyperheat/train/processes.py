"""One process, or several under `torchrun`, on CPUs or GPUs."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

__all__ = ["World", "join"]

S = TypeVar("S")
_PATIENCE = timedelta(hours=12)
"""The others wait while the first process validates; a process that dies is noticed by torchrun, not by this."""


@dataclass(frozen=True, kw_only=True)
class World:
    """The processes of a run, seen from one of them."""

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process writes the files and speaks to the user."""
        return self.rank == 0

    def share(self, items: Sequence[S]) -> Sequence[S]:
        """The part of the items that falls to this process."""
        return items[self.rank :: self.size]

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with gradients averaged over the processes; a batch need not use all parameters."""
        return module if self.size == 1 else DistributedDataParallel(module, find_unused_parameters=True)

    def sum(self, values: Sequence[float]) -> list[float]:
        """Each value summed over the processes."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor)
        return tensor.tolist()

    def from_first(self, value: float) -> float:
        """The value that the first process has; the others wait for it."""
        return self.sum([value if self.first else 0.0])[0]


@contextmanager
def join(device: str) -> Iterator[World]:
    """Join the processes that torchrun started, or be the only one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: expected cpu, because torch finds no GPU here, got cuda")
    place = (
        torch.device(device, int(os.environ.get("LOCAL_RANK", "0")))
        if device == "cuda"
        else torch.device("cpu")
    )
    if place.type == "cuda":
        torch.cuda.set_device(place)
    if size == 1:
        yield World(rank=0, size=1, device=place)
        return
    distributed.init_process_group("nccl" if place.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield World(rank=distributed.get_rank(), size=size, device=place)
    finally:
        distributed.destroy_process_group()
