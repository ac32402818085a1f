"""A training job with a meter: processor time, memory, and how fast it learns.

The readings survive being killed and resumed.
"""

import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from torch import Tensor, nn

from hyperheat.files import parse_json, write_whole_text
from hyperheat.train import Job

__all__ = ["MeteredJob", "Usage", "measure_rate", "steps_until"]

B = TypeVar("B")
T = TypeVar("T")
_FILE = "usage.json"
_MEASURED_SECONDS = 6.0


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a run has used, summed over resumed runs."""

    processor_seconds: float = 0.0
    validation_seconds: float = 0.0
    """Of the processor."""
    peak_mb: int = 0


class MeteredJob(Generic[B, T]):
    """The same job; every checkpoint says what was used until then."""

    model: nn.Module

    def __init__(self, job: Job[B, T], checkpoint: Path | None) -> None:
        self._job = job
        self.model = job.model
        path = None if checkpoint is None else checkpoint / _FILE
        before = Usage() if path is None or not path.exists() else Usage(**parse_json(path.read_text()))
        self._before, self._began, self._validating = before, time.process_time(), 0.0

    def usage(self) -> Usage:
        """What was used until now."""
        return Usage(
            processor_seconds=self._before.processor_seconds + time.process_time() - self._began,
            validation_seconds=self._before.validation_seconds + self._validating,
            peak_mb=max(self._before.peak_mb, _peak_mb()),
        )

    def describe(self) -> Mapping[str, Any]:
        """See `hyperheat.train.Job`, as for the others."""
        return self._job.describe()

    def batches(self, epoch: int) -> Sequence[B]:
        return self._job.batches(epoch)

    def weight(self, batch: B) -> float:
        return self._job.weight(batch)

    def load(self, batch: B) -> T:
        return self._job.load(batch)

    def loss(self, tensors: T) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        return self._job.loss(tensors)

    def validate(self) -> Mapping[str, float]:
        began = time.process_time()
        values = self._job.validate()
        self._validating += time.process_time() - began
        return values

    def save(self, folder: Path) -> None:
        self._job.save(folder)
        write_whole_text(folder / _FILE, json.dumps(asdict(self.usage())) + "\n")


def _peak_mb() -> int:
    """The largest memory that this process had, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def steps_until(job: Job[Any, Any], samples: float) -> int:
    """The number of steps of one batch in which a job sees at least so many samples."""
    seen, steps, epoch = 0.0, 0, 0
    while True:
        for batch in job.batches(epoch):
            seen += job.weight(batch)
            steps += 1
            if seen >= samples:
                return steps
        epoch += 1


def measure_rate(job: Job[Any, Any]) -> float:
    """Samples per second of wall time in training, from a few seconds of it that change nothing."""
    with _weights_kept(job.model):
        job.model.train()
        rates: list[tuple[float, float]] = []
        end = time.monotonic() + _MEASURED_SECONDS
        for batch in job.batches(0):
            began = time.monotonic()
            loss, _ = job.loss(job.load(batch))
            (loss / job.weight(batch)).backward()
            job.model.zero_grad()
            rates.append((job.weight(batch), time.monotonic() - began))
            if time.monotonic() > end:
                break
        timed = rates[len(rates) // 4 :]  # the first ones warm up
    return sum(weight for weight, _ in timed) / sum(seconds for _, seconds in timed)


@contextmanager
def _weights_kept(model: nn.Module) -> Iterator[None]:
    kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    try:
        yield
    finally:
        model.load_state_dict(kept)
        model.zero_grad()
