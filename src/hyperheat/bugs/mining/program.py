"""Running git on repositories that others made: nothing in their settings may start a program or reach a network.

Names of commits are read in the repository itself, with all that its settings could start switched off. All else is
read through an empty repository of ours that borrows the objects. So settings do not count there, and an object that a
partial clone lacks is absent instead of fetched.
"""

import atexit
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

__all__ = ["GitCall", "GitError", "borrowing", "cloning", "reading"]

_ALWAYS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_READING = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
_OPTIONS = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false")


class GitError(ValueError):
    """A history that cannot be read, in one sentence."""


@dataclass(frozen=True)
class GitCall:
    """How git is called: what goes before a command's name, its environment, and what errors speak of."""

    command: list[str]
    environment: dict[str, str]
    subject: str

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """The output of a git command; raises GitError with the last line that it said."""
        try:
            done = subprocess.run(
                [*self.command, *arguments], input=given, capture_output=True, env=self.environment
            )
        except FileNotFoundError:
            raise GitError("git: expected the program to be installed, got nothing of this name") from None
        if done.returncode:
            raise self.error(done.stderr)
        return done.stdout

    def error(self, output: bytes) -> GitError:
        """The error of a command that said this."""
        lines = output.decode(errors="replace").strip().splitlines() or ["git gave no reason"]
        return GitError(f"{self.subject}: {lines[-1].removeprefix('fatal: ').removeprefix('error: ')[:300]}")


def cloning() -> GitCall:
    """Calls that may reach a network, by the usual protocols only."""
    return _call("git", None, {"GIT_ALLOW_PROTOCOL": "https:http:ssh:git"})


def reading(folder: Path) -> GitCall:
    """Calls in a git directory, where its settings count but start nothing."""
    return _call(str(folder), folder, _READING)


def borrowing(folder: Path) -> GitCall:
    """Calls that see the objects of a git directory, but none of its settings and names."""
    facts = ("--git-path", "objects", "--git-path", "shallow", "--show-object-format")
    found = reading(folder).run("rev-parse", "--path-format=absolute", *facts)
    objects, shallow, hashing = os.fsdecode(found).splitlines()
    borrowed = {"GIT_OBJECT_DIRECTORY": objects, "GIT_SHALLOW_FILE": shallow}
    return _call(str(folder), _empty_repository(hashing), _READING | borrowed)


def _call(subject: str, folder: Path | None, environment: dict[str, str]) -> GitCall:
    """A call without a surrounding git command's settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    options = [part for option in _OPTIONS for part in ("-c", option)]
    where = [] if folder is None else ["--git-dir", str(folder)]
    return GitCall(
        ["git", "--no-pager", "--no-replace-objects", *options, *where], own | _ALWAYS | environment, subject
    )


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
