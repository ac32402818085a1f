"""Comparing a model with its manifest while a scan takes its results from the cache.

Workers do so when they load the model. A scan whose results are all known starts no worker, so it does so itself, in a
thread: results of a model that is damaged or was replaced are not shown.
"""

from threading import Thread

from hyperheat.detector.detector import Detector
from hyperheat.detector.manifest import key_of, list_files, read_folder
from hyperheat.workers.worker import WorkersError

__all__ = ["ModelCheck"]


class ModelCheck:
    """One comparison of the files of a detector with its manifest, in the background."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
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
            read_folder(folder)
            if key_of(list_files(folder)) != self._detector.key:
                self._problem = f"{folder}: the detector was replaced during the scan"
        except (ValueError, OSError) as error:
            self._problem = str(error)
