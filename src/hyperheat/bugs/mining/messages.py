"""What a commit's subject and a file's path say about a change."""

import re
from pathlib import PurePosixPath

__all__ = ["is_fix_like", "is_revert", "is_test_file"]

_FIX = re.compile(
    r"\b(fix(e[sd]|ing|up|ups)?|(bug|hot)(s|fix|fixes|gy)?|errors?|typos?|wrong(ly)?|incorrect(ly)?|crash(e[sd]|ing)?"
    r"|fail(s|ed|ing|ures?)?|broken?|mistakes?|regress(ion|ions|ed)?|correct(s|ed|ly|ion)?|repair(s|ed)?"
    r"|invalid|inverted|swapped|reversed|accidental(ly)?|oops|off[- ]by[- ]one|leaks?|issues?|resolve[sd]?)\b",
    re.IGNORECASE,
)
_NOT_FIX = re.compile(
    r"\b(reverts?|reverted|reapply|undo|lint(s|er|ing)?|pylint|flake8|pep-?8|pyflakes|mypy|docs?|docstrings?"
    r"|documentation|comments?|spelling|format(ting)?|whitespace|style|bump|refactor(s|ed|ing)?|renam(e|ed|ing)"
    r"|clean(s|ed|ing)?[- ]?up|merge)\b",
    re.IGNORECASE,
)
_REVERT = re.compile(r"\W*(reverts?|reverted|reverting|reapply|undo)\b", re.IGNORECASE)
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unittests"})


def is_fix_like(subject: str) -> bool:
    """Whether a subject speaks of something mended, and of no revert, layout or documentation."""
    return _FIX.search(subject) is not None and _NOT_FIX.search(subject) is None


def is_revert(subject: str) -> bool:
    """Whether a subject begins by taking back an earlier commit, or by repeating it."""
    return _REVERT.match(subject) is not None


def is_test_file(path: str) -> bool:
    """Whether the name of a file, or of a folder around it, is that of tests."""
    file = PurePosixPath(path)
    stem = file.stem
    if (
        stem.startswith("test_")
        or stem.endswith(("_test", "_tests"))
        or stem in ("test", "tests", "conftest")
    ):
        return True
    return not _TEST_FOLDERS.isdisjoint(file.parts[:-1])
