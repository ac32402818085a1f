"""Mining of packages and repositories into one folder of real bugs.

What was found in each of them stays in the folder, so that a run that was stopped goes on, and so that a folder can
be added to. From all that is there, each fix is then taken once and given its split and its weight.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from hyperheat.bugs.corpus.packages import CorpusError, PassingError, split_of
from hyperheat.bugs.corpus.pool import SECONDS_PER_PACKAGE
from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.bugs.corpus.running import run_each
from hyperheat.bugs.mining.distinct import distinct_fixes
from hyperheat.bugs.mining.folder import RealBugs
from hyperheat.bugs.mining.git import Repository
from hyperheat.bugs.mining.naming import package_of
from hyperheat.bugs.mining.references import write_records
from hyperheat.bugs.mining.sieve import Mining, mine
from hyperheat.bugs.mining.weights import weigh
from hyperheat.bugs.releases.history import mine_package
from hyperheat.bugs.releases.registry import Registry

__all__ = ["PackageSource", "RepositorySource", "Source", "gather", "take_distinct"]

SPLIT_SEED = 0
"""That of corpora by default, so that what one data set holds out is held out of all."""


class Source(Protocol):
    """Something to mine."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def mine(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class PackageSource:
    """The releases of a package: the newest `most`, and as many as can be compared in some seconds of processor time."""

    name: str
    registry: Registry
    most: int | None = None
    seconds: float | None = SECONDS_PER_PACKAGE / 2
    """Its worker is ended after SECONDS_PER_PACKAGE on the clock, with all that it has found."""

    @property
    def settings(self) -> dict[str, Any]:
        """What decides what is found."""
        return {"max_releases": self.most}

    def mine(self) -> dict[str, Any]:
        """What was found, or why nothing can be found; raises PassingError where another attempt may go better."""
        try:
            history = mine_package(self.name, self.registry, most=self.most, seconds=self.seconds)
        except PassingError:
            raise
        except CorpusError as error:
            return {"fixes": [], "counts": {}, "problems": [str(error)]}
        return history.to_json()


@dataclass(frozen=True, kw_only=True)
class RepositorySource:
    """A git history."""

    folder: Path
    mining: Mining

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def name(self) -> str:
        """The owner and the name of the repository."""
        return Repository.open(self.folder).name.replace("/", "+")

    @property
    def settings(self) -> dict[str, Any]:
        """What decides what is found."""
        return asdict(self.mining)

    def mine(self) -> dict[str, Any]:
        """What was found, oldest first."""
        repository = Repository.open(self.folder)
        counts: Counter[str] = Counter()
        fixes = list(mine(repository, self.mining, counts))[::-1]
        package = package_of(repository)
        return {
            "fixes": [{**fix, "released_as": package} for fix in fixes],
            "counts": dict(counts),
            "problems": [],
        }


@dataclass(frozen=True, kw_only=True)
class _Job:
    name: str
    source: Source
    record: Path

    @property
    def out(self) -> Path:
        return self.record.parents[2]


def gather(
    sources: Sequence[Source], out: Path, *, workers: int = 1, ray: str | None = None
) -> tuple[list[dict[str, Any]], Counter[str], dict[str, str]]:
    """Mine all sources that the folder does not have yet, and write the references to all that it has then.

    Gives the references, counts of what was looked at, and the sources that could not be mined with the reason.
    """
    folder = RealBugs(out)
    jobs, failed = _jobs(sources, folder)
    counts: Counter[str] = Counter()
    if not jobs and not folder.mined.exists():
        return [], counts, failed
    with folder.alone():
        folder.mined.mkdir(exist_ok=True)
        _, lost = run_each(
            _mine,
            [job for job in jobs if not _is_mined(job)],
            title="mining",
            unit="fixes",
            what="projects",
            workers=workers,
            ray=ray,
            remarks=_remarks,
        )
        failed |= {name: outcome.problem for name, outcome in lost.items()}
        records = [read_record(path) for path in sorted(folder.mined.glob("*.json"))]
        for record in records:
            counts.update(record["counts"])
        found = take_distinct([record["fixes"] for record in records], counts)
        if records:
            write_records(found, folder.references)
    return found, +counts, failed


def _jobs(sources: Sequence[Source], folder: RealBugs) -> tuple[list[_Job], dict[str, str]]:
    """A job for each source, and the reasons, which are said at once, why some sources have none."""
    jobs: dict[str, _Job] = {}
    failed: dict[str, str] = {}
    for source in sources:
        try:
            job = _Job(name=source.name, source=source, record=folder.mined / f"{source.name}.json")
            if jobs.setdefault(job.name, job).source != source:
                name = job.name.replace("+", "/", 1)
                raise ValueError(
                    f"{source}: {jobs[job.name].source} is called {name}, too; mine them into different folders"
                )
        except (ValueError, OSError) as error:
            failed[str(source)] = str(error)
            sys.stderr.write(f"{error}\n")
    return list(jobs.values()), failed


def take_distinct(
    projects: Sequence[list[dict[str, Any]]], counts: Counter[str] | None = None
) -> list[dict[str, Any]]:
    """Each fix of several projects once, with its split and its weight."""
    return [
        {**record, "split": split_of(_released_name(record), SPLIT_SEED), "weight": weigh(record)}
        for record in distinct_fixes(projects, counts)
    ]


def _released_name(record: dict[str, Any]) -> str:
    return record.get("package") or record.get("released_as") or record["repo"].partition("/")[2]


def _is_mined(job: _Job) -> bool:
    if not job.record.exists():
        return False
    before = read_record(job.record)["settings"]
    if before != job.source.settings:
        names = sorted(k for k, v in job.source.settings.items() if before.get(k) != v)
        raise ValueError(
            f"{job.out} already has what was mined from {job.name} with another value of {', '.join(names)}; "
            "choose another folder"
        )
    return True


def _remarks(job: _Job) -> list[str]:
    """The first problem that was met, and how many more there were."""
    problems = read_record(job.record)["problems"]
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return [f"{job.name}: {problem}{more}" for problem in problems[:1]]


def _mine(job: _Job) -> int:
    """Mine a source and write its record; the number of its fixes."""
    record = job.source.mine()
    write_record(job.record, {**record, "settings": job.source.settings})
    return len(record["fixes"])
