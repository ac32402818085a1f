"""Batches as one endless stream cut into steps, so that no batch is dropped and resuming is arithmetic."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from hyperheat.train.job import Job

__all__ = ["Position", "Step", "prefetch", "steps"]

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


class Position(NamedTuple):
    """A place in the stream: the epoch, and the next batch in it."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True, kw_only=True)
class Step(Generic[B]):
    """The batches of one update; the last step of an epoch may take some of the next."""

    batches: list[B]
    weight: float
    end: Position
    epoch_size: int
    """Batches in the epoch of the step's last batch."""


def steps(job: Job[B, Any], size: int, start: Position) -> Iterator[Step[B]]:
    """The steps of `size` batches from a position on, without end."""
    stream = _batches(job, start)
    while True:
        taken = list(islice(stream, size))
        batches = [batch for batch, _, _ in taken]
        weight = float(sum(job.weight(batch) for batch in batches))
        if not weight > 0:
            raise ValueError(f"weight: expected more than 0 in every step, got {weight}")
        yield Step(batches=batches, weight=weight, end=taken[-1][1], epoch_size=taken[-1][2])


def _batches(job: Job[B, Any], start: Position) -> Iterator[tuple[B, Position, int]]:
    """Each batch, the position after it, and the size of its epoch."""
    epoch, first = start
    while True:
        order = job.batches(epoch)
        if len(order) == 0:
            raise ValueError(f"batches({epoch}): expected at least one batch, got none")
        for index in range(first, len(order)):
            end = Position(epoch, index + 1) if index + 1 < len(order) else Position(epoch + 1, 0)
            yield order[index], end, len(order)
        epoch, first = epoch + 1, 0


def prefetch(items: Iterable[A], load: Callable[[A], T], ahead: int = 2) -> Generator[T, None, None]:
    """`map(load, items)` with `ahead` items being loaded in a background thread."""
    waiting: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(1, thread_name_prefix="load")
    try:
        for item in items:
            waiting.append(pool.submit(load, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
