"""Git histories: which commits modify Python files, and what those files held.

Commits come from `git log --raw`, contents from `git cat-file --batch`. Diffs are never requested: `git log -p` stops
at the first object that a partial or damaged history lacks, while this continues.

Repositories are not trusted. Refs are read in the repository itself, with everything that its settings could start
switched off. The rest is read through an empty repository of ours that borrows the objects: there the settings have
no effect, and an object that a partial clone lacks is missing rather than fetched.
"""

import atexit
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import IO

from hyperheat.git import OFFLINE, GitCall, GitError, git_call

__all__ = [
    "Change",
    "GitError",
    "Objects",
    "Repository",
    "borrowing",
    "cloning",
    "find_repository",
    "reading",
]

_MARK = b"\x01"
_ID = re.compile(rb"[0-9a-f]{40,64}")
_ADDRESS = re.compile(r"[/:]([^/:]+)/([^/]+?)(?:\.git)?/?$")


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
            raise GitError(f"{folder} is {_what_is(folder)}, not a git repository")
        return cls(found, _origin(found) or _named_after(folder))

    def changes(
        self, *, since: str | None = None, max_commits: int | None = None, all_refs: bool = False
    ) -> Iterator[Change]:
        """The modified Python files of all commits that are no merges: the default branch first, newest first."""
        main = self.head()
        if main is None and not all_refs:
            raise GitError(f"{self.folder}: the repository has no commits")
        limits = [f"--since={since}"] if since is not None else []
        left = max_commits
        walks = [(True, [main])] if main is not None else []
        if all_refs:
            walks.append((False, [*self._everywhere(), *(f"^{id}" for _, ids in walks for id in ids)]))
        for on_main, revisions in walks:
            count = [] if left is None else [f"--max-count={left}"]
            for commit in self._log([*limits, *count], revisions):
                left = None if left is None else left - 1
                yield from _changes(commit, on_main=on_main)

    def sizes(self, ids: list[str]) -> list[int | None]:
        """The sizes of objects; None for those that are absent."""
        given = "".join(f"{id}\n" for id in ids).encode()
        done = self.objects.run("cat-file", "--batch-check=%(objectsize)", given=given)
        return [int(line) if line.isdigit() else None for line in done.decode().splitlines()]

    def resolve(self, revision: str) -> str | None:
        """The id of a revision such as `sha^` or `sha:path`; None if there is none."""
        return _resolve(self.objects, revision)

    def by_date(self, commits: list[str]) -> list[str]:
        """The ids of commits, newest first; those that are absent are left out."""
        given = "".join(f"{commit}\n" for commit in commits).encode()
        options = ("--no-walk=sorted", "--ignore-missing", "--stdin")
        return self.objects.run("rev-list", *options, given=given).decode().split()

    def python_files(self, commit: str) -> dict[str, str]:
        """The ids of the Python files of a commit by path; links and what has no readable path are left out."""
        files = {}
        for entry in self.objects.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            if path.endswith(b".py") and facts.startswith(b"100"):
                files[os.fsdecode(path)] = facts.split()[2].decode()
        return files

    @cached_property
    def objects(self) -> GitCall:
        """Calls of git that see the objects of this repository and nothing else of it."""
        return borrowing(self.folder)

    def head(self) -> str | None:
        """The id of the newest commit of the default branch; None if there is none."""
        own = reading(self.folder)
        return _resolve(own, "refs/remotes/origin/HEAD^{commit}") or _resolve(own, "HEAD^{commit}")

    def _everywhere(self) -> list[str]:
        """The ids of all branches, tags and other names."""
        own = reading(self.folder)
        head = _resolve(own, "HEAD^{commit}")
        return [*own.run("rev-parse", "--all").decode().split(), *([] if head is None else [head])]

    def _log(self, arguments: list[str], revisions: list[str]) -> Iterator[list[bytes]]:
        """The fields of each commit: id, parents, subject, then facts and path of each file in turn."""
        form = "--format=%x01%H%x00%P%x00%s"
        options = ["-z", "--raw", "--no-abbrev", "--no-merges", "--no-renames", "--diff-filter=M", form]
        options += ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--ignore-missing", "--stdin"]
        command = [*self.objects.command, "log", *options, *arguments, "--", "*.py"]
        with TemporaryFile() as given:
            given.write("".join(f"{id}\n" for id in revisions).encode())
            given.seek(0)
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.objects.environment,
            )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            for text in _records(process.stdout):
                yield text.split(b"\0")
            problem = process.stderr.read()
        if process.returncode:
            raise self.objects.error(problem)


