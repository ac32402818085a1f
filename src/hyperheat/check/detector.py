"""Which model scans, and how far to trust it: all that is known of a detector before its weights are loaded."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hyperheat.detector.calibration import Calibration
from hyperheat.detector.manifest import CALIBRATION, key_of, list_files, read_listed
from hyperheat.report.finding import Model

__all__ = ["Detector", "load_detector"]


@dataclass(frozen=True)
class Detector:
    """An exported detector with a calibration; workers load the weights from its folder."""

    folder: Path
    model: Model
    calibration: Calibration
    key: str
    """Names the model, its calibration and this version: results under one key can be compared."""


def load_detector(folder: Path | None = None) -> Detector:
    """The detector in a folder, or the one that comes with the package; raises ValueError in one sentence."""
    if folder is None:
        folder, name = Path(str(files("hyperheat") / "model")), "built-in"
        if not folder.is_dir():
            raise ValueError(
                "this installation of hyperheat has no model of its own: name the folder of an exported one with --model"
            )
    else:
        folder = folder.absolute()
        name = folder.name
    listed = list_files(folder)
    if CALIBRATION not in listed:
        raise ValueError(
            f"{folder}: expected a detector with {CALIBRATION}, got one whose findings were not measured; "
            "`hyperheat bugs calibrate` does that"
        )
    content = read_listed(folder / CALIBRATION, listed[CALIBRATION])
    try:
        calibration = Calibration.parse(content)
    except ValueError as error:
        raise ValueError(f"{folder / CALIBRATION}: {error}") from None
    model = Model(name=name, sha256=str(listed["model.onnx"].get("sha256")))
    return Detector(folder, model, calibration, key_of(listed))
