"""Results of earlier scans, one file for each file that was scanned.

    ~/.cache/hyperheat/
        CACHEDIR.TAG, .gitignore            so that backups and git leave it alone
        secret                              of this user
        <detector>/<path>.json              names are hashes
        <detector>/model.json               which files of the model were compared with their hashes

An entry is a line with a keyed hash of its name and of the rest, then one JSON object: the sha256 of the file and its
record. Entries cannot be forged without the secret. They are written atomically, so any number of scans can share the
folder and be killed at any moment. Anything that is not a valid entry is ignored, and so are the entries of another
detector, another version of this program or of Python, or other rewrites: these are part of the folder's name.

The folder and the secret belong to the user. Entries can be kept in another folder, but the secret cannot, so a project
that ships cache entries cannot forge them:

    Linux      $XDG_CACHE_HOME/hyperheat, or ~/.cache/hyperheat
    macOS      ~/Library/Caches/hyperheat
    Windows    %LOCALAPPDATA%\\hyperheat\\Cache
    anywhere   $HYPERHEAT_CACHE
"""

import hashlib
import hmac
import json
import os
import stat
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.check.discovery import FoundFile
from hyperheat.check.records import FileRecord
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, kind_of_file, read_regular, write_whole

__all__ = [
    "VARIABLE",
    "Cache",
    "CacheError",
    "Entry",
    "hash_rewrites",
    "make_private",
    "make_secret",
    "read_secret",
    "refuse_shared",
    "user_folder",
]

VARIABLE = "HYPERHEAT_CACHE"
"""The environment variable that names the folder."""

_REWRITES = Path(__file__).parents[1] / "rewrites"
_SECRET = "secret"
_SECRET_BYTES = 32
_VERSION = 5
_MAX_ENTRY = 20_000_000
_MAX_BYTES = 256_000_000
_MAX_AGE = 30 * 86400.0
_TOUCH_AGE = 86400.0
_TIDY_AGE = 3600.0
_TIDIED = "tidied"
_MODEL = "model.json"
_TAGS = {
    ".gitignore": "*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Results of hyperheat, which makes them again if needed.\n",
}


class CacheError(ValueError):
    """A folder that others can write to, in one sentence that begins with its name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached result: the sha256 of the file's bytes, empty if not all of it was scanned, and its record.

    If the scan exceeded a limit, `limits` are those of that scan: seconds, seconds of work, bytes of memory.
    """

    sha256: str
    record: FileRecord
    limits: tuple[float, float, float] | None = None


