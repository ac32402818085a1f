"""Fixes in a git history: commits that change one function by exactly one candidate rewrite.

Each modified Python file passes ever finer filters: the subject of the commit, the sizes of both versions, the tokens
of the lines that differ (`prefilter`), the candidates of the function alone, and finally the trees and candidates of
the whole files (`bug_fix`).
"""

import ast
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from hyperheat.bugs.corpus.packages import normalise
from hyperheat.bugs.mining.bug_fix import BugFix, NoFix, describe_fix, find_fix, has_candidate
from hyperheat.bugs.mining.prefilter import MAX_SIZE_CHANGE, Functions, differing_functions, may_be_rewrite
from hyperheat.bugs.mining.references import Reference
from hyperheat.bugs.mining.repository import Change, Objects, Repository
from hyperheat.pycode import extract

__all__ = ["Mining", "is_fix_like", "is_revert", "is_test_file", "mine", "package_of"]

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
    """Whether a subject mentions a fix, and no revert, layout or documentation."""
    return _FIX.search(subject) is not None and _NOT_FIX.search(subject) is None


def is_revert(subject: str) -> bool:
    """Whether a subject says that a commit is reverted or reapplied."""
    return _REVERT.match(subject) is not None


def is_test_file(path: str) -> bool:
    """Whether a file, or a folder around it, has the name of tests."""
    file = PurePosixPath(path)
    stem = file.stem
    if (
        stem.startswith("test_")
        or stem.endswith(("_test", "_tests"))
        or stem in ("test", "tests", "conftest")
    ):
        return True
    return not _TEST_FOLDERS.isdisjoint(file.parts[:-1])


_MAX_SETTINGS_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")
_SETUP_NAME = re.compile(r"""\bname\s*=\s*["']([^"'\n]+)["']|^NAME\s*=\s*["']([^"'\n]+)["']""", re.MULTILINE)


def package_of(repository: Repository) -> str:
    """The name in `pyproject.toml`, `setup.cfg` or `setup.py` of the newest commit, or the name of the repository.

    It decides the split, so that a repository and its package are in the same one.
    """
    head = repository.head()
    if head is not None:
        with Objects(repository) as objects:
            for file, read in (
                ("pyproject.toml", _from_pyproject),
                ("setup.cfg", _from_setup_cfg),
                ("setup.py", _from_setup),
            ):
                contents = objects.read(f"{head}:{file}")
                name = (
                    read(contents.decode(errors="replace"))
                    if contents and len(contents) < _MAX_SETTINGS_BYTES
                    else ""
                )
                if _NAME.fullmatch(name):
                    return normalise(name)
    return normalise(repository.name.partition("/")[2])


def _from_pyproject(text: str) -> str:
    try:
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    tools = _table(settings, "tool")
    for table in (
        _table(settings, "project"),
        _table(tools, "poetry"),
        _table(_table(tools, "flit"), "metadata"),
    ):
        if isinstance(name := table.get("name", table.get("dist-name")), str):
            return name
    return ""


def _table(settings: dict[str, object], name: str) -> dict[str, object]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _from_setup_cfg(text: str) -> str:
    settings = ConfigParser(interpolation=None, strict=False)
    try:
        settings.read_string(text)
        return settings.get("metadata", "name", fallback="").strip()
    except ConfigError:
        return ""


def _from_setup(text: str) -> str:
    """The name that `setup` is called with; if it is not plain there, the first text that looks like one."""
    if name := _name_in_call(text):
        return name
    found = _SETUP_NAME.search(text)
    return (found[1] or found[2]).strip() if found else ""


def _name_in_call(text: str) -> str:
    """The argument `name` of `setup(...)`: a string, or a variable of the module that holds one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    variables = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "setup":
            for argument in call.keywords:
                value = argument.value
                if isinstance(value, ast.Name):
                    value = variables.get(value.id, value)
                if (
                    argument.arg == "name"
                    and isinstance(value, ast.Constant)
                    and isinstance(value.value, str)
                ):
                    return value.value.strip()
    return ""


_CHUNK = 10_000
_MAX_BYTES = 600_000


@dataclass(frozen=True, kw_only=True)
class Mining:
    """Which commits and files are mined."""

    since: str | None = None
    max_commits: int | None = None
    all_refs: bool = False
    tests: bool = False
    any_message: bool = False
    max_files: int = 8
    """Commits that modify more Python files are left out."""


def mine(repository: Repository, mining: Mining, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The fixes of a history as records, newest first; `counts` receives what was left out and why."""
    changes = repository.changes(since=mining.since, max_commits=mining.max_commits, all_refs=mining.all_refs)
    with Objects(repository) as objects:
        for change, before, after in _plausible(repository, objects, changes, mining, counts):
            try:
                if not _has_fixed_function(before, after):
                    raise NoFix("no candidate leads to the fixed function")
                fix = find_fix(before, after, partial(extract, before))
                record = _record(repository.name, change, fix)
                Reference.of(record)
            except NoFix as error:
                counts[error.reason] += 1
            except ValueError:
                counts["unreadable"] += 1
            else:
                yield record


def _has_fixed_function(before: bytes, after: bytes) -> bool:
    """Whether a candidate of some changed function, read alone, leads to its next version."""
    changed = differing_functions(Functions.of(before), Functions.of(after))
    return any(has_candidate(function.before, function.after) for function in changed)


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


def _record(repo: str, change: Change, fix: BugFix) -> dict[str, Any]:
    """The record of a fix in a list of references."""
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
