"""The user's own folder for results of earlier scans, and the secret that marks them as the user's own.

    Linux      $XDG_CACHE_HOME/hyperheat, or ~/.cache/hyperheat
    macOS      ~/Library/Caches/hyperheat
    Windows    %LOCALAPPDATA%\\hyperheat\\Cache
    anywhere   $HYPERHEAT_CACHE

Entries may be kept in another folder, but the secret never is: a project that brings entries along cannot know it.
"""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes

from hyperheat.files import SkippedFile, kind_of_file, read_regular, write_whole

__all__ = [
    "VARIABLE",
    "CacheError",
    "make_private",
    "make_secret",
    "read_secret",
    "refuse_shared",
    "user_folder",
]

VARIABLE = "HYPERHEAT_CACHE"
"""The environment variable that names the folder."""

_SECRET = "secret"
_SECRET_BYTES = 32


class CacheError(ValueError):
    """A folder that others can write to, in one sentence that begins with its name."""


def user_folder() -> Path | None:
    """The folder of this user, which need not exist; None if the user has no home."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.path.isabs(named):
            raise CacheError(f"{VARIABLE}: expected an absolute path, got {named!r}")
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "hyperheat"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "hyperheat" / "Cache"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else home / ".cache") / "hyperheat"


def refuse_shared(path: Path) -> None:
    """Raise CacheError if there is something else than a folder that belongs to this user, and to no other."""
    try:
        status = path.lstat()
    except OSError:  # nothing there, or out of reach: then nothing is read or written
        return
    if not stat.S_ISDIR(status.st_mode):
        raise CacheError(f"{path}: expected a folder for the cache, got {kind_of_file(status.st_mode)}")
    _refuse_others(path, status, stat.S_IWGRP | stat.S_IWOTH, "written to")


def make_private(path: Path) -> None:
    """Make a folder that nobody else can read or write, if there is none. Raises OSError."""
    if not path.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
    refuse_shared(path)


def read_secret(folder: Path) -> bytes | None:
    """The secret in a folder; None if there is none yet. Raises CacheError if others know it."""
    path = folder / _SECRET
    try:
        secret = read_regular(path, max_bytes=_SECRET_BYTES, follow=False)
        status = path.lstat()
    except (SkippedFile, OSError):
        return None
    _refuse_others(path, status, stat.S_IRWXG | stat.S_IRWXO, "read")
    return secret if len(secret) == _SECRET_BYTES else None


def make_secret(folder: Path) -> bytes:
    """A new secret in a folder, or the one that somebody else has just made. Raises OSError."""
    make_private(folder)
    if (secret := read_secret(folder)) is not None:
        return secret
    write_whole(folder / _SECRET, token_bytes(_SECRET_BYTES), mode=0o600)
    secret = read_secret(folder)
    if secret is None:
        raise OSError(f"{folder / _SECRET}: expected what was just written, got something else")
    return secret


def _refuse_others(path: Path, status: os.stat_result, forbidden: int, what: str) -> None:
    if not hasattr(os, "geteuid"):  # Windows, where the folders of a user are the user's own
        return
    hint = "remove it, or name another folder with --cache-dir"
    if status.st_uid != os.geteuid():
        raise CacheError(f"{path}: not used as a cache: it belongs to another user; {hint}")
    if status.st_mode & forbidden:
        mode = stat.S_IMODE(status.st_mode)
        raise CacheError(f"{path}: not used as a cache: it can be {what} by others (mode {mode:04o}); {hint}")
