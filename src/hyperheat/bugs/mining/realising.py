"""From references to samples: read both versions of each file and find the candidate that leads from one to the other."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.bugs.mining.checkout import Checkout
from hyperheat.bugs.mining.explain import explain
from hyperheat.bugs.mining.fix import NoFix, find_fix
from hyperheat.bugs.mining.git import GitError, Objects, Repository
from hyperheat.bugs.mining.references import Reference
from hyperheat.bugs.mining.repositories import find_repository
from hyperheat.bugs.mining.tally import FOUND, MISSING, NOT_EXPRESSIBLE, Tally
from hyperheat.bugs.mining.writing import NO_CLEAN, FixFolder, make_samples
from hyperheat.bugs.sample import Sample

__all__ = ["Realised", "realise"]


class _Missing(Exception):
    """Something that the history lacks."""


@dataclass(frozen=True, kw_only=True)
class Realised:
    """What came of references, and how long it took."""

    tally: Tally
    manifest: dict[str, Any]
    seconds: float


def realise(
    references: Iterable[Reference],
    repos: Path,
    out: Path,
    *,
    clone: bool = False,
    with_clean: bool = False,
    settings: dict[str, Any],
    tell: Callable[[str], object],
) -> Realised:
    """Write the samples of references as a folder; what is left out stands in `left_out.jsonl` with its reason."""
    begun = time.perf_counter()
    by_repo: dict[str, list[Reference]] = {}
    for reference in references:
        by_repo.setdefault(reference.repo, []).append(reference)
    run = _Run(with_clean=with_clean)
    folder = FixFolder(out)
    for repo, group in sorted(by_repo.items()):
        start = time.perf_counter()
        samples = run.repository(group, repos, clone=clone)
        folder.add(repo, samples)
        tell(
            f"{repo}: {len(samples)} samples of {len(group)} references, {time.perf_counter() - start:.1f} s"
        )
    for problem in run.problems:
        tell(problem)
    manifest = folder.finish(settings, run.tally.to_json(), run.left_out)
    return Realised(tally=run.tally, manifest=manifest, seconds=time.perf_counter() - begun)


class _Run:
    """What is known so far."""

    def __init__(self, *, with_clean: bool) -> None:
        self.tally = Tally()
        self.left_out: list[dict[str, str]] = []
        self.problems: list[str] = []
        self._with_clean = with_clean

    def repository(self, references: list[Reference], repos: Path, *, clone: bool) -> list[Sample]:
        """The samples of one repository's references."""
        try:
            found = find_repository(references[0], repos, clone=clone)
        except GitError as error:
            self.problems.append(str(error))
            found = None
        if found is None:
            for reference in references:
                self._leave_out(reference, MISSING, "the repository")
            return []
        samples = []
        with Objects(found) as objects, Checkout(found, objects) as checkout:
            for reference in _newest_first(references, found):
                samples += self._reference(reference, found, objects, checkout)
        return samples

    def _reference(
        self, reference: Reference, repository: Repository, objects: Objects, checkout: Checkout
    ) -> list[Sample]:
        try:
            before, after = _versions(reference, repository, objects)
            fix = find_fix(before, after, lambda: checkout.extract(reference.parent, reference.path, before))
            samples = make_samples(reference, fix, with_clean=self._with_clean)
        except _Missing as error:
            self._leave_out(reference, MISSING, str(error))
        except NoFix as error:
            self._leave_out(reference, NOT_EXPRESSIBLE, explain(error, reference))
        except ValueError as error:
            self._leave_out(reference, MISSING, "unreadable")
            self.problems.append(f"{reference.repo} {reference.sha}: {error}")
        else:
            self.tally.add(FOUND, "", fix.repair.kind)
            if self._with_clean and len(samples) == 1:
                self.problems.append(
                    f"{reference.repo} {reference.sha}: {NO_CLEAN}, so there is no clean sample"
                )
            return samples
        return []

    def _leave_out(self, reference: Reference, outcome: str, reason: str) -> None:
        self.tally.add(outcome, reason, reference.kind)
        self.left_out.append(
            {
                "repo": reference.repo,
                "sha": reference.sha,
                "path": reference.path,
                "kind": reference.kind,
                "outcome": outcome,
                "reason": reason,
            }
        )


def _newest_first(references: list[Reference], repository: Repository) -> list[Reference]:
    """References by the dates of their commits, so that little differs from one to the next."""
    try:
        newest = repository.by_date([reference.sha for reference in references])
    except GitError:  # a damaged commit, which is told of when it is read
        return references
    order = {sha: place for place, sha in enumerate(newest)}
    return sorted(references, key=lambda reference: order.get(reference.sha, len(order)))


def _versions(reference: Reference, repository: Repository, objects: Objects) -> tuple[bytes, bytes]:
    """The contents of a file before and after a commit."""
    found = [objects.read(f"{commit}:{reference.path}") for commit in (reference.parent, reference.sha)]
    before, after = found
    if before is None or after is None:
        if repository.resolve(f"{reference.sha}^{{commit}}") is None:
            raise _Missing("the commit")
        if repository.resolve(f"{reference.parent}^{{commit}}") is None:
            raise _Missing("the commit before")
        raise _Missing("the file before" if before is None else "the file after")
    return before, after
