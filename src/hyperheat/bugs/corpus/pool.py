"""One job for each package, in worker processes of this machine."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from hyperheat.bugs.corpus.outcome import Outcome, attempt
from hyperheat.workers.limits import Limits
from hyperheat.workers.pool import run_jobs
from hyperheat.workers.serve import Lost

__all__ = ["SECONDS_PER_PACKAGE", "run_in_processes"]

SECONDS_PER_PACKAGE = 1800.0
Job = TypeVar("Job")


def run_in_processes(
    stage: Callable[[Job], int], jobs: Iterable[Job], workers: int, *, seconds: float = SECONDS_PER_PACKAGE
) -> Iterator[tuple[Job, Outcome]]:
    """Do the jobs in some processes and yield each with its outcome as soon as it is there."""
    limits = Limits(seconds=seconds)
    work, preload = partial(attempt, stage), [stage.__module__]
    for job, result in run_jobs(work, jobs, workers=workers, limits=limits, preload=preload):
        if isinstance(result, Lost):
            result = Outcome(problem=result.reason, passing=result.late)
        yield job, result
