"""What workers do for a scan: read a file, extract its functions and score them.

Workers load this module and what it needs, so it is kept apart from the search for files, the cache and the reports.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hyperheat.check.preload import MODULES, load_once
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import WorkersError

if TYPE_CHECKING:
    from hyperheat.check.records import PartialRecord
    from hyperheat.detector import SampleScores, Scorer
    from hyperheat.detector.detector import Detector
    from hyperheat.detector.sample import Sample

__all__ = [
    "LIMITS",
    "FileJob",
    "FileWork",
    "load_scorer",
    "model_errors",
    "run_in_workers",
    "score_alone",
    "score_in_worker",
]

LIMITS = Limits(seconds=300, work_seconds=10, memory=1 << 30)
"""What looking at a file may use: time on the clock and memory in all, work for reading it and for each function."""

JobT = TypeVar("JobT")


@dataclass(frozen=True, slots=True)
class FileJob:
    """A file for a worker: its place in the scan, its bytes, and the functions whose results are known."""

    number: int
    data: bytes
    known: frozenset[str]
    is_notebook: bool


@dataclass(frozen=True, slots=True)
class FileWork:
    """What a worker does with a job."""

    detector: "Detector"
    limits: Limits
    max_bytes: int

    def __call__(self, job: FileJob) -> "Iterator[PartialRecord | None]":
        if job.is_notebook:
            from hyperheat.check.notebook_analysis import analyse_notebook as analyse_job
        else:
            from hyperheat.check.analysis import analyse_parts as analyse_job
        score = partial(score_in_worker, self.detector, self.limits)
        most, calibration = self.max_bytes, self.detector.calibration
        return analyse_job(job.data, job.known, score, calibration, max_characters=most)


def score_in_worker(detector: "Detector", limits: Limits, sample: "Sample") -> "SampleScores":
    """What the detector says of a function, within the limits for one function."""
    with model_errors():
        scorer = load_scorer(detector, limits)
        limits.begin_job()
        return score_alone(scorer, sample)


@contextmanager
def model_errors() -> Iterator[None]:
    """What is wrong with a model concerns all files."""
    from hyperheat.detector.manifest import ModelError

    try:
        yield
    except ModelError as error:
        raise WorkersError(str(error)) from None


def run_in_workers(
    work: Callable[[JobT], Any],
    jobs: Iterable[JobT],
    detector: "Detector",
    *,
    workers: int,
    limits: Limits,
    on_part: Callable[[JobT, Any], object] | None = None,
) -> Iterator[tuple[JobT, Any]]:
    """Do jobs in processes with limits, in which the detector is loaded; `on_part` sees each part of a result at once.

    If there are none, because all results are known, not even what starts processes is loaded.
    """
    left = iter(jobs)
    first = next(left, None)
    if first is None:
        return
    from hyperheat.workers.pool import run_jobs

    prepare = partial(load_once, detector.folder, detector.key)
    yield from run_jobs(
        work,
        chain([first], left),
        workers=workers,
        limits=limits,
        preload=MODULES,
        prepare=prepare,
        on_part=on_part,
    )


def load_scorer(detector: "Detector", limits: Limits = LIMITS) -> "Scorer":
    """What scores functions, loaded and tried once in a process; raises ModelError."""
    return _load_scorer(detector.folder, detector.key, limits)


@lru_cache(maxsize=1)
def _load_scorer(folder: Path, key: str, limits: Limits) -> "Scorer":
    from hyperheat.check.analysis import try_model
    from hyperheat.detector import Scorer
    from hyperheat.detector.manifest import ModelError

    try:
        scorer = Scorer.of(load_once(folder, key))
    except ValueError as error:  # files that are not those of the manifest
        raise ModelError(str(error)) from None
    try_model(scorer, limits)
    return scorer


def score_alone(scorer: "Scorer", sample: "Sample") -> "SampleScores":
    from hyperheat.pycode import TooMuchSource

    problem = scorer.problem(sample)
    if problem is not None:
        raise TooMuchSource(None, None, problem)
    return scorer.score_batch([sample])[0]
