"""Git histories, read with the git program: which commits modify Python files, and what files held.

Commits come from `git log --raw`, contents from `git cat-file --batch`. Diffs are never asked for: `git log -p`
stops at the first object that a partial or damaged history lacks, where this goes on.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["Change", "GitError", "Objects", "Repository", "run_git"]

_MARK = b"\x01"
_ID = re.compile(rb"[0-9a-f]{40,64}")
_ADDRESS = re.compile(r"[/:]([^/:]+)/([^/]+?)(?:\.git)?/?$")


class GitError(ValueError):
    """A history that cannot be read, in one sentence."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A Python file that a commit modifies; `before` and `after` are the ids of its contents."""

    sha: str
    parent: str
    subject: str
    path: str
    before: str
    after: str
    py_files_in_commit: int
    on_main: bool


@dataclass(frozen=True)
class Repository:
    """A git directory, and the name of the project that it holds."""

    folder: Path
    name: str

    @classmethod
    def open(cls, folder: Path) -> "Repository":
        """The repository of a work tree or a bare one, here or one level below."""
        found = git_directory(folder)
        if found is None:
            raise GitError(f"{folder}: expected a git repository, got {_what_is(folder)}")
        return cls(found, _origin(found) or _named_after(folder))

    def changes(
        self, *, since: str | None = None, max_commits: int | None = None, all_refs: bool = False
    ) -> Iterator[Change]:
        """The modified Python files of all commits that are no merges: the default branch first, newest first."""
        main = self._main()
        if main is None and not all_refs:
            raise GitError(f"{self.folder}: expected a history, got a repository without commits")
        limits = [f"--since={since}"] if since is not None else []
        left = max_commits
        walks = [(True, [main])] if main is not None else []
        walks += [(False, ["--all", "--not", main] if main is not None else ["--all"])] if all_refs else []
        for on_main, revisions in walks:
            count = [] if left is None else [f"--max-count={left}"]
            for commit in self._log([*limits, *count, *revisions]):
                left = None if left is None else left - 1
                yield from _changes(commit, on_main=on_main)

    def sizes(self, ids: list[str]) -> list[int | None]:
        """The sizes of objects; None for those that are absent."""
        done = run_git(
            self.folder,
            "cat-file",
            "--batch-check=%(objectsize)",
            given="".join(f"{i}\n" for i in ids).encode(),
        )
        return [int(line) if line.isdigit() else None for line in done.decode().splitlines()]

    def resolve(self, revision: str) -> str | None:
        """The id of a revision such as `sha^` or `sha:path`; None if there is none."""
        try:
            found = run_git(self.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        except GitError:
            return None
        return found.decode().strip() or None

    def by_date(self, commits: list[str]) -> list[str]:
        """The ids of commits, newest first; those that are absent are left out."""
        given = "".join(f"{commit}\n" for commit in commits).encode()
        options = ("--no-walk=sorted", "--ignore-missing", "--stdin")
        return run_git(self.folder, "rev-list", *options, given=given).decode().split()

    def python_files(self, commit: str) -> dict[str, str]:
        """The ids of the Python files of a commit by path; links and what has no readable path are left out."""
        files = {}
        for entry in run_git(self.folder, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            if path.endswith(b".py") and facts.startswith(b"100"):
                files[os.fsdecode(path)] = facts.split()[2].decode()
        return files

    def _main(self) -> str | None:
        return self.resolve("refs/remotes/origin/HEAD^{commit}") or self.resolve("HEAD^{commit}")

    def _log(self, arguments: list[str]) -> Iterator[list[bytes]]:
        """The fields of each commit: id, parents, subject, then facts and path of each file in turn."""
        form = "--format=%x01%H%x00%P%x00%s"
        options = ["-z", "--raw", "--no-abbrev", "--no-merges", "--no-renames", "--diff-filter=M", form]
        command = _command(self.folder, "log", *options, *arguments, "--", "*.py")
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for text in _records(process.stdout):
                yield text.split(b"\0")
            problem = process.stderr.read()
        if process.returncode:
            raise GitError(f"{self.folder}: {_last_line(problem)}")


class Objects:
    """The contents of objects, from one running `git cat-file --batch`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._process = subprocess.Popen(
            _command(repository.folder, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )

    def __enter__(self) -> "Objects":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self, name: str) -> bytes | None:
        """The contents of a file, named by its id or as `commit:path`; None if it is absent."""
        if "\n" in name:  # which ends a request
            found = self._repository.resolve(name)
            return None if found is None else self.read(found)
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        try:
            asked.write(os.fsencode(name) + b"\n")
            asked.flush()
        except BrokenPipeError:
            pass  # the answer says so
        header = answers.readline()
        if not header:
            raise GitError(f"{self._repository.folder}: expected the object {name}, got a damaged history")
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        _, kind, size = header.split()
        contents = answers.read(int(size) + 1)[:-1]
        return contents if kind == b"blob" else None


def git_directory(folder: Path) -> Path | None:
    """The git directory of a folder, or of the only repository one level below."""
    here = _git_directory_here(folder)
    if here is not None or not folder.is_dir():
        return here
    below = [found for child in sorted(folder.iterdir()) if (found := _git_directory_here(child)) is not None]
    return below[0] if len(below) == 1 else None


def run_git(folder: Path | None, *arguments: str, given: bytes = b"") -> bytes:
    """The output of a git command; raises GitError with the last line that it said."""
    try:
        done = subprocess.run(
            _command(folder, *arguments), input=given, capture_output=True, env=_environment()
        )
    except FileNotFoundError:
        raise GitError("git: expected the program to be installed, got nothing of this name") from None
    if done.returncode:
        raise GitError(f"{folder or 'git'}: {_last_line(done.stderr)}")
    return done.stdout


def _command(folder: Path | None, *arguments: str) -> list[str]:
    where = [] if folder is None else ["--git-dir", str(folder)]
    return ["git", "--no-pager", "--no-replace-objects", *where, *arguments]


def _environment() -> dict[str, str]:
    """Plain English, no questions, and none of a surrounding git command's settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**own, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def _records(stream: IO[bytes]) -> Iterator[bytes]:
    """The texts after each mark; a subject that holds one itself breaks its commit, which then is left out."""
    rest = b""
    while chunk := stream.read(1 << 16):
        *whole, rest = (rest + chunk).split(_MARK)
        yield from filter(None, whole)
    if rest:
        yield rest


def _changes(commit: list[bytes], *, on_main: bool) -> Iterator[Change]:
    if len(commit) < 4 or not _ID.fullmatch(commit[0]):
        return
    sha, parent, subject, *entries = commit
    files = [
        (facts.split(), path)
        for facts, path in zip(entries[::2], entries[1::2], strict=False)
        if facts.strip().startswith(b":")
    ]
    for (old_mode, new_mode, before, after, _), path in files:
        if old_mode.startswith(b":100") and new_mode.startswith(b"100"):  # regular files, no links
            yield Change(
                sha=sha.decode(),
                parent=parent.decode(),
                subject=subject.decode(errors="replace"),
                path=path.decode(errors="backslashreplace"),
                before=before.decode(),
                after=after.decode(),
                py_files_in_commit=len(files),
                on_main=on_main,
            )


def _git_directory_here(folder: Path) -> Path | None:
    link = folder / ".git"
    if link.is_file():  # a linked work tree or a submodule
        _, _, target = link.read_text(encoding="utf-8", errors="replace").partition("gitdir:")
        return _if_git(folder / target.strip())
    return _if_git(link) or _if_git(folder)


def _if_git(folder: Path) -> Path | None:
    whole = (folder / "HEAD").is_file() and (
        (folder / "objects").is_dir() or (folder / "commondir").is_file()
    )
    return folder if whole else None


def _origin(folder: Path) -> str:
    """The owner and name in the address of the remote that a repository was cloned from."""
    try:
        address = run_git(folder, "config", "--get", "remote.origin.url").decode(errors="replace").strip()
    except GitError:
        return ""
    owner, _, name = project_name(address).partition("/")
    return f"{_sanitised(owner)}/{_sanitised(name)}" if name else ""


def project_name(address: str) -> str:
    """The `owner/name` of a repository's address; empty if it has no such end."""
    found = _ADDRESS.search(address)
    return f"{found[1]}/{found[2]}" if found else ""


def _named_after(folder: Path) -> str:
    name = folder.resolve().name
    if name in (".git", "repo"):
        name = folder.resolve().parent.name
    owner, sign, rest = name.removesuffix(".git").partition("+")
    return f"{_sanitised(owner)}/{_sanitised(rest)}" if sign else f"local/{_sanitised(owner)}"


def _sanitised(name: str) -> str:
    """A part of a project's name, with what no reference takes replaced."""
    return re.sub(r"\.{2,}", ".", re.sub(r"[^\w.-]+", "-", name)).removesuffix(".git") or "-"


def _what_is(folder: Path) -> str:
    if not folder.exists():
        return "nothing there"
    return "a folder without one" if folder.is_dir() else "a file"


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines() or ["git gave no reason"]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ")[:300]
