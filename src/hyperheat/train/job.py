"""What a task gives the loop, and its batches as one endless stream cut into steps.

No batch is dropped, and a resumed run finds its place by arithmetic.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from torch import Tensor, nn

__all__ = ["Job", "Step", "StreamPosition", "prefetch", "steps"]

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
_AHEAD = 2  # batches loaded before they are used


class Job(Protocol[B, T]):
    """A model, its data and its loss. B describes a batch (say, a list of sample numbers), T holds its tensors."""

    model: nn.Module

    def describe(self) -> Mapping[str, Any]:
        """What decides the result beside the settings of the loop, as JSON values; a resumed run must agree with it."""
        ...

    def batches(self, epoch: int) -> Sequence[B]:
        """The batches of an epoch in order: a function of a seed and the epoch alone."""
        ...

    def weight(self, batch: B) -> float:
        """How much a batch counts: the number of its samples."""
        ...

    def load(self, batch: B) -> T:
        """The tensors of a batch, on the CPU; called in a background thread while earlier batches are computed."""
        ...

    def loss(self, tensors: T) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss, and numbers without gradient to log (of the same names in every batch), summed over the samples.

        The loop has moved the model to its device; the tensors are moved here.
        """
        ...

    def validate(self) -> Mapping[str, float]:
        """Numbers on held-out data, one of which the settings watch; called in the first process, in eval mode."""
        ...

    def save(self, folder: Path) -> None:
        """Write what is needed to use the model. Of its files only the weights may change during a run."""
        ...


class StreamPosition(NamedTuple):
    """A place in the stream: the epoch, and the next batch in it."""

    epoch: int = 0
    batch: int = 0


@dataclass(frozen=True, kw_only=True)
class Step(Generic[B]):
    """The batches of one update; the last step of an epoch may take some of the next."""

    batches: list[B]
    weight: float
    end: StreamPosition
    epoch_size: int
    """Batches in the epoch of the step's last batch."""


def steps(job: Job[B, Any], size: int, start: StreamPosition) -> Iterator[Step[B]]:
    """The steps of `size` batches from a position on, without end."""
    stream = _batches(job, start)
    while True:
        taken = list(islice(stream, size))
        batches = [batch for batch, _, _ in taken]
        weight = float(sum(job.weight(batch) for batch in batches))
        if not weight > 0:
            raise ValueError(f"weight: expected more than 0 in every step, got {weight}")
        yield Step(batches=batches, weight=weight, end=taken[-1][1], epoch_size=taken[-1][2])


def _batches(job: Job[B, Any], start: StreamPosition) -> Iterator[tuple[B, StreamPosition, int]]:
    """Each batch, the position after it, and the size of its epoch."""
    epoch, first = start
    while True:
        order = job.batches(epoch)
        if len(order) == 0:
            raise ValueError(f"batches({epoch}): expected at least one batch, got none")
        for index in range(first, len(order)):
            end = StreamPosition(epoch, index + 1) if index + 1 < len(order) else StreamPosition(epoch + 1, 0)
            yield order[index], end, len(order)
        epoch, first = epoch + 1, 0


def prefetch(items: Iterable[A], load: Callable[[A], T]) -> Generator[T, None, None]:
    """`map(load, items)`, loaded ahead in a background thread."""
    waiting: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(1, thread_name_prefix="load")
    try:
        for item in items:
            waiting.append(pool.submit(load, item))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
