"""Comparing a model with its manifest while a scan takes its results from the cache.

Workers do so when they load the model. A scan whose results are all known starts no worker, so it does so itself, in a
thread: results of a model that is damaged or was replaced are not shown. The cache remembers the sizes, times and numbers
of the files that were found sound, here or by workers; while they stay the same, the files are not read again.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
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
        self._was_loaded = False

    def begin(self) -> None:
        """Start, unless it was started before."""
        if self._thread is None:
            self._thread = Thread(target=self._compare, name="compare model", daemon=True)
            self._thread.start()

    def expect_workers(self) -> None:
        """Note the state of the files before workers load them."""
        _first_state(self._detector.folder, self._detector.key)

    def was_loaded(self) -> None:
        """A worker has loaded the model, and so compared it: the cache may remember that."""
        if self._cache is None or self._was_loaded:
            return
        self._was_loaded = True
        state = _first_state(self._detector.folder, self._detector.key)
        if state is not None and not self._cache.knows_model(state):
            self._cache.remember_model(state)

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


@lru_cache(maxsize=8)
def _first_state(folder: Path, key: str) -> bytes | None:
    """The state of a detector's files when this process first asked for it; None if they are not those of the detector."""
    try:
        listed = list_files(folder)
        return _state(folder, listed) if key_of(listed) == key else None
    except (ValueError, OSError):
        return None


def _state(folder: Path, names: Iterable[str]) -> bytes:
    """What changes whenever a file is written: taken before it is read."""
    found = {name: (folder / name).stat() for name in sorted(names)}
    times = {name: [s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev] for name, s in found.items()}
    return json.dumps([str(folder), times]).encode()
