"""The process that a run lives in: alone or one of several under `torchrun`, on a CPU or a GPU.

Also what a run changes in it and restores afterwards: signal handlers, deterministic algorithms, memory.
"""

import ctypes
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils import deterministic

__all__ = [
    "Interrupt",
    "World",
    "forget_products",
    "freed_memory_kept",
    "join",
    "repeatable",
    "seed_batch",
    "sum_over_processes",
]

S = TypeVar("S")
_PATIENCE = timedelta(hours=12)
"""The others wait while the first process validates; a process that dies is noticed by torchrun, not by this."""
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # numbers and defaults of glibc's mallopt
_TRIM_DEFAULT, _MMAP_DEFAULT = 128 * 1024, 65_536


@dataclass(frozen=True, kw_only=True)
class World:
    """The processes of a run, seen from one of them."""

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def share(self, items: Sequence[S]) -> Sequence[S]:
        """The items that this process handles."""
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


def sum_over_processes(count: int, device: torch.device) -> int:
    """A count of this process summed over all processes of the run; all must call this equally often."""
    if not distributed.is_available() or not distributed.is_initialized():
        return count
    tensor = torch.tensor(count, device=device)
    distributed.all_reduce(tensor)
    return int(tensor)


@contextmanager
def join(device: str) -> Iterator[World]:
    """Join the processes that torchrun started, or be the only one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: expected cpu, got cuda; torch finds no GPU on this machine")
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


class Interrupt:
    """Inside its `with` block, the first Ctrl-C or SIGTERM is noted and the second raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


def seed_batch(seed: int, step: int, place: int) -> None:
    """Seed torch for one batch of one step, whichever process computes it."""
    sequence = np.random.SeedSequence((seed, step, place))
    torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))


@contextmanager
def repeatable(threads: int | None) -> Iterator[None]:
    """Use deterministic algorithms where torch has them, and a number of threads."""
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


def forget_products() -> None:
    """Keep torch from caching a thousand compiled bfloat16 products, which take gigabytes: most shapes never come again.

    A few hundred hold those that do. Call it before the process's first product of that kind.
    """
    for name, capacity in (("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256"), ("LRU_CACHE_CAPACITY", "1")):
        os.environ.setdefault(name, capacity)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep the process from giving large freed blocks back to the system, where its C library is glibc.

    Getting them back page by page takes up to a fifth of the time of a step with large tensors.
    """
    try:
        library = ctypes.CDLL(None)
        set_option, trim = library.mallopt, library.malloc_trim
    except (OSError, AttributeError, TypeError):
        yield
        return
    set_option(_MMAP_MAX, 0)
    set_option(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        set_option(_MMAP_MAX, _MMAP_DEFAULT)
        set_option(_TRIM_THRESHOLD, _TRIM_DEFAULT)
        trim(0)
