"""What changed since a commit, from git: in the work tree, committed or not, and in files that are new to git.

A file has changed lines, and an earlier version, which is read from git's objects and never checked out. A submodule is
compared with the commit that the earlier version of its repository names.

The configuration of an untrusted repository can make git run programs. Nothing here does: no pager, no external or
converting diff, no file watcher, no hooks, no fetching of missing objects, no looking into submodules by git itself, and
all configured content filters are switched off.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hyperheat.check.discovery import SUFFIXES, FoundFile
from hyperheat.git import GitError, git_call

__all__ = [
    "Changes",
    "ChangesError",
    "OldFile",
    "changes_between",
    "changes_since",
    "read_old_files",
    "why_not_clean",
]

_SECONDS = 120
_PATHS = tuple(f"*{suffix}" for suffix in SUFFIXES)
_SETTINGS = {
    "core.quotePath": "true",  # so that names in a diff are ASCII on one line
    "diff.autoRefreshIndex": "false",
}
_DIFF = (
    *(
        "diff",
        "--raw",
        "--no-abbrev",
        "--patch",
        "--unified=0",
        "--inter-hunk-context=0",
        "--text",
        "--find-renames",
    ),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=all"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_STATUS = (
    *("--literal-pathspecs", "status", "--porcelain", "-z", "--no-renames"),
    *("--untracked-files=all", "--ignore-submodules=all", "--"),
)
_RAW = re.compile(rb":(\d{6}) \d{6} ([0-9a-f]{40,64}) [0-9a-f]{40,64} ([ADMRT])\d*\t(.+)")
_REGULAR = b"100"  # how the mode of a file begins that is no link
_SUBMODULE = b"160000"
_MAX_DEPTH = 8  # of submodules in submodules
_CHUNK = 16_000_000
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


class ChangesError(ValueError):
    """Changes that git cannot tell, in one sentence."""


@dataclass(frozen=True, slots=True)
class OldFile:
    """An earlier version of a file: its repository, its path then, and the id of its contents."""

    top: Path
    path: Path
    blob: str

    @property
    def found(self) -> FoundFile:
        """The file that it was."""
        return FoundFile(str(self.path), self.path)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed lines of files, by absolute path without links; a new file has changed in all lines.

    `old` are the earlier versions of files that changed, by their path now, and `removed` those of files that are gone.
    `starts` are the repositories and the commits that they are compared with, and `notes` sentences for the reader.
    """

    lines: Mapping[Path, tuple[range, ...]]
    new: frozenset[Path]
    old: Mapping[Path, OldFile] = field(default_factory=dict)
    removed: tuple[OldFile, ...] = ()
    starts: tuple[tuple[Path, str], ...] = ()
    notes: tuple[str, ...] = ()

    def touch(self, path: Path, first: int, last: int) -> bool:
        """Whether any of the lines of a file from the first to the last has changed."""
        real = Path(os.path.realpath(path))
        if real in self.new:
            return True
        return any(lines.start <= last and first < lines.stop for lines in self.lines.get(real, ()))

    def before(self, path: Path) -> OldFile | None:
        """The earlier version of a file that changed."""
        return self.old.get(Path(os.path.realpath(path)))

    def find_before(self, path: Path) -> OldFile | None:
        """The earlier version of any file, also of one that is the same on disk; None if there was none."""
        real = Path(os.path.realpath(path))
        if real in self.old or real in self.new:
            return self.old.get(real)
        inside = [(top, start) for top, start in self.starts if real.is_relative_to(top)]
        if not inside:
            return None
        top, start = max(inside, key=lambda pair: len(pair[0].parts))
        name = str(real.relative_to(top))
        try:
            mode, kind, rest = _git(top, "--literal-pathspecs", "ls-tree", "-z", start, "--", name).split(
                b" ", 2
            )
        except (GitError, ValueError):  # there was no such file
            return None
        regular = mode.startswith(_REGULAR) and kind == b"blob"
        return OldFile(top, real, rest.partition(b"\t")[0].decode()) if regular else None

    def join(self, other: "Changes") -> "Changes":
        """The changes of both, of different files."""
        return Changes(
            {**self.lines, **other.lines},
            self.new | other.new,
            {**self.old, **other.old},
            (*self.removed, *other.removed),
            (*self.starts, *other.starts),
            (*self.notes, *other.notes),
        )