class Objects:
    """The contents of objects, from one running `git cat-file --batch`, or another one where that died."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._process = self._start()

    def __enter__(self) -> "Objects":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self, name: str) -> bytes | None:
        """The contents of a file, named by its id or as `commit:path`; None if it is absent or damaged."""
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
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        _, kind, size = header.split() if header else (b"", b"", b"0")
        contents = answers.read(int(size) + 1)
        if len(contents) != int(size) + 1:
            self._restart()
            return None
        return contents[:-1] if kind == b"blob" else None

    def _start(self) -> "subprocess.Popen[bytes]":
        calls = self._repository.objects
        return subprocess.Popen(
            [*calls.command, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=calls.environment,
        )

    def _restart(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self._process = self._start()


def git_directory(folder: Path) -> Path | None:
    """The git directory of a folder, or of the only repository one level below."""
    here = _git_directory_here(folder)
    if here is not None or not folder.is_dir():
        return here
    below = [found for child in sorted(folder.iterdir()) if (found := _git_directory_here(child)) is not None]
    return below[0] if len(below) == 1 else None


def _resolve(calls: GitCall, revision: str) -> str | None:
    try:
        found = calls.run("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
    except GitError:
        return None
    return found.decode().strip() or None


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
        address = reading(folder).run("config", "--get", "remote.origin.url").decode(errors="replace").strip()
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
        return "missing"
    return "a folder" if folder.is_dir() else "a file"


_READING = {**OFFLINE, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def cloning() -> GitCall:
    """Calls that may reach a network, by the usual protocols only."""
    return git_call("git", environment={"GIT_ALLOW_PROTOCOL": "https:http:ssh:git"})


def reading(folder: Path) -> GitCall:
    """Calls in a git directory, where its settings count but start nothing."""
    return git_call(str(folder), ["--git-dir", str(folder)], environment=_READING)


def borrowing(folder: Path) -> GitCall:
    """Calls that see the objects of a git directory, but none of its settings and names."""
    facts = ("--git-path", "objects", "--git-path", "shallow", "--show-object-format")
    found = reading(folder).run("rev-parse", "--path-format=absolute", *facts)
    objects, shallow, hashing = os.fsdecode(found).splitlines()
    borrowed = {"GIT_OBJECT_DIRECTORY": objects, "GIT_SHALLOW_FILE": shallow}
    where = ["--git-dir", str(_empty_repository(hashing))]
    return git_call(str(folder), where, environment=_READING | borrowed)


@cache
def _empty_repository(hashing: str) -> Path:
    """A git directory without settings for ids of this kind, which is deleted when the program ends."""
    folder = Path(mkdtemp(prefix="hyperheat-git-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "objects").mkdir()
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    settings = f"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = {hashing}\n"
    (folder / "config").write_text(settings, encoding="utf-8")
    return folder


def find_repository(project: str, address: str, folder: Path, *, clone: bool) -> Repository | None:
    """The repository `owner/name` below a folder; if it is not there, None or a new clone.

    It may be in `owner+name`, `owner/name`, `owner__name` or `name`, bare or with a work tree. Raises GitError
    if cloning fails.
    """
    owner, name = project.split("/")
    for place in (f"{owner}+{name}", f"{owner}/{name}", f"{owner}__{name}", name):
        for spelled in (place, f"{place}.git"):
            found = git_directory(folder / spelled)
            if found is not None:
                return Repository(found, project)
    if not clone:
        return None
    return Repository(_clone(address, folder / f"{owner}+{name}"), project)


def _clone(address: str, target: Path) -> Path:
    """A bare clone, which appears only when it is complete."""
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        cloning().run("clone", "--bare", "--quiet", "--", address, str(part))
        part.replace(target)
    except GitError as error:
        raise GitError(f"{address}: cannot be cloned: {str(error).removeprefix('git: ')}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target