class Cache:
    """A folder of entries for one detector. Entries that cannot be read are computed again."""

    def __init__(self, folder: Path, home: Path, detector: Detector) -> None:
        """Use a folder, which appears with the first entry, and the secret in the user's own folder.

        Raises CacheError if one of them is not the user's own.
        """
        python = f"{sys.version_info.major}.{sys.version_info.minor}"  # what source means depends on it
        parts = [str(_VERSION), python, detector.key, hash_rewrites()]
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
        self.folder, self.entries = folder, folder / name
        self._home, self._ready = home, False
        for place in {home, folder, self.entries}:
            refuse_shared(place)
        self._secret = read_secret(home)

    @classmethod
    def open(cls, detector: Detector, folder: Path | None = None) -> "Cache | None":
        """The cache in `folder`, by default in the user's cache folder; None if the user has no home."""
        home = user_folder()
        return None if home is None else cls(folder or home, home, detector)

    def load(self, file: FoundFile) -> Entry | None:
        """The entry of a file, if there is one."""
        path = self._path(file)
        try:
            values = json.loads(self._get(path))
            entry = Entry(
                values["sha256"], FileRecord.from_plain(values["record"]), _limits(values.get("limits"))
            )
        except (SkippedFile, ValueError, LookupError, TypeError, RecursionError):
            return None
        with suppress(OSError):
            now = time.time()
            if now - path.stat().st_mtime > _TOUCH_AGE:
                os.utime(path, (now, now))
        return entry

    def store(self, file: FoundFile, entry: Entry) -> None:
        """Write an entry, replacing an older one."""
        values = {"sha256": entry.sha256, "record": entry.record.to_plain(), "limits": entry.limits}
        self._put(self._path(file), json.dumps(values, separators=(",", ":")).encode())

    def knows_model(self, state: bytes) -> bool:
        """Whether the files of the model were sound when they were last compared, in this very state."""
        try:
            return self._get(self.entries / _MODEL) == state
        except SkippedFile:
            return False

    def remember_model(self, state: bytes) -> None:
        """Note the state of files that are sound."""
        self._put(self.entries / _MODEL, state)

    def tidy_now_and_then(self) -> None:
        """Tidy, at most once an hour."""
        stamp = self.folder / _TIDIED
        with suppress(OSError):
            if not stamp.exists() or time.time() - stamp.stat().st_mtime > _TIDY_AGE:
                write_whole(stamp, b"", durable=False)
                self.tidy()

    def tidy(self) -> None:
        """Remove entries unused for a month, then the least recently used ones until the cache fits its size limit."""
        found = []
        with suppress(OSError):
            for folder in [
                entry.path for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)
            ]:
                for entry in os.scandir(folder):
                    if entry.name.endswith((".json", ".tmp")) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found.append((status.st_mtime, status.st_size, entry.path))
        oldest, room = time.time() - _MAX_AGE, _MAX_BYTES
        for used, size, path in sorted(found, reverse=True):
            room -= size
            if used < oldest or room < 0:
                with suppress(OSError):
                    os.unlink(path)

    def _make_ready(self) -> bytes:
        """Create the folders, the tags and the secret if they are missing."""
        if self._secret is None:
            self._secret = make_secret(self._home)
        if not self._ready:
            make_private(self.folder)
            make_private(self.entries)
            for name, text in _TAGS.items():
                if not os.path.lexists(self.folder / name):
                    write_whole(self.folder / name, text.encode(), durable=False)
            self._ready = True
        return self._secret

    def _get(self, path: Path) -> bytes:
        """The content of a file of this cache. Raises SkippedFile if there is none, or none that can be trusted."""
        if self._secret is None:
            raise SkippedFile("there is no secret yet")
        check, _, content = read_regular(path, max_bytes=_MAX_ENTRY, follow=False).partition(b"\n")
        if not hmac.compare_digest(self._sign(path, content, self._secret), check):
            raise SkippedFile("not signed by this user")
        return content

    def _put(self, path: Path, content: bytes) -> None:
        with suppress(OSError):
            secret = self._make_ready()
            write_whole(path, self._sign(path, content, secret) + b"\n" + content, durable=False)

    def _path(self, file: FoundFile) -> Path:
        name = hashlib.sha256(os.fsencode(file.path)).hexdigest()[:40]
        return self.entries / f"{name}.json"

    def _sign(self, path: Path, content: bytes, secret: bytes) -> bytes:
        named = f"{self.entries.name}/{path.name}\n".encode() + content
        return hmac.digest(secret, named, "sha256").hex().encode()


def hash_rewrites() -> str:
    """A hash of the code of all rewrites: records hold the messages that it makes. Importing it would take longer."""
    found = hashlib.sha256()
    for path in sorted(_REWRITES.rglob("*.py")):
        with suppress(OSError):
            found.update(path.read_bytes())
    return found.hexdigest()


def _limits(value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    seconds, work_seconds, memory = map(float, value)
    return seconds, work_seconds, memory


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


_HINT = "remove it, or name another folder with --cache-dir"


def refuse_shared(path: Path, *, what: str = "as a cache", hint: str = _HINT) -> None:
    """Raise CacheError unless the path is missing or a folder that only this user can write to."""
    try:
        status = path.lstat()
    except OSError:  # nothing there, or out of reach: then nothing is read or written
        return
    if not stat.S_ISDIR(status.st_mode):
        raise CacheError(f"{path}: not used {what}: expected a folder, got {kind_of_file(status.st_mode)}")
    _refuse_others(path, status, stat.S_IWGRP | stat.S_IWOTH, "written to", what=what, hint=hint)


def make_private(path: Path) -> None:
    """Create a folder that only this user can read and write, if it is missing. Raises OSError."""
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
    _refuse_others(path, status, stat.S_IRWXG | stat.S_IRWXO, "read", what="as a cache", hint=_HINT)
    return secret if len(secret) == _SECRET_BYTES else None


def make_secret(folder: Path) -> bytes:
    """Create the secret of a folder, or read the one that another process has just created. Raises OSError."""
    make_private(folder)
    if (secret := read_secret(folder)) is not None:
        return secret
    write_whole(folder / _SECRET, os.urandom(_SECRET_BYTES), mode=0o600)
    secret = read_secret(folder)
    if secret is None:
        raise OSError(f"{folder / _SECRET}: the file was changed right after it was written")
    return secret


def _refuse_others(
    path: Path, status: os.stat_result, forbidden: int, done: str, *, what: str, hint: str
) -> None:
    if not hasattr(os, "geteuid"):  # Windows, where the folders of a user are the user's own
        return
    if status.st_uid != os.geteuid():
        raise CacheError(f"{path}: not used {what}: it belongs to another user; {hint}")
    if status.st_mode & forbidden:
        mode = stat.S_IMODE(status.st_mode)
        raise CacheError(f"{path}: not used {what}: it can be {done} by others (mode {mode:04o}); {hint}")
