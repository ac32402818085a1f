"""How far to trust a finding: from the model's own probability to one that was measured.

    calibration = Calibration.parse(content)            # calibration.json of an exported detector
    sure = calibration.confidence(scores.findings[best])
    calibration.tier(sure)                              # "A", "B" or "C"
    calibration.at_precision(0.9).confidence            # show findings from here on

`measurement.py` makes one, and `add_calibration` puts it into the folder of a detector. Reading one needs no numpy.

The map is logistic in the log-odds of the model's probability p that a bug is there and that this repairs it:

    confidence = 1 / (1 + exp(-(slope * log(p / (1 - p)) + intercept)))

All figures hold for an assumed share of functions with a bug, `bug_rate`, which no data can tell, and for functions with
at least `min_candidates` candidate rewrites.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from hyperheat.detector.manifest import CALIBRATION, describe_file, read_folder
from hyperheat.files import parse_json, write_whole_text

__all__ = [
    "HELD_OUT",
    "REAL_FIXES",
    "TIERS",
    "Calibration",
    "Curve",
    "Point",
    "add_calibration",
    "log_odds",
    "to_confidence",
]

FORMAT = "hyperheat-calibration"
HELD_OUT = "held-out packages"
"""The data of the curve that thresholds come from: packages that were not trained on, with planted bugs."""
REAL_FIXES = "real fixes"
"""The data of a curve over functions before and after a fix in the history of a repository.

