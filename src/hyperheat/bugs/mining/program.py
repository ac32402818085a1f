"""How git is called on histories that others made.

Names of commits are read in the repository itself, with all that its settings could start switched off. All else is
read through an empty repository of ours that borrows the objects. So settings do not count there, and an object that a
partial clone lacks is absent instead of fetched.
"""

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from hyperheat.git import OFFLINE, GitCall, git_call

__all__ = ["borrowing", "cloning", "reading"]

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
