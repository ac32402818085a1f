"""A corpus from packages: index all, drop what is there twice, make samples of the rest.

Every step leaves its result in the folder of the corpus, whole or not at all. A build that was ended at any moment
goes on where it was, and its result does not depend on that, nor on the number of workers.
"""

import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hyperheat
from hyperheat.bugs.corpus import stages
from hyperheat.bugs.corpus.download import PARTIAL
from hyperheat.bugs.corpus.duplicates import plan_packages
from hyperheat.bugs.corpus.index import PackageIndex
from hyperheat.bugs.corpus.lock import hold_lock
from hyperheat.bugs.corpus.manifest import make_manifest
from hyperheat.bugs.corpus.packages import CorpusError, Package
from hyperheat.bugs.corpus.records import read_record, write_record
from hyperheat.bugs.corpus.running import run_each
from hyperheat.bugs.corpus.settings import Settings, Workspace
from hyperheat.bugs.corpus.stages import Job
from hyperheat.rewrites.planting import MIN_CANDIDATES

__all__ = ["Built", "build_corpus"]

Stage = Callable[[Job], int]


@dataclass(frozen=True)
class _Where:
    """The processes of this machine that work, or the cluster that does."""

    workers: int
    ray: str | None


@dataclass(frozen=True, kw_only=True)
class Built:
    """The manifest of a corpus; how many of its samples this run made, and in how many seconds."""

    manifest: dict[str, Any]
    samples_made: int
    seconds: float


def build_corpus(
    packages: list[Package], out: Path, settings: Settings, *, workers: int = 2, ray: str | None = None
) -> Built:
    """Build a corpus in a folder, or finish the one begun there with the same settings."""
    out = out.resolve()
    space = Workspace(out)
    where = _Where(workers, ray)
    with _alone(space):
        begun = _begin(space, packages, settings)
        jobs = [Job(package=package, out=out, settings=settings) for package in packages]
        planned = _plan(space, jobs, where)
        jobs = [job for job in jobs if job.name in planned["packages"]]
        left = [job for job in jobs if not stages.is_made(space, job.name)]
        start = time.monotonic()
        made, failed = _run_all(stages.make, left, where, "making", "samples")
        seconds = time.monotonic() - start
        names = [job.name for job in jobs if job.name not in failed]
        manifest = make_manifest(space, names, begun, {**planned["failed"], **failed})
        if not manifest["shards"]:
            files = manifest["counts"]["files"]
            raise CorpusError(
                f"expected functions with {MIN_CANDIDATES} or more candidates, got none in {files} files"
            )
        write_record(out / "manifest.json", manifest)
    return Built(manifest=manifest, samples_made=made, seconds=seconds)


def _begin(space: Workspace, packages: list[Package], settings: Settings) -> dict[str, Any]:
    """Write down what is being built, or check that it is the same as before."""
    record = {
        "settings": {**asdict(settings), "names": [_requirement(package) for package in packages]},
        "hyperheat": hyperheat.__version__,
        "python": platform.python_version(),
    }
    if space.settings.exists():
        before = read_record(space.settings)
        if not space.planned.exists():  # until then, every package was looked at alone
            before["settings"]["names"] = record["settings"]["names"]
        flat, flat_before = ({**r, **r["settings"]} for r in (record, before))
        for key in sorted(flat.keys() - {"settings"}):
            if flat[key] != flat_before.get(key):
                expected, got = (_brief(r.get(key)) for r in (flat_before, flat))
                raise CorpusError(
                    f"{space.out}: expected to go on with {key} = {expected}, as this corpus was begun, got {got}; "
                    "choose another folder"
                )
    write_record(space.settings, record)
    space.make_folders()
    return record


def _plan(space: Workspace, jobs: list[Job], where: _Where) -> dict[str, Any]:
    """Pass one and the removal of duplicates; from then on it is settled which packages take part."""
    if not space.planned.exists():
        left = [job for job in jobs if not (space.indexes / f"{job.name}.json").exists()]
        _, failed = _run_all(stages.index, left, where, "reading", "files")
        indexes = {
            job.name: PackageIndex.read(space.indexes, job.name) for job in jobs if job.name not in failed
        }
        if not indexes:
            name, reason = next(iter(failed.items()))
            raise CorpusError(f"expected packages that can be read, got none; {name}: {reason}")
        for name, plan in plan_packages(indexes).items():
            write_record(space.plans / f"{name}.json", plan)
        write_record(space.planned, {"packages": sorted(indexes), "failed": failed})
    return read_record(space.planned)


def _run_all(
    stage: Stage, jobs: list[Job], where: _Where, title: str, unit: str
) -> tuple[int, dict[str, str]]:
    """Do all jobs, and give the sum of their counts and the reasons of those that failed.

    Failures that say nothing about the package end the build, or the corpus would depend on them.
    """
    total, failed = run_each(stage, jobs, title=title, unit=unit, workers=where.workers, ray=where.ray)
    passing = [name for name, outcome in failed.items() if outcome.passing]
    if passing:
        raise CorpusError(
            f"{len(passing)} packages failed for now, first {passing[0]}: {failed[passing[0]].problem}; run the same "
            "command again to try them again, all others are kept"
        )
    return total, {name: outcome.problem for name, outcome in failed.items()}


@contextmanager
def _alone(space: Workspace) -> Iterator[None]:
    """Keep other builds out of the folder, and remove what an ended build has left half done."""
    if space.out.exists():
        others = [path for path in space.out.iterdir() if path != space.work]
        if others and not space.settings.exists():
            raise CorpusError(f"{space.out}: expected a new or empty folder or a corpus, got other files")
    with hold_lock(space.work, f"{space.out}: expected no other build in this folder, got one"):
        _tidy(space)
        try:
            yield
        finally:
            _tidy(space)


def _tidy(space: Workspace) -> None:
    for path in space.out.rglob(".*.tmp"):
        path.unlink(missing_ok=True)
    for folder in (*space.unpacked.glob("*"), *space.archives.glob(f".*{PARTIAL}")):
        shutil.rmtree(folder, ignore_errors=True)


def _requirement(package: Package) -> str:
    return f"{package.name}=={package.version}" if package.version else package.name


def _brief(value: Any) -> str:
    return f"{len(value)} names" if isinstance(value, list) else str(value)