def changes_since(ref: str, *, folder: Path) -> Changes:
    """What changed in the repository around a folder since the merge base with `ref`.

    So `main` gives the changes of a branch, without those that main got in the meantime. Lines that were removed
    count as a change of the lines on both sides.
    """
    try:
        top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except GitError as error:
        raise ChangesError(f"{folder}: --since {ref} requires a git repository: {_reason(error)}") from None
    start, note = _start(top, ref)
    try:
        changes = _changes(top, start, depth=0)
    except GitError as error:
        raise ChangesError(f"{top}: git cannot compare it with {ref}: {_reason(error)}") from None
    return changes.join(Changes({}, frozenset(), notes=(note,))) if note else changes


def changes_between(start: str, end: str, *, top: Path) -> Changes:
    """What changed from one commit to another in a repository, which may be bare. Raises GitError."""
    return _read_diff(_git(top, *_DIFF, start, end, "--", *_PATHS), top)


def read_old_files(files: Iterable[OldFile], *, max_bytes: int) -> Iterator[tuple[OldFile, bytes | str]]:
    """The contents of earlier versions, in any order; or why there are none, in a few words."""
    by_top: dict[Path, dict[str, list[OldFile]]] = {}
    for file in files:
        by_top.setdefault(file.top, {}).setdefault(file.blob, []).append(file)
    for top, wanted in by_top.items():
        try:
            most = {blob: group[0].found.most_bytes(max_bytes) for blob, group in wanted.items()}
            for blob, content in _read_blobs(top, most):
                yield from ((file, content) for file in wanted.pop(blob, ()))
            reason = "git does not have it"
        except GitError as error:
            reason = _reason(error)
        yield from ((file, reason) for group in wanted.values() for file in group)


def _read_blobs(top: Path, most: Mapping[str, int]) -> Iterator[tuple[str, bytes | str]]:
    """The contents of objects, a few at a time; sizes are asked for first, so that none that is too large is read."""
    told = _git(top, "cat-file", "--batch-check", given="".join(f"{blob}\n" for blob in most).encode())
    chunk: list[str] = []
    room = _CHUNK
    for line in told.splitlines():
        match line.split():
            case [name, b"blob", size] if int(size) <= most[name.decode()]:
                if int(size) > room:
                    yield from _read_chunk(top, chunk)
                    chunk, room = [], _CHUNK
                chunk.append(name.decode())
                room -= int(size)
            case [name, b"blob", size]:
                yield name.decode(), f"expected at most {most[name.decode()]} bytes, got {int(size)}"
    yield from _read_chunk(top, chunk)


def _read_chunk(top: Path, blobs: list[str]) -> Iterator[tuple[str, bytes]]:
    if not blobs:
        return
    data, at = _git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode()), 0
    while at < len(data):
        end = data.index(b"\n", at)
        match data[at:end].split():
            case [name, b"blob", size]:
                yield name.decode(), data[end + 1 : end + 1 + int(size)]
                at = end + 1 + int(size) + 1
            case _:  # missing
                at = end + 1


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


def _start(top: Path, ref: str) -> tuple[str, str]:
    """The merge base of a reference and the work tree, and a sentence if it is the reference itself for want of one."""
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    shallow = _git(top, "rev-parse", "--is-shallow-repository").strip() == b"true"
    try:
        commit = _git(top, *verify, f"{ref}^{{commit}}").decode().strip()
    except GitError:
        hint = "; it is a shallow clone: fetch more of its history (in a workflow, fetch-depth: 0)"
        raise ChangesError(f"{ref}: not a commit, branch or tag in {top}{hint if shallow else ''}") from None
    try:
        return _git(top, "merge-base", commit, "HEAD").decode().strip(), ""
    except GitError:  # histories without a common commit
        where = " in this shallow clone" if shallow else ""
        return commit, f"No merge base with {ref}{where}: compared with {ref} itself."


