"""One job per package or repository, in worker processes of this machine or as tasks of a Ray cluster.

A job that fails is reported by name and does not stop the others. On a cluster, all machines need hyperheat installed
and the folders of the data under the same path.
"""

import errno
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hyperheat.bugs.corpus.packages import PassingError
from hyperheat.progress import Progress
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost
from hyperheat.workers.pool import run_jobs

__all__ = [
    "SECONDS_PER_PACKAGE",
    "DiskFullError",
    "JobResult",
    "NamedJob",
    "run_each",
    "run_in_processes",
    "run_on_ray",
]

SECONDS_PER_PACKAGE = 1800.0
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NamedJob(Protocol):
    """A job, the name of what it works on, and the folder that it writes to."""

    @property
    def name(self) -> str: ...

    @property
    def out(self) -> Path: ...


JobT = TypeVar("JobT")
AnyJob = TypeVar("AnyJob", bound=NamedJob)


class DiskFullError(OSError):
    """The disk is full; unlike a bad package, this affects all packages."""


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """The count that a stage returned, or why it failed; `passing` if a retry may succeed."""

    count: int = 0
    problem: str = ""
    disk_full: bool = False
    passing: bool = False


def run_each(
    stage: Callable[[AnyJob], int],
    jobs: Sequence[AnyJob],
    *,
    title: str,
    unit: str,
    what: str = "packages",
    workers: int = 1,
    ray: str | None = None,
    remarks: Callable[[AnyJob], Sequence[str]] = lambda _: (),
) -> tuple[int, dict[str, JobResult]]:
    """Run all jobs; return the sum of their counts, and the results of those that failed by name.

    `remarks` gives messages about a finished job. A full disk ends the run, since it affects all jobs.
    """
    total, failed = 0, {}
    if not jobs:
        return total, failed
    results = run_on_ray(stage, jobs, ray) if ray else run_in_processes(stage, jobs, workers)
    with Progress(title, total=len(jobs), unit=what, counted=unit) as progress:
        for job, result in results:
            if result.disk_full:
                raise DiskFullError(
                    f"{job.out}: no space left to write ({result.problem}); free some space and run the same command again, "
                    f"finished {what} are kept"
                )
            if result.problem:
                failed[job.name] = result
                progress.say(f"{job.name}: {result.problem}")
            else:
                for remark in remarks(job):
                    progress.say(remark)
            total += result.count
            progress.advance(result.count)
    return total, failed


def attempt(stage: Callable[[JobT], int], job: JobT) -> JobResult:
    """Run a job; any error becomes the reason in its result."""
    try:
        return JobResult(count=stage(job))
    except OSError as error:
        full = error.errno in _FULL
        return JobResult(problem=f"{error.strerror or error}", disk_full=full)
    except Exception as error:  # one bad package must not stop the rest
        name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        return JobResult(problem=f"{name}{error}", passing=isinstance(error, PassingError))


def run_in_processes(
    stage: Callable[[JobT], int], jobs: Iterable[JobT], workers: int, *, seconds: float = SECONDS_PER_PACKAGE
) -> Iterator[tuple[JobT, JobResult]]:
    """Run jobs in worker processes and yield each with its result as soon as it is done."""
    limits = Limits(seconds=seconds)
    work, preload = partial(attempt, stage), [stage.__module__]
    for job, result in run_jobs(work, jobs, workers=workers, limits=limits, preload=preload):
        if isinstance(result, Lost):
            result = JobResult(problem=result.reason, passing=result.late)
        yield job, result


def run_on_ray(
    stage: Callable[[JobT], int], jobs: Iterable[JobT], address: str
) -> Iterator[tuple[JobT, JobResult]]:
    """Run jobs on a cluster and yield each with its result; the address `local` starts a cluster here."""
    ray = _connect(address)
    running: dict[Any, tuple[JobT, float]] = {}
    try:
        task = ray.remote(num_cpus=1, max_retries=1)(attempt)
        at_once = max(1, int(ray.cluster_resources().get("CPU", 1)))
        left = iter(jobs)
        while True:
            while len(running) < at_once and (job := next(left, None)) is not None:
                running[task.remote(stage, job)] = (job, time.monotonic() + SECONDS_PER_PACKAGE)
            if not running:
                return
            remaining = min(deadline for _, deadline in running.values()) - time.monotonic()
            done, _ = ray.wait(list(running), timeout=max(remaining, 0))
            for reference in done:
                yield running.pop(reference)[0], _result(ray, reference)
            late = [reference for reference, (_, end) in running.items() if end <= time.monotonic()]
            for reference in late:
                ray.cancel(reference, force=True)
                problem = f"it took more than {SECONDS_PER_PACKAGE:g} s"
                yield running.pop(reference)[0], JobResult(problem=problem, passing=True)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _connect(address: str) -> Any:
    """Connect to Ray; the connection stays open for the next pass and closes with the process."""
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            f"ray is needed for --ray ({error}): pip install 'hyperheat[ray]'", name="ray"
        ) from None
    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConnectionError(f"{address}: cannot connect to a Ray cluster: {error}") from None
    return ray


def _result(ray: Any, reference: Any) -> JobResult:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        return JobResult(problem=f"its Ray task failed: {str(error).strip().splitlines()[-1]}")
