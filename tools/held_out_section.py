"""What detectors do on data of the test splits: a section of a page, from held-out.json.

    python tools/held_out_section.py --detector "built-in" --data "released bugs" --plain eval.json --weighed weighed.json

adds a row, or replaces it: outputs of `hyperheat bugs eval --json --clean CORPUS` on the test split of some data, without and
with `--bug-odds`.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table
from training_runs import RESULTS, read_json, write_json

FILE = RESULTS / "held-out.json"
_FIGURES = ("samples", "buggy", "joint", "loc", "repair", "found", "false_alarms")
_RATES = ("100", "30", "10", "3", "1")


def read_row(detector: str, data: str, plain: Path, weighed: Path) -> dict[str, Any]:
    """What one detector does on one set of data."""
    without, weighted = read_json(plain), read_json(weighed)
    if without["weights_sha256"] != weighted["weights_sha256"]:
        raise ValueError(f"{weighed}: expected figures of the weights of {plain}, got those of others")
    if without["bug_odds"] != 1:
        raise ValueError(f"{plain}: expected figures without --bug-odds, got {without['bug_odds']:g}")
    if without["all"]["samples"] != weighted["all"]["samples"]:
        raise ValueError(f"{weighed}: expected figures of the samples of {plain}, got those of others")
    return {
        "detector": detector,
        "data": data,
        "weights_sha256": without["weights_sha256"],
        "bug_odds": weighted["bug_odds"],
        "plain": {key: without["all"][key] for key in _FIGURES},
        "weighed": {key: weighted["all"][key] for key in _FIGURES},
        "clean_functions": without.get("clean_functions"),
        "recall_at_alarms": without.get("recall_at_alarms"),
    }


def held_out_section(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The figures of detectors, with the odds of a bug as they are and multiplied."""
    quiet = [row for row in rows if row["recall_at_alarms"]]
    functions = sorted({row["clean_functions"] for row in quiet})
    return [
        "## The built-in detector on test data",
        "",
        "Looked at once, after the last step of training and all choices. Its training ends among clean functions, so it expects few",
        "bugs: as it is, it says little, which is right for a checker and costs *joint* on planted bugs, three to each clean function.",
        "*Odds*: the odds of a bug are multiplied by that (`bugs eval --bug-odds`), the factor that is best on planted bugs of",
        "validation packages. On real bugs of validation packages, with as many fixed functions, *joint* is best without it: there, odds trade",
        "false alarms for bugs, so compare detectors at the same alarms, in the second table. *joint* is over all samples, and *of the bugs* over those with a bug alone; the others are functions after their fix,",
        "or without a planted bug, and *false alarms* is the share of them in which a place is chosen. *found*: the best finding is right,",
        "even where no bug is more probable. Some of the planted bugs are also counted whenever a detector is calibrated.",
        "",
        *table(
            [
                "data",
                "detector",
                "samples",
                "with a bug",
                "odds",
                "joint",
                "±",
                "of the bugs",
                "false alarms",
                "loc",
                "repair",
                "found",
            ],
            [line for row in rows for line in (_line(row, "plain"), _line(row, "weighed"))],
        ),
        "",
        "The share of bugs that is found at so many alarms per 1,000 functions without a bug, of "
        f"{' or '.join(map(number, functions))} in test packages:",
        "",
        *table(
            ["data", "detector", *(f"at {rate}" for rate in _RATES)],
            [
                [row["data"], row["detector"], *(percent(row["recall_at_alarms"][rate]) for rate in _RATES)]
                for row in quiet
            ],
        ),
        "",
    ]


def _line(row: dict[str, Any], which: str) -> list[str]:
    figures = row[which]
    joint, samples, buggy = figures["joint"], figures["samples"], figures["buggy"]
    right = joint * samples - (samples - buggy) * (1 - (figures["false_alarms"] or 0))
    return [
        row["data"],
        row["detector"],
        number(samples),
        number(buggy),
        "as it is" if which == "plain" else f"x {row['bug_odds']:g}",
        percent(joint),
        f"{196 * math.sqrt(joint * (1 - joint) / samples):.1f}",
        f"**{percent(right / buggy)}**",
        *(percent(figures[key]) for key in ("false_alarms", "loc", "repair", "found")),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Add a row to held-out.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--detector", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--plain", type=Path, required=True)
    parser.add_argument("--weighed", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    try:
        row = read_row(given.detector, given.data, given.plain, given.weighed)
    except ValueError as error:
        parser.error(str(error))
    same = [(old["detector"], old["data"]) == (row["detector"], row["data"]) for old in rows]
    write_json(
        FILE,
        [row if is_same else old for old, is_same in zip(rows, same, strict=True)] + [row] * (not any(same)),
    )


if __name__ == "__main__":
    main()
