"""Mining fixes from a history: commits that mend one function by exactly one candidate rewrite.

Each modified Python file goes through ever finer sieves: the words of the commit, the sizes of both versions, the
tokens of the lines that differ (`prefilter`), the syntax trees and at last the candidates (`fix`).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from hyperheat.bugs.mining.fix import Fix, NoFix, find_fix
from hyperheat.bugs.mining.git import Change, Objects, Repository
from hyperheat.bugs.mining.messages import is_fix_like, is_revert, is_test_file
from hyperheat.bugs.mining.prefilter import MAX_SIZE_CHANGE, may_be_rewrite
from hyperheat.bugs.mining.record import describe_fix
from hyperheat.bugs.mining.references import Reference
from hyperheat.pycode import extract

__all__ = ["Mining", "mine"]

_CHUNK = 10_000
_MAX_BYTES = 600_000


@dataclass(frozen=True, kw_only=True)
class Mining:
    """Which commits and files are looked at."""

    since: str | None = None
    max_commits: int | None = None
    all_refs: bool = False
    tests: bool = False
    any_message: bool = False
    max_files: int = 8
    """Commits that modify more Python files are left out."""


def mine(repository: Repository, mining: Mining, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The fixes of a history as records, newest first; `counts` gets what was looked at and why it was left out."""
    changes = repository.changes(since=mining.since, max_commits=mining.max_commits, all_refs=mining.all_refs)
    with Objects(repository) as objects:
        for change, before, after in _plausible(repository, objects, changes, mining, counts):
            try:
                fix = find_fix(before, after, partial(extract, before))
                record = _record(repository.name, change, fix)
                Reference.of(record)
            except NoFix as error:
                counts[error.reason] += 1
            except ValueError:
                counts["unreadable"] += 1
            else:
                yield record


def _plausible(
    repository: Repository,
    objects: Objects,
    changes: Iterator[Change],
    mining: Mining,
    counts: Counter[str],
) -> Iterator[tuple[Change, bytes, bytes]]:
    """The changes that may be one rewrite, with both versions of the file."""
    wanted = (change for change in changes if _is_wanted(change, mining, counts))
    while chunk := list(islice(wanted, _CHUNK)):
        sizes = repository.sizes([id for change in chunk for id in (change.before, change.after)])
        for change, old, new in zip(chunk, sizes[::2], sizes[1::2], strict=True):
            if old is None or new is None:
                counts["a version of the file is missing"] += 1
            elif abs(old - new) > MAX_SIZE_CHANGE or max(old, new) > _MAX_BYTES:
                counts["more than one rewrite, by size"] += 1
            else:
                before, after = objects.read(change.before), objects.read(change.after)
                if before is None or after is None:
                    counts["a version of the file is missing"] += 1
                elif may_be_rewrite(before, after):
                    yield change, before, after
                else:
                    counts["more than one rewrite, by tokens"] += 1


def _is_wanted(change: Change, mining: Mining, counts: Counter[str]) -> bool:
    counts["modified files"] += 1
    if is_revert(change.subject):
        counts["the commit takes another one back"] += 1
    elif not mining.any_message and not is_fix_like(change.subject):
        counts["the subject speaks of no fix"] += 1
    elif not mining.tests and is_test_file(change.path):
        counts["a file of tests"] += 1
    elif change.py_files_in_commit > mining.max_files:
        counts["the commit modifies many files"] += 1
    else:
        return True
    return False


def _record(repo: str, change: Change, fix: Fix) -> dict[str, Any]:
    """What is said of a fix in a list of references."""
    return {
        "repo": repo,
        "sha": change.sha,
        "parent": change.parent,
        "on_main": change.on_main,
        "path": change.path,
        **describe_fix(fix),
        "subject": change.subject,
        "fix_like": is_fix_like(change.subject),
        "is_test_file": is_test_file(change.path),
        "py_files_in_commit": change.py_files_in_commit,
    }
