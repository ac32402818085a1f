"""Comparing a model with its manifest while a scan takes its results from the cache.

Workers do so when they load the model. A scan whose results are all known starts no worker, so it does so itself, in a
thread: results of a model that is damaged or was replaced are not shown. The cache remembers the sizes, times and numbers
of the files that were found sound; while they stay the same, the files are not read again.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from threading import Thread

from hyperheat.check.cache import Cache
from hyperheat.detector.detector import Detector
from hyperheat.detector.manifest import key_of, list_files, read_folder
from hyperheat.workers.outcomes import WorkersError

__all__ = ["ModelCheck"]


class ModelCheck:
    """One comparison of the files of a detector with its manifest, in the background."""

    def __init__(self, detector: Detector, cache: Cache | None) -> None:
        self._detector, self._cache = detector, cache
        self._thread: Thread | None = None
        self._problem: str | None = None

    def begin(self) -> None:
        """Start, unless it was started before."""
        if self._thread is None:
            self._thread = Thread(target=self._compare, name="compare model", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait for the end. Raises WorkersError in one sentence if the model is not the one that was loaded."""
        if self._thread is not None:
            self._thread.join()
        if self._problem is not None:
            raise WorkersError(self._problem)

    def _compare(self) -> None:
        folder = self._detector.folder
        try:
            listed = list_files(folder)
            if key_of(listed) != self._detector.key:
                self._problem = f"{folder}: the detector was replaced during the scan"
                return
            state = _state(folder, listed)
            if self._cache is None or not self._cache.knows_model(state):
                read_folder(folder)
                if self._cache is not None:
                    self._cache.remember_model(state)
        except (ValueError, OSError) as error:
            self._problem = str(error)


def _state(folder: Path, names: Iterable[str]) -> bytes:
    """What changes whenever a file is written: taken before it is read."""
    found = {name: (folder / name).stat() for name in sorted(names)}
    times = {name: [s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev] for name, s in found.items()}
    return json.dumps([str(folder), times]).encode()