def _changes(top: Path, start: str, *, depth: int) -> Changes:
    """What changed in a repository since a commit, and in its submodules."""
    found = _read_diff(_git(top, *_DIFF, start, "--", *_PATHS, settings=_filters_off(top)), top)
    others = _git(top, "ls-files", "-z", "--others", "--exclude-standard", "--", *_PATHS)
    new = frozenset(top / os.fsdecode(name) for name in others.split(b"\0") if name)
    found = replace(found, new=new, starts=((top, start),))
    if depth < _MAX_DEPTH and os.path.lexists(top / ".gitmodules"):
        for path, commit in _submodules(top, start):
            found = found.join(_submodule_changes(path, commit, depth + 1))
    return found


def _read_diff(diff: bytes, top: Path) -> Changes:
    """The changed lines and the earlier versions of all files of a diff."""
    lines = {top / os.fsdecode(name): tuple(ranges) for name, ranges in _parse(diff)}
    old: dict[Path, OldFile] = {}
    removed: list[OldFile] = []
    for now, then in _parse_old(diff, top):
        if now is None:
            removed.append(then)
        else:
            old[now] = then
    return Changes(lines, frozenset(), old, tuple(removed))


def _submodules(top: Path, start: str) -> Iterator[tuple[Path, str]]:
    """The submodules that are checked out, and the commit that each had; none if it is new."""
    staged = _git(top, "ls-files", "--stage", "-z").split(b"\0")
    names = [line.partition(b"\t")[2] for line in staged if line.startswith(_SUBMODULE)]
    for name in map(os.fsdecode, names):
        if os.path.lexists(top / name / ".git"):
            told = _git(top, "--literal-pathspecs", "ls-tree", "-z", start, "--", name)
            mode, _, rest = told.partition(b" ")
            commit = rest.split()[1].decode() if mode == _SUBMODULE else ""
            yield top / name, commit


def _submodule_changes(path: Path, commit: str, depth: int) -> Changes:
    """What changed in a submodule; a sentence if git cannot tell."""
    try:
        top = Path(os.fsdecode(_git(path, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
        if os.path.realpath(top) != os.path.realpath(path):
            raise GitError("git: not a repository of its own")
        if not commit:
            commit = _git(top, "hash-object", "-t", "tree", "--stdin").decode().strip()
        return _changes(top, commit, depth=depth)
    except GitError as error:
        note = f"The submodule {path.name} was not compared: {_reason(error)}."
        return Changes({}, frozenset(), notes=(note,))


def _parse_old(diff: bytes, top: Path) -> Iterator[tuple[Path | None, OldFile]]:
    """The path now, if any, and the earlier version of each file of a diff that had one."""
    for line in diff.split(b"\n"):
        if line.startswith(b"diff --git "):
            return
        match = _RAW.fullmatch(line)
        if match is None:
            continue
        mode, blob, status, names = match.groups()
        then, *others = (top / os.fsdecode(_unquoted(name)) for name in names.split(b"\t"))
        if mode.startswith(_REGULAR) and status != b"A":
            now = None if status == b"D" else (others or [then])[0]
            yield now, OldFile(top, then, blob.decode())


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
    """The name of a file as a diff has it, with a tab behind if it holds a blank."""
    return _unquoted(written.removesuffix(b"\t")).removeprefix(b"b/")


def _unquoted(written: bytes) -> bytes:
    """A name, which git quotes if it holds anything unusual."""
    return _ESCAPE.sub(_unescape, written[1:-1]) if written.startswith(b'"') else written


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


def _git(folder: Path, *arguments: str, settings: Mapping[str, str] = _SETTINGS, given: bytes = b"") -> bytes:
    call = git_call("git", ["-C", str(folder)], settings=settings, seconds=_SECONDS)
    return call.run(*arguments, given=given)