Where the functions after it are not at hand, those without a bug of held-out packages take their place.
"""
TIERS = ("A", "B", "C")

_DIGITS = 3
_HIGHEST = 0.999  # no finding is certain
_TITLE = "## What was measured"


@dataclass(frozen=True, kw_only=True)
class Point:
    """What was measured for findings of at least some confidence."""

    confidence: float
    precision: float
    """The share of them that is right: the right place and the right repair."""
    lower: float
    """The precision is at least this, with 97.5 % certainty: the lower end of its 95 % interval."""
    recall: float
    """The share of bugs that are found."""
    false_alarms: float
    """The share of functions without a bug that have a finding."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What was measured on one set of functions, for rising confidence."""

    data: str
    functions: int
    bugs: int
    """How many of the functions have a bug."""
    bug_rate: float
    """The share of functions with a bug that precision is computed for, whatever it is in the data."""
    error: float
    """The expected calibration error: how far confidence is from the share that is right, on average over findings."""
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The map to confidence, the tiers, and the curves that they come from."""

    slope: float
    intercept: float
    bug_rate: float
    min_candidates: int
    """The least number of candidate rewrites of functions that were trained on and measured; others are not judged."""
    tiers: Mapping[str, float]
    """The least confidence of tiers A and B."""
    curves: tuple[Curve, ...]

    def __post_init__(self) -> None:
        if not self.slope > 0:
            raise ValueError(f"slope: expected a number above 0, got {self.slope}")
        if not 0 < self.bug_rate < 1:
            raise ValueError(f"bug_rate: expected a share between 0 and 1, got {self.bug_rate}")
        if set(self.tiers) != set(TIERS[:2]) or not 0 <= self.tiers["B"] <= self.tiers["A"] <= 1:
            raise ValueError(f"tiers: expected the confidence of A and a lower one of B, got {self.tiers}")
        if [curve.data for curve in self.curves].count(HELD_OUT) != 1:
            raise ValueError(f"curves: expected one of {HELD_OUT}, got another number of them")

    def confidence(self, log_probability: float) -> float:
        """The calibrated probability that a finding is right, from the model's log-probability of place and repair."""
        return to_confidence(log_probability, self.slope, self.intercept)

    def tier(self, confidence: float) -> str:
        """A, B or C."""
        return next((tier for tier in TIERS[:2] if confidence >= self.tiers[tier]), TIERS[2])

    @property
    def held_out(self) -> Curve:
        """The curve on held-out packages."""
        return next(curve for curve in self.curves if curve.data == HELD_OUT)

    def at_precision(self, precision: float) -> Point:
        """The lowest threshold that was measured to give this precision on held-out packages."""
        curve = self.held_out
        for point in curve.points:
            if point.precision >= precision:
                return point
        best = max((point.precision for point in curve.points), default=None)
        measured = "nothing was found" if best is None else f"the best that was measured is {best:.2f}"
        raise ValueError(
            f"expected a precision that the model reaches on {HELD_OUT} if {curve.bug_rate:.1%} of functions "
            f"have a bug, got {precision:g}: {measured}"
        )

    def to_json(self) -> str:
        """The content of calibration.json."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def parse(cls, content: bytes) -> "Calibration":
        """Read calibration.json; whatever is missing, unknown or of another kind is refused."""
        try:
            values = parse_json(content)
        except ValueError as error:  # also of bytes that are no text
            raise ValueError(f"expected JSON, got: {error}") from None
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError(f"expected the format {FORMAT!r}, got something else")
        return _calibration(values)


def log_odds(log_probability: float) -> float:
    """log(p / (1 - p)) from log(p), which may be rounded to certainty."""
    log_probability = min(log_probability, -1e-15)
    return log_probability - math.log(-math.expm1(log_probability))


def to_confidence(log_probability: float, slope: float, intercept: float) -> float:
    """The logistic map, rounded to a thousandth: processors differ by less, so that all see the same findings."""
    sure = 0.5 * (1 + math.tanh(0.5 * (slope * log_odds(log_probability) + intercept)))
    return min(round(sure, _DIGITS), _HIGHEST)


def _calibration(values: dict[str, Any]) -> Calibration:
    _check_names(Calibration, values)
    if not isinstance(values["tiers"], dict):
        raise ValueError(f"tiers: expected the confidence of A and B, got {values['tiers']!r}")
    return Calibration(
        slope=_number(values, "slope"),
        intercept=_number(values, "intercept"),
        bug_rate=_number(values, "bug_rate"),
        min_candidates=_count(values, "min_candidates"),
        tiers={tier: _number(values["tiers"], tier) for tier in values["tiers"]},
        curves=tuple(_curve(curve) for curve in _list(values, "curves")),
    )


def _curve(values: Any) -> Curve:
    _check_names(Curve, values)
    if not isinstance(values["data"], str):
        raise ValueError(f"data: expected a text, got {values['data']!r}")
    points = tuple(_point(point) for point in _list(values, "points"))
    if any(one.confidence >= next_.confidence for one, next_ in pairwise(points)):
        raise ValueError(f"points: expected rising confidence, got another order for {values['data']}")
    return Curve(
        data=values["data"],
        functions=_count(values, "functions"),
        bugs=_count(values, "bugs"),
        bug_rate=_share(values, "bug_rate"),
        error=_share(values, "error"),
        points=points,
    )


def _point(values: Any) -> Point:
    _check_names(Point, values)
    return Point(**{name: _share(values, name) for name in values})


def _check_names(cls: type, values: Any) -> None:
    expected = [field.name for field in fields(cls)]
    if not isinstance(values, dict) or set(values) != set(expected):
        got = ", ".join(map(str, values)) if isinstance(values, dict) else repr(values)
        raise ValueError(f"{cls.__name__.lower()}: expected values for {', '.join(expected)}, got {got:.200}")


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise ValueError(f"{name}: expected a number, got {value!r:.50}")
    return float(value)


def _share(values: Mapping[str, Any], name: str) -> float:
    value = _number(values, name)
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a share from 0 to 1, got {value}")
    return value


def _count(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if type(value) is not int or value < 0:
        raise ValueError(f"{name}: expected a whole number from 0, got {value!r:.50}")
    return value


def _list(values: Mapping[str, Any], name: str) -> list[Any]:
    value = values[name]
    if not isinstance(value, list):
        raise ValueError(f"{name}: expected a list, got {value!r:.50}")
    return value


def add_calibration(folder: Path, calibration: Calibration) -> None:
    """Write calibration.json into the folder of an exported detector; an earlier one is replaced.

    The manifest is written without it first: whenever this is stopped, the folder holds a detector that can be loaded.
    """
    read_folder(folder)
    path = folder / "manifest.json"
    manifest = parse_json(path.read_text(encoding="utf-8"))
    manifest["files"].pop(CALIBRATION, None)
    write_whole_text(path, json.dumps(manifest, indent=1) + "\n")
    write_whole_text(folder / CALIBRATION, calibration.to_json())
    manifest["files"][CALIBRATION] = describe_file(folder / CALIBRATION)
    write_whole_text(path, json.dumps(manifest, indent=1) + "\n")
    card = folder / "MODEL_CARD.md"
    if card.is_file():
        write_whole_text(card, _with_section(card.read_text(encoding="utf-8"), _section(calibration)))


def _with_section(card: str, section: str) -> str:
    """The card with its section of measured figures replaced, or added at the end."""
    rest = re.sub(rf"\n*^{_TITLE}\n.*?(?=^## |\Z)", "\n\n", card, flags=re.DOTALL | re.MULTILINE)
    return f"{rest.rstrip()}\n\n{section}"


def _section(calibration: Calibration) -> str:
    rows = [
        _card_row(curve, tier, threshold)
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


def _card_row(curve: Curve, tier: str, threshold: float) -> str:
    point = next((point for point in curve.points if point.confidence == threshold), None)
    cells = [curve.data, f"{curve.functions:,}, {curve.bugs:,}", tier, f"{threshold:.3f}", *_figures(point)]
    return f"| {' | '.join(cells)} |"


def _figures(point: Point | None) -> list[str]:
    if point is None:
        return ["too few found to say", "", ""]
    precision = f"{point.precision:.1%} ({point.lower:.1%})"
    return [precision, f"{point.recall:.1%}", f"{point.false_alarms:.2%}"]
