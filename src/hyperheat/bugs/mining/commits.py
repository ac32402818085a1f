"""Samples of fixes that commits made: both versions of the file are read and the rewrite between them is found again."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hyperheat.bugs.mining.checkout import Checkout
from hyperheat.bugs.mining.explain import explain
from hyperheat.bugs.mining.fix import NoFix, find_fix
from hyperheat.bugs.mining.folder import ProjectResult
from hyperheat.bugs.mining.git import GitError, Objects, Repository
from hyperheat.bugs.mining.references import Reference
from hyperheat.bugs.mining.repositories import find_repository
from hyperheat.bugs.mining.samples import NO_CLEAN, make_samples
from hyperheat.bugs.mining.tally import FOUND, MISSING, NOT_EXPRESSIBLE

__all__ = ["commit_samples", "repository_samples"]


class _Missing(Exception):
    """Something that the history lacks."""


def commit_samples(
    references: Sequence[Reference], repos: Path, *, clone: bool, with_clean: bool
) -> ProjectResult:
    """The samples of one repository's references; it is looked for below a folder, and cloned if asked for."""
    result = ProjectResult()
    try:
        found = find_repository(references[0], repos, clone=clone)
    except GitError as error:
        result.problems.append(str(error))
        found = None
    if found is None:
        for reference in references:
            result.leave_out(reference, MISSING, "the repository")
        return result
    return repository_samples(references, found, with_clean=with_clean, result=result)


def repository_samples(
    references: Sequence[Reference],
    repository: Repository,
    *,
    with_clean: bool,
    result: ProjectResult | None = None,
) -> ProjectResult:
    """The samples of references to a repository."""
    result = result or ProjectResult()
    with Objects(repository) as objects, Checkout(repository, objects) as checkout:
        for reference in _newest_first(references, repository):
            try:
                before, after = _versions(reference, repository, objects)
                fix = find_fix(
                    before, after, partial(checkout.extract, reference.parent, reference.path, before)
                )
                samples = make_samples(reference, fix, with_clean=with_clean)
            except _Missing as error:
                result.leave_out(reference, MISSING, str(error))
            except NoFix as error:
                result.leave_out(reference, NOT_EXPRESSIBLE, explain(error, reference))
            except ValueError as error:
                result.leave_out(reference, MISSING, "unreadable")
                result.problems.append(f"{reference.repo} {reference.sha}: {error}")
            else:
                result.counts.append((FOUND, "", fix.repair.kind))
                result.samples += samples
                if with_clean and len(samples) == 1:
                    result.problems.append(
                        f"{reference.repo} {reference.sha}: {NO_CLEAN}, so there is no clean sample"
                    )
    return result


def _newest_first(references: Sequence[Reference], repository: Repository) -> list[Reference]:
    """References by the dates of their commits, so that little differs from one to the next."""
    try:
        newest = repository.by_date([reference.sha for reference in references])
    except GitError:  # a damaged commit, which is told of when it is read
        return list(references)
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
