"""Which lines changed since a commit, from git: in the work tree, committed or not, and in files that are new to git.

The configuration of an untrusted repository can make git run programs. Nothing here does: no pager, no external or
converting diff, no file watcher, no hooks, no fetching of missing objects, no submodules, and all configured content
filters are switched off.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperheat.check.discovery import SUFFIXES
from hyperheat.git import GitError, git_call

__all__ = ["Changes", "ChangesError", "changes_since", "why_not_clean"]

_SECONDS = 120
_PATHS = tuple(f"*{suffix}" for suffix in SUFFIXES)
_SETTINGS = {
    "core.quotePath": "true",  # so that names in a diff are ASCII on one line
    "diff.autoRefreshIndex": "false",
}
_DIFF = (
    *("diff", "--patch", "--unified=0", "--inter-hunk-context=0", "--text", "--find-renames"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=all"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_STATUS = (
    *("--literal-pathspecs", "status", "--porcelain", "-z", "--no-renames"),
    *("--untracked-files=all", "--ignore-submodules=all", "--"),
)
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


class ChangesError(ValueError):
    """Changes that git cannot tell, in one sentence."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed lines of files, by absolute path without links; a new file has changed in all lines."""

    lines: Mapping[Path, tuple[range, ...]]
    new: frozenset[Path]

    def touch(self, path: Path, first: int, last: int) -> bool:
        """Whether any of the lines of a file from the first to the last has changed."""
        real = Path(os.path.realpath(path))
        if real in self.new:
            return True
        return any(lines.start <= last and first < lines.stop for lines in self.lines.get(real, ()))


def changes_since(ref: str, *, folder: Path) -> Changes:
    """What changed in the repository around a folder since the merge base with `ref`.

    So `main` gives the changes of a branch, without those that main got in the meantime. Lines that were removed
    count as a change of the lines on both sides.
    """
    try:
        top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except GitError as error:
        raise ChangesError(f"{folder}: --since {ref} requires a git repository: {_reason(error)}") from None
    start = _start(top, ref)
    diff = _git(top, *_DIFF, start, "--", *_PATHS, settings=_filters_off(top))
    lines = {top / os.fsdecode(name): tuple(ranges) for name, ranges in _parse(diff)}
    others = _git(top, "ls-files", "-z", "--others", "--exclude-standard", "--", *_PATHS)
    return Changes(lines, frozenset(top / os.fsdecode(name) for name in others.split(b"\0") if name))


def why_not_clean(path: Path) -> str | None:
    """Why git could not restore the contents of a file, in a few words; None if it could."""
    folder, name = Path(os.path.realpath(path)).parent, os.path.basename(os.path.realpath(path))
    try:
        settings = _filters_off(folder)
        state = _git(folder, *_STATUS, name, settings=settings)
        tracked = _git(folder, "--literal-pathspecs", "ls-files", "-z", "--", name)
    except GitError as error:
        return f"git cannot read the file: {_reason(error)}"
    if not tracked:
        return "the file is not tracked by git"
    return "the file has uncommitted changes" if state else None


def _start(top: Path, ref: str) -> str:
    """The merge base of a reference and the work tree."""
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    try:
        commit = _git(top, *verify, f"{ref}^{{commit}}").decode().strip()
    except GitError:
        raise ChangesError(f"{ref}: not a commit, branch or tag in {top}") from None
    try:
        return _git(top, "merge-base", commit, "HEAD").decode().strip()
    except GitError:  # histories without a common commit, such as a shallow clone
        return commit


def _parse(diff: bytes) -> Iterator[tuple[bytes, list[range]]]:
    """The name and the changed lines of each file of a diff; the lines themselves are counted and passed over."""
    name, ranges, left = b"", [], 0
    for line in diff.split(b"\n"):
        if left:
            left -= not line.startswith(b"\\")  # a remark on a missing newline
        elif line.startswith(b"diff --git "):
            if ranges:
                yield name, ranges
            name, ranges = b"", []
        elif line.startswith(b"+++ "):
            name = _name(line[4:])
        elif match := _HUNK.match(line):
            removed, added = (1 if count is None else int(count) for count in (match[1], match[3]))
            start, left = int(match[2]), removed + added
            ranges.append(range(start, start + added) if added else range(start, start + 2))
    if ranges:
        yield name, ranges


def _name(written: bytes) -> bytes:
    """The name of a file as a diff has it: quoted if it holds anything unusual, with a tab behind if a blank."""
    if written.startswith(b'"'):
        written = _ESCAPE.sub(_unescape, written.rstrip(b"\t")[1:-1])
    else:
        written = written.removesuffix(b"\t")
    return written.removeprefix(b"b/")


def _unescape(match: re.Match[bytes]) -> bytes:
    sign = match[1]
    return bytes([int(sign, 8) if len(sign) == 3 else _ESCAPES.get(sign[0], sign[0])])


def _reason(error: GitError) -> str:
    return str(error).removeprefix("git: ")


def _filters_off(folder: Path) -> dict[str, str]:
    """Settings, among them some in place of all that name programs through which git would send the files."""
    try:
        names = _git(folder, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    except GitError:  # there are none
        return _SETTINGS
    drivers = {os.fsdecode(name).rpartition(".")[0] for name in names.split(b"\0") if name}
    keys = ("clean", "smudge", "process", "required")
    return _SETTINGS | {f"{driver}.{key}": "" for driver in sorted(drivers) for key in keys}


def _git(folder: Path, *arguments: str, settings: Mapping[str, str] = _SETTINGS) -> bytes:
    return git_call("git", ["-C", str(folder)], settings=settings, seconds=_SECONDS).run(*arguments)
