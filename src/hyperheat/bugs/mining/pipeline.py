"""The two steps of a folder of real bugs: mine references to fixes, then make their samples.

What was found in each package or repository stays in the folder, so a stopped run can continue and more projects can be
added. Each fix is then taken once, from all that is there, with its split and its weight.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from hyperheat.bugs.corpus.jobs import SECONDS_PER_PACKAGE, run_each
from hyperheat.bugs.corpus.packages import CorpusError, PassingError
from hyperheat.bugs.corpus.workspace import load_record, save_record
from hyperheat.bugs.mining.commits import Mining, mine, package_of
from hyperheat.bugs.mining.fix_selection import take_distinct
from hyperheat.bugs.mining.real_bugs import RealBugs, Tally
from hyperheat.bugs.mining.references import AnyReference, Reference, ReleaseReference, write_records
from hyperheat.bugs.mining.registry import Registry
from hyperheat.bugs.mining.releases import mine_package
from hyperheat.bugs.mining.repository import Repository
from hyperheat.bugs.mining.samples import commit_samples, package_samples, repository_samples
from hyperheat.bugs.shards import check_parquet

__all__ = ["MiningSource", "PackageSource", "Places", "Realised", "RepositorySource", "gather", "realise"]


class MiningSource(Protocol):
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
    """A worker is killed after SECONDS_PER_PACKAGE of real time, and everything that it has found is lost."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that affect what is found."""
        return {"max_releases": self.most}

    def mine(self) -> dict[str, Any]:
        """What was found, or why nothing can be found; raises PassingError if a retry may succeed."""
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
        """The settings that affect what is found."""
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
class _MiningJob:
    name: str
    source: MiningSource
    record: Path

    @property
    def out(self) -> Path:
        return self.record.parents[2]


def gather(
    sources: Sequence[MiningSource], out: Path, *, workers: int = 1, ray: str | None = None
) -> tuple[list[dict[str, Any]], Counter[str], dict[str, str]]:
    """Mine the sources that are not in the folder yet, and write the references of all that are in it.

    Returns the references, counts of what was looked at, and why some sources could not be mined.
    """
    folder = RealBugs(out)
    jobs, failed = _mining_jobs(sources, folder)
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
        failed |= {name: result.problem for name, result in lost.items()}
        records = [load_record(path) for path in sorted(folder.mined.glob("*.json"))]
        for record in records:
            counts.update(record["counts"])
        found = take_distinct([record["fixes"] for record in records], counts)
        if records:
            write_records(found, folder.references)
    return found, +counts, failed


def _mining_jobs(
    sources: Sequence[MiningSource], folder: RealBugs
) -> tuple[list[_MiningJob], dict[str, str]]:
    """A job for each source, and why some sources have none; the reasons are printed at once."""
    jobs: dict[str, _MiningJob] = {}
    failed: dict[str, str] = {}
    for source in sources:
        try:
            job = _MiningJob(name=source.name, source=source, record=folder.mined / f"{source.name}.json")
            if jobs.setdefault(job.name, job).source != source:
                name = job.name.replace("+", "/", 1)
                raise ValueError(
                    f"{source}: {jobs[job.name].source} has the same name, {name}; mine them into different folders"
                )
        except (ValueError, OSError) as error:
            failed[str(source)] = str(error)
            sys.stderr.write(f"{error}\n")
    return list(jobs.values()), failed


def _is_mined(job: _MiningJob) -> bool:
    if not job.record.exists():
        return False
    before = load_record(job.record)["settings"]
    if before != job.source.settings:
        names = sorted(k for k, v in job.source.settings.items() if before.get(k) != v)
        raise ValueError(
            f"{job.out} already has what was mined from {job.name} with a different {', '.join(names)}; "
            "choose another folder"
        )
    return True


def _remarks(job: _MiningJob) -> list[str]:
    """The first problem, and how many more there were."""
    problems = load_record(job.record)["problems"]
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return [f"{job.name}: {problem}{more}" for problem in problems[:1]]


def _mine(job: _MiningJob) -> int:
    """Mine a source, write its record, and return the number of its fixes."""
    record = job.source.mine()
    save_record(job.record, {**record, "settings": job.source.settings})
    return len(record["fixes"])


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where histories are: a folder of repositories, or some repositories by name, and a package index."""

    repos: Path | None = None
    repositories: dict[str, Path] | None = None
    clone: bool = False
    registry: Registry | None = None


@dataclass(frozen=True, kw_only=True)
class Realised:
    """What became of the references, how long it took, and why some projects failed."""

    tally: Tally
    manifest: dict[str, Any]
    seconds: float
    failed: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class _SampleJob:
    """The references to one project."""

    name: str
    references: list[AnyReference]
    out: Path
    places: Places
    with_clean: bool


def realise(
    references: Iterable[AnyReference],
    out: Path,
    places: Places,
    *,
    with_clean: bool = False,
    replace: bool = False,
    settings: dict[str, Any],
    report: dict[str, Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
) -> Realised:
    """Write the samples of references into a folder; what is left out is listed in `left_out.jsonl` with the reason.

    Finished projects are kept. One whose references have changed is remade if `replace` is set; otherwise ValueError
    is raised.
    """
    check_parquet()
    begun = time.perf_counter()
    folder = RealBugs(out)
    with folder.alone():
        jobs = [
            _SampleJob(name=name, references=group, out=out, places=places, with_clean=with_clean)
            for name, group in _by_project(references).items()
            if not folder.is_made(group, with_clean=with_clean, replace=replace)
        ]
        _, failed = run_each(
            _make,
            jobs,
            title="making",
            unit="samples",
            what="projects",
            workers=workers,
            ray=ray,
            remarks=lambda job: folder.problems(job.name),
        )
        manifest, tally = folder.finish(settings, report)
    return Realised(
        tally=tally,
        manifest=manifest,
        seconds=time.perf_counter() - begun,
        failed={name: result.problem for name, result in failed.items()},
    )


def _make(job: _SampleJob) -> int:
    released = [r for r in job.references if isinstance(r, ReleaseReference)]
    committed = [r for r in job.references if isinstance(r, Reference)]
    places, with_clean = job.places, job.with_clean
    if released:
        result = package_samples(released, places.registry or Registry.configured(), with_clean=with_clean)
    elif places.repositories is not None:
        repository = Repository(Repository.open(places.repositories[job.name]).folder, job.name)
        result = repository_samples(committed, repository, with_clean=with_clean)
    else:
        assert places.repos is not None
        result = commit_samples(committed, places.repos, clone=places.clone, with_clean=with_clean)
    return RealBugs(job.out).write(job.references, result, with_clean=with_clean)


def _by_project(references: Iterable[AnyReference]) -> dict[str, list[AnyReference]]:
    """References by project, sorted by name; names of repositories have a slash, those of packages have none."""
    groups: dict[str, list[AnyReference]] = {}
    for reference in references:
        groups.setdefault(reference.project, []).append(reference)
    return dict(sorted(groups.items()))
