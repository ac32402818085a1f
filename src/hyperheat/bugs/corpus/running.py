"""One job for each package or repository: on this machine or a cluster, with progress, and failures by name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from hyperheat.bugs.corpus.outcome import DiskFullError, Outcome
from hyperheat.bugs.corpus.pool import run_in_processes
from hyperheat.bugs.corpus.ray_tasks import run_on_ray
from hyperheat.progress import Progress

__all__ = ["NamedJob", "run_each"]


class NamedJob(Protocol):
    """A job with the name of what it works on, and the folder that it writes to."""

    @property
    def name(self) -> str: ...

    @property
    def out(self) -> Path: ...


Job = TypeVar("Job", bound=NamedJob)


def run_each(
    stage: Callable[[Job], int],
    jobs: Sequence[Job],
    *,
    title: str,
    unit: str,
    what: str = "packages",
    workers: int = 1,
    ray: str | None = None,
    remarks: Callable[[Job], Sequence[str]] = lambda _: (),
) -> tuple[int, dict[str, Outcome]]:
    """Do all jobs; the sum of their counts, and the outcomes of those that failed by name.

    `remarks` are what is to be said about a job that is done. A full disk ends the run: it concerns all jobs.
    """
    total, failed = 0, {}
    if not jobs:
        return total, failed
    outcomes = run_on_ray(stage, jobs, ray) if ray else run_in_processes(stage, jobs, workers)
    with Progress(title, total=len(jobs), unit=what, counted=unit) as progress:
        for job, outcome in outcomes:
            if outcome.disk_full:
                raise DiskFullError(
                    f"{job.out}: no room to write ({outcome.problem}); make room and run the same command again, "
                    f"finished {what} are kept"
                )
            if outcome.problem:
                failed[job.name] = outcome
                progress.say(f"{job.name}: {outcome.problem}")
            else:
                for remark in remarks(job):
                    progress.say(remark)
            total += outcome.count
            progress.advance(outcome.count)
    return total, failed
