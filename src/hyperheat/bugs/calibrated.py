"""An exported detector gets its calibration: the file, its line in the manifest and a section of the model card."""

import json
import re
from pathlib import Path

from hyperheat.detector.calibration import Calibration, Curve, Point
from hyperheat.detector.manifest import CALIBRATION, describe_file, read_folder
from hyperheat.files import parse_json, whole_file

__all__ = ["add_calibration"]

_TITLE = "## What was measured"


def add_calibration(folder: Path, calibration: Calibration) -> None:
    """Write calibration.json into the folder of an exported detector; an earlier one is replaced.

    The manifest is written without it first: whenever this is stopped, the folder holds a detector that can be loaded.
    """
    read_folder(folder)
    path = folder / "manifest.json"
    manifest = parse_json(path.read_text(encoding="utf-8"))
    manifest["files"].pop(CALIBRATION, None)
    _write(path, json.dumps(manifest, indent=1) + "\n")
    _write(folder / CALIBRATION, calibration.to_json())
    manifest["files"][CALIBRATION] = describe_file(folder / CALIBRATION)
    _write(path, json.dumps(manifest, indent=1) + "\n")
    card = folder / "MODEL_CARD.md"
    if card.is_file():
        _write(card, _with_section(card.read_text(encoding="utf-8"), _section(calibration)))


def _with_section(card: str, section: str) -> str:
    """The card with its section of measured figures replaced, or added at the end."""
    rest = re.sub(rf"\n*^{_TITLE}\n.*?(?=^## |\Z)", "\n\n", card, flags=re.DOTALL | re.MULTILINE)
    return f"{rest.rstrip()}\n\n{section}"


def _section(calibration: Calibration) -> str:
    rows = [
        _row(curve, tier, threshold)
        for curve in calibration.curves
        for tier, threshold in calibration.tiers.items()
    ]
    return "\n".join(
        [
            _TITLE,
            "",
            f"Precision holds if {calibration.bug_rate:.1%} of functions have a bug: an assumption; real code has fewer. "
            f"Functions with fewer than {calibration.min_candidates} candidate changes are not judged.",
            "",
            "| data | functions, with a bug | tier | confidence from | precision (at least) | recall | false alarms |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _row(curve: Curve, tier: str, threshold: float) -> str:
    point = next((point for point in curve.points if point.confidence == threshold), None)
    cells = [curve.data, f"{curve.functions:,}, {curve.bugs:,}", tier, f"{threshold:.3f}", *_figures(point)]
    return f"| {' | '.join(cells)} |"


def _figures(point: Point | None) -> list[str]:
    if point is None:
        return ["too few found to say", "", ""]
    precision = f"{point.precision:.1%} ({point.lower:.1%})"
    return [precision, f"{point.recall:.1%}", f"{point.false_alarms:.2%}"]


def _write(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
