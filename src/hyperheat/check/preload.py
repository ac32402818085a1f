"""What worker processes have loaded when they start.

This module imports almost nothing itself, so that the process that workers are forked from can start first.
"""

from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.detector.manifest import LoadedModel

__all__ = ["MODULES", "load_once", "start_early"]

MODULES = (
    "numpy",
    "hyperheat.check.scan_work",
    "hyperheat.check.analysis",
    "hyperheat.detector.scorer",
)
"""What workers import, what the model needs first: it is loaded beside the rest."""


def start_early() -> None:
    """Import these modules in the background."""
    from hyperheat.workers.template import CAN_COPY, get_template

    if CAN_COPY:
        with suppress(OSError):  # which a scan will meet again
            get_template(MODULES)


@lru_cache(maxsize=1)
def load_once(folder: Path, key: str) -> "LoadedModel":
    """The model of the detector with that key, loaded once in a process and its copies."""
    from hyperheat.detector.manifest import load_detector_files

    model = load_detector_files(folder)
    if model.key != key:
        raise ValueError(f"{folder}: the detector was replaced during the scan")
    return model
