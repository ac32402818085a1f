"""Collect what was measured of the checker into docs/results/check.json.

    python tools/collect_check.py --calibration calibration.json --speed speed.json --realbugs REALBUGS

The first is the output of `hyperheat bugs calibrate --json`, the second of `python -m benchmarks.check --json`, and the third
the folder of real fixes, if the former was given one. Afterwards `python tools/write_results.py` writes the page.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperheat.bugs.dataset import read_manifest
from hyperheat.detector.calibration import Calibration
from hyperheat.files import write_whole_text

RESULTS = Path(__file__).parents[1] / "docs" / "results"
_CALIBRATION = {"model", "options", "calibration", "tiers", "empty", "kinds", "surest"}
_SPEED = {
    *("code", "files", "lines", "repeats", "jobs"),
    *("seconds", "changed_after", "over_pylint", "peak_mb"),
}


def collect(calibration: Path, speed: Path, realbugs: Path | None, out: Path) -> None:
    """Read all that was given and write it as one file."""
    measured = _read(calibration, _CALIBRATION, "hyperheat bugs calibrate")
    if Calibration.from_plain(measured["calibration"]).alarms is None:
        raise ValueError(
            f"{calibration}: expected alarms on unedited code, got none: pass --unedited to bugs calibrate"
        )
    if measured["options"]["realbugs"] != (realbugs is not None):
        raise ValueError(
            "realbugs: expected the folder that was given to hyperheat bugs calibrate, if one was"
        )
    content = {
        "calibration": measured,
        "speed": _read(speed, _SPEED, "python -m benchmarks.check"),
        "realbugs": read_manifest(realbugs)["settings"] if realbugs else None,
    }
    write_whole_text(out / "check.json", json.dumps(content, indent=1) + "\n")


def _read(path: Path, keys: set[str], command: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict) or set(content) != keys:
        raise ValueError(f"{path}: expected the output of {command} --json, got something else")
    return content


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calibration", type=Path, required=True, metavar="FILE")
    parser.add_argument("--speed", type=Path, required=True, metavar="FILE")
    parser.add_argument("--realbugs", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    given = parser.parse_args(arguments)
    try:
        collect(given.calibration, given.speed, given.realbugs, given.out)
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
