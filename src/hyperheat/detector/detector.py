"""An exported detector before its weights are loaded: its folder, its name and its calibration."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hyperheat.detector.calibration import Calibration
from hyperheat.detector.manifest import CALIBRATION, WEIGHTS, key_of, list_files, read_listed

__all__ = ["BUILT_IN", "Detector", "load_detector"]

BUILT_IN = "built-in"
"""The name of the model in the package."""


@dataclass(frozen=True)
class Detector:
    """An exported detector with a calibration; workers load the weights from its folder."""

    folder: Path
    name: str
    sha256: str
    """That of the model file."""
    calibration: Calibration
    key: str
    """Names the content of the model, its calibration and this version: results under one key can be compared."""


def load_detector(folder: Path | None = None, *, name: str | None = None) -> Detector:
    """The detector in a folder, or the one that comes with the package.

    Only the calibration is read and compared with the manifest; whoever loads the rest, or uses results of an earlier
    scan, compares all of it. Raises ValueError in one sentence if there is no detector.
    """
    if folder is None:
        folder, name = Path(str(files("hyperheat") / "model")), BUILT_IN
        if not folder.is_dir():
            raise ValueError(
                "this installation of hyperheat comes without a model: pass the folder of an exported one with --model"
            )
    else:
        folder = folder.absolute()
    listed = list_files(folder)
    if CALIBRATION not in listed:
        raise ValueError(
            f"{folder}: this detector has no {CALIBRATION}: run `hyperheat bugs calibrate --model` on it first"
        )
    content = read_listed(folder / CALIBRATION, listed[CALIBRATION])
    try:
        calibration = Calibration.parse(content)
    except ValueError as error:
        raise ValueError(f"{folder / CALIBRATION}: {error}") from None
    sha256 = str(listed[WEIGHTS].get("sha256"))
    return Detector(folder, name or folder.name, sha256, calibration, key_of(listed))
