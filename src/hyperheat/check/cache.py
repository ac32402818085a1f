"""Results of earlier scans, one file for each file that was scanned.

    .hyperheat_cache/
        CACHEDIR.TAG, .gitignore            so that backups and git leave it alone
        <detector>/<path>.json              names are hashes

An entry is a line with the hash of the rest, then one JSON object: the sha256 of the file and its record. It appears
whole or not at all, so any number of scans may use the folder at once and be ended at any moment. What is not an
entry, or that of another detector or version, is as good as nothing.
"""

import hashlib
import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from hyperheat.check.detector import Detector
from hyperheat.check.discover import FoundFile
from hyperheat.check.files import SkippedFile, read_regular
from hyperheat.check.records import Record

__all__ = ["FOLDER", "Cache", "Entry"]

FOLDER = ".hyperheat_cache"
"""The name of the folder, below the root of a scan."""

_VERSION = 1
_MAX_ENTRY = 50_000_000
_MAX_BYTES = 256_000_000
_MAX_AGE = 30 * 86400.0
_TOUCH_AGE = 86400.0
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# Results of hyperheat, which makes them again if needed.\n"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a file: the sha256 of its bytes at that time, and its record."""

    sha256: str
    record: Record


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries for one detector. It never fails: what cannot be read or written is made again."""

    folder: Path
    entries: Path

    @classmethod
    def open(cls, folder: Path, detector: Detector) -> "Cache":
        """Use a folder, which appears with the first entry."""
        python = f"{sys.version_info.major}.{sys.version_info.minor}"  # what source means depends on it
        name = hashlib.sha256("\0".join([str(_VERSION), python, detector.key]).encode()).hexdigest()[:24]
        return cls(folder, folder / name)

    def load(self, file: FoundFile) -> Entry | None:
        """The entry of a file, if there is one."""
        path = self._path(file)
        try:
            check, _, content = read_regular(path, max_bytes=_MAX_ENTRY, follow=False).partition(b"\n")
            if _hash(content) != check:
                return None
            values = json.loads(content)
            entry = Entry(values["sha256"], values["record"])
        except (SkippedFile, ValueError, LookupError, TypeError, RecursionError):
            return None
        with suppress(OSError):
            now = time.time()
            if now - path.stat().st_mtime > _TOUCH_AGE:
                os.utime(path, (now, now))
        return entry

    def store(self, file: FoundFile, entry: Entry) -> None:
        """Put an entry in place of the one before."""
        content = json.dumps({"sha256": entry.sha256, "record": entry.record}, separators=(",", ":")).encode()
        with suppress(OSError):
            self._make_folder()
            path = self._path(file)
            temporary = path.with_suffix(f".{os.getpid()}-{token_hex(4)}.tmp")
            try:
                temporary.write_bytes(_hash(content) + b"\n" + content)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

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

    def _make_folder(self) -> None:
        """Make the folder with its tags; a link in its place would lead writing elsewhere."""
        if self.entries.is_dir() and not self.folder.is_symlink() and not self.entries.is_symlink():
            return
        self.folder.mkdir(exist_ok=True)
        if self.folder.is_symlink() or self.entries.is_symlink():
            raise NotADirectoryError(f"{self.folder}: expected a folder, got a link")
        self.entries.mkdir(exist_ok=True)
        (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        (self.folder / "CACHEDIR.TAG").write_text(_TAG, encoding="utf-8")

    def _path(self, file: FoundFile) -> Path:
        name = hashlib.sha256(file.shown.encode("utf-8", "surrogatepass")).hexdigest()[:40]
        return self.entries / f"{name}.json"


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
