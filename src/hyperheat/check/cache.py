"""Results of earlier scans, one file for each file that was scanned.

    ~/.cache/hyperheat/
        CACHEDIR.TAG, .gitignore            so that backups and git leave it alone
        secret                              of this user
        <detector>/<path>.json              names are hashes

An entry is a line with a keyed hash of its name and of the rest, then one JSON object: the sha256 of the file and its
record. Only who knows the secret can make one, so that an entry is what this program has written. It appears whole or
not at all, so any number of scans may use the folder at once and be ended at any moment. What is not an entry, or
that of another detector or version, is as good as nothing.
"""

import hashlib
import hmac
import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.check.cache_folder import make_private, make_secret, read_secret, refuse_shared, user_folder
from hyperheat.check.discover import FoundFile
from hyperheat.check.records import Record
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, read_regular, write_whole

__all__ = ["Cache", "Entry"]

_VERSION = 3
_MAX_ENTRY = 20_000_000
_MAX_BYTES = 256_000_000
_MAX_AGE = 30 * 86400.0
_TOUCH_AGE = 86400.0
_TIDY_AGE = 3600.0
_TIDIED = "tidied"
_TAGS = {
    ".gitignore": "*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Results of hyperheat, which makes them again if needed.\n",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a file: the sha256 of its bytes at that time, and its record; empty if not all was looked at.

    If looking at it went over one of the limits, these are they: seconds, seconds of work, bytes of memory.
    """

    sha256: str
    record: Record
    limits: tuple[float, float, float] | None = None


class Cache:
    """A folder of entries for one detector. What cannot be read or written is made again."""

    def __init__(self, folder: Path, home: Path, detector: Detector) -> None:
        """Use a folder, which appears with the first entry, and the secret in the user's own folder.

        Raises CacheError if one of them is not the user's own.
        """
        python = f"{sys.version_info.major}.{sys.version_info.minor}"  # what source means depends on it
        name = hashlib.sha256("\0".join([str(_VERSION), python, detector.key]).encode()).hexdigest()[:24]
        self.folder, self.entries = folder, folder / name
        self._home, self._ready = home, False
        for place in {home, folder, self.entries}:
            refuse_shared(place)
        self._secret = read_secret(home)

    @classmethod
    def open(cls, detector: Detector, folder: Path | None = None) -> "Cache | None":
        """The cache in a folder, or else in the user's own; None if the user has none."""
        home = user_folder()
        return None if home is None else cls(folder or home, home, detector)

    def load(self, file: FoundFile) -> Entry | None:
        """The entry of a file, if there is one."""
        if self._secret is None:
            return None
        path = self._path(file)
        try:
            check, _, content = read_regular(path, max_bytes=_MAX_ENTRY, follow=False).partition(b"\n")
            if not hmac.compare_digest(self._sign(path, content, self._secret), check):
                return None
            values = json.loads(content)
            entry = Entry(values["sha256"], values["record"], _limits(values.get("limits")))
        except (SkippedFile, ValueError, LookupError, TypeError, RecursionError):
            return None
        with suppress(OSError):
            now = time.time()
            if now - path.stat().st_mtime > _TOUCH_AGE:
                os.utime(path, (now, now))
        return entry

    def store(self, file: FoundFile, entry: Entry) -> None:
        """Put an entry in place of the one before."""
        values = {"sha256": entry.sha256, "record": entry.record, "limits": entry.limits}
        content = json.dumps(values, separators=(",", ":")).encode()
        with suppress(OSError):
            secret = self._make_ready()
            path = self._path(file)
            write_whole(path, self._sign(path, content, secret) + b"\n" + content, durable=False)

    def tidy_now_and_then(self) -> None:
        """Tidy, unless that was done within the last hour."""
        stamp = self.folder / _TIDIED
        with suppress(OSError):
            if not stamp.exists() or time.time() - stamp.stat().st_mtime > _TIDY_AGE:
                write_whole(stamp, b"", durable=False)
                self.tidy()

    def tidy(self) -> None:
        """Remove what was not used for a month, then the least recently used beyond the largest size."""
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
        """Make the folders, the tags and the secret, where they are not there yet."""
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

    def _path(self, file: FoundFile) -> Path:
        name = hashlib.sha256(os.fsencode(file.path)).hexdigest()[:40]
        return self.entries / f"{name}.json"

    def _sign(self, path: Path, content: bytes, secret: bytes) -> bytes:
        named = f"{self.entries.name}/{path.name}\n".encode() + content
        return hmac.digest(secret, named, "sha256").hex().encode()


def _limits(value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    seconds, work_seconds, memory = map(float, value)
    return seconds, work_seconds, memory
