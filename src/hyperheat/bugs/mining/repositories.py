"""Where the repository of a reference lies, and how a missing one is cloned."""

import shutil
from pathlib import Path

from hyperheat.bugs.mining.git import GitError, Repository, git_directory
from hyperheat.bugs.mining.program import cloning
from hyperheat.bugs.mining.references import Reference

__all__ = ["find_repository"]


def find_repository(reference: Reference, folder: Path, *, clone: bool) -> Repository | None:
    """The repository of a reference below a folder; None if it is not there and is not to be cloned.

    It may lie in `owner+name`, `owner/name`, `owner__name` or `name`, bare or with a work tree. Raises GitError
    where cloning fails.
    """
    owner, name = reference.repo.split("/")
    for place in (f"{owner}+{name}", f"{owner}/{name}", f"{owner}__{name}", name):
        for spelled in (place, f"{place}.git"):
            found = git_directory(folder / spelled)
            if found is not None:
                return Repository(found, reference.repo)
    if not clone:
        return None
    return Repository(_clone(reference.address, folder / f"{owner}+{name}"), reference.repo)


def _clone(address: str, target: Path) -> Path:
    """A bare clone, which appears only when it is whole."""
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        cloning().run("clone", "--bare", "--quiet", "--", address, str(part))
        part.replace(target)
    except GitError as error:
        raise GitError(f"{address}: expected to clone it, got: {str(error).removeprefix('git: ')}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target
