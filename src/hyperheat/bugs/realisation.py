"""References to fixes, of commits and of releases, turned into a folder of samples."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.running import run_each
from hyperheat.bugs.mining.commits import commit_samples, repository_samples
from hyperheat.bugs.mining.folder import RealBugs
from hyperheat.bugs.mining.git import Repository
from hyperheat.bugs.mining.references import AnyReference, Reference, ReleaseReference
from hyperheat.bugs.mining.tally import Tally
from hyperheat.bugs.releases.registry import Registry
from hyperheat.bugs.releases.samples import package_samples

__all__ = ["Places", "Realised", "realise"]


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where histories are: a folder of repositories, or some repositories by name, and a package index."""

    repos: Path | None = None
    repositories: dict[str, Path] | None = None
    clone: bool = False
    registry: Registry | None = None


@dataclass(frozen=True, kw_only=True)
class Realised:
    """What came of references, how long it took, and how many projects could not be asked for."""

    tally: Tally
    manifest: dict[str, Any]
    seconds: float
    failed: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class _Job:
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
    """Write the samples of references as a folder; what is left out stands in `left_out.jsonl` with its reason.

    Projects that are there already are kept. If their references have changed, they are made again if `replace`
    allows it, or refused.
    """
    begun = time.perf_counter()
    folder = RealBugs(out)
    with folder.alone():
        jobs = [
            _Job(name=name, references=group, out=out, places=places, with_clean=with_clean)
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
        failed={name: outcome.problem for name, outcome in failed.items()},
    )


def _make(job: _Job) -> int:
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
    """References by project, in the order of names; packages and repositories have names of different forms."""
    groups: dict[str, list[AnyReference]] = {}
    for reference in references:
        groups.setdefault(reference.project, []).append(reference)
    return dict(sorted(groups.items()))
