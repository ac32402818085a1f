"""Mining of many packages: one job each, whose result stays in the folder, so that a run that was stopped goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.outcome import DiskFullError
from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.corpus.pool import run_in_processes
from hyperheat.bugs.corpus.progress import Progress
from hyperheat.bugs.corpus.ray_tasks import run_on_ray
from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.bugs.releases.history import mine_package
from hyperheat.bugs.releases.registry import Registry

__all__ = ["PackageJob", "mine_packages"]


@dataclass(frozen=True, kw_only=True)
class PackageJob:
    """One package to mine; `folder` gets its record."""

    name: str
    folder: Path
    registry: Registry
    most: int | None = None
    seconds: float | None = None

    @property
    def record(self) -> Path:
        """What was found in the package, or why it could not be mined."""
        return self.folder / f"{self.name}.json"


def mine_packages(
    jobs: list[PackageJob], *, workers: int = 2, ray: str | None = None, tell: Callable[[str], object] | None = None
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The records of all packages by name, and why some have none for now; packages with a record are not mined again."""
    left = [job for job in jobs if not job.record.exists()]
    run = partial(run_on_ray, address=ray) if ray else partial(run_in_processes, workers=workers)
    failed: dict[str, str] = {}
    progress = Progress("mining", len(left), "fixes")
    say = tell or progress.say
    try:
        for job, outcome in run(_mine, left) if left else ():
            if outcome.disk_full:
                raise DiskFullError(
                    f"{job.folder}: no room to write ({outcome.problem}); make room and run the same command again, "
                    "finished packages are kept"
                )
            if outcome.problem:
                failed[job.name] = outcome.problem
                say(f"{job.name}: {outcome.problem}")
            elif problems := read_record(job.record)["problems"]:
                more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
                say(f"{job.name}: {problems[0]}{more}")
            progress.add(outcome.count)
    finally:
        progress.close()
    return {job.name: read_record(job.record) for job in jobs if job.record.exists()}, failed


def _mine(job: PackageJob) -> int:
    """Mine a package and write its record; the number of its fixes."""
    try:
        history = mine_package(job.name, job.registry, most=job.most, seconds=job.seconds)
    except PassingError:
        raise
    except CorpusError as error:  # another attempt would not go better
        write_record(job.record, {"package": job.name, "releases": [], "fixes": [], "problems": [str(error)]})
        return 0
    write_record(job.record, history.to_json())
    return len(history.fixes)
