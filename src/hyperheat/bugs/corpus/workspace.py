"""The files of a build: its folders, its lock, and the records of finished steps."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.packages import CorpusError
from hyperheat.files import parse_json, write_whole_text

__all__ = ["Workspace", "hold_lock", "load_record", "save_record"]


@dataclass(frozen=True)
class Workspace:
    """The folder of a corpus. What only the build needs lies in `.work` and may be deleted afterwards."""

    out: Path

    def make_folders(self) -> None:
        """Create the missing folders."""
        splits = [self.out / split for split in ("train", "valid", "test")]
        for folder in (*splits, self.archives, self.indexes, self.plans, self.made, self.unpacked):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def work(self) -> Path:
        """Everything that is not part of the data set."""
        return self.out / ".work"

    @property
    def settings(self) -> Path:
        """The settings that the build was started with."""
        return self.work / "settings.json"

    @property
    def archives(self) -> Path:
        """Wheels, and a record of each."""
        return self.work / "archives"

    @property
    def indexes(self) -> Path:
        """What pass one found in each package."""
        return self.work / "index"

    @property
    def plans(self) -> Path:
        """What each package contributes once duplicates are gone."""
        return self.work / "plan"

    @property
    def planned(self) -> Path:
        """The list of packages in the corpus; it is written when all plans are complete."""
        return self.work / "plan.json"

    @property
    def made(self) -> Path:
        """What pass two made of each package."""
        return self.work / "made"

    @property
    def unpacked(self) -> Path:
        """Files of the packages in progress."""
        return self.work / "unpacked"


@contextmanager
def hold_lock(folder: Path, busy: str) -> Iterator[None]:
    """Lock a folder; raises CorpusError with the message `busy` if another run holds the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CorpusError(busy) from None
        yield


def save_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record as JSON, complete or not at all; equal records give equal bytes."""
    write_whole_text(path, json.dumps(record, indent=1, sort_keys=True) + "\n")


def load_record(path: Path) -> dict[str, Any]:
    """Read a record that `save_record` wrote."""
    return parse_json(path.read_text(encoding="utf-8"))
