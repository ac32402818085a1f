"""How far to trust a finding: from the model's own probability to a confidence, and to the alarms it was measured to raise.

    calibration = Calibration.parse(content)            # calibration.json of an exported detector
    sure = calibration.confidence(scores.findings[best])
    calibration.tier(sure)                              # "A", "B", "C" or "D"
    calibration.rate(sure)                              # alarms per function of real code, at this confidence or above

`measurement.py` makes one, and `add_calibration` puts it into the folder of a detector. Reading one needs no numpy.

The map is logistic in the log-odds of the model's probability p that a bug is there and that this repairs it:

    confidence = 1 / (1 + exp(-(slope * log(p / (1 - p)) + intercept)))

Confidence ranks findings. It is the share of them that is right if planted bugs are like real ones and a share
`bug_rate` of functions has one: two assumptions that no data can tell. What findings are worth is said by what was counted:
alarms on unedited code (`alarms.py`), and the bugs that are found at the same confidence (`Curve`). All of it
holds for functions with at least `min_candidates` candidate rewrites.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from hyperheat.alarm_rate import describe_rate
from hyperheat.detector.alarms import (
    LEAST_GAIN,
    RATES,
    SAFE,
    TIERS,
    AlarmPoint,
    Alarms,
    wilson,
)
from hyperheat.detector.manifest import CALIBRATION, describe_file, read_folder
from hyperheat.files import parse_json, write_whole_text

__all__ = [
    "HELD_OUT",
    "REAL_FIXES",
    "Calibration",
    "Curve",
    "Point",
    "add_calibration",
    "log_odds",
    "to_confidence",
]

FORMAT = "hyperheat-calibration"
HELD_OUT = "held-out packages"
"""The data of the curve over planted bugs: in packages that were not trained on."""
REAL_FIXES = "real fixes"
"""The data of a curve over functions before and after a fix that was released or committed.

Where the functions after it are not at hand, those without a bug of held-out packages take their place.
"""

_DIGITS = 3
_HIGHEST = 0.999  # no finding is certain


@dataclass(frozen=True, kw_only=True)
class Point:
    """The findings of at least some confidence, in functions with and without a known bug."""

    confidence: float
    found: int
    """Bugs that are found: the right place and the right repair."""
    alarms: int
    """Functions without a bug that have a finding."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What was measured on one set of functions, for rising confidence."""

    data: str
    functions: int
    bugs: int
    """How many of the functions have a bug."""
    error: float
    """The expected calibration error: how far confidence is from the share that is right, on average over findings."""
    points: tuple[Point, ...]

    def found(self, confidence: float) -> int:
        """Bugs found at a confidence or above; that of the nearest one above that was counted, so not too many."""
        return next((point.found for point in self.points if point.confidence >= confidence), 0)

    def recall(self, confidence: float) -> float:
        """The share of bugs that are found."""
        return self.found(confidence) / self.bugs


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The map to confidence, and what was measured with it; tiers follow from that and are not stored."""

    slope: float
    intercept: float
    bug_rate: float
    min_candidates: int
    """The least number of candidate rewrites of functions that were trained on and measured; others are not judged."""
    curves: tuple[Curve, ...]
    alarms: Alarms | None = None

    def __post_init__(self) -> None:
        if not self.slope > 0:
            raise ValueError(f"slope: expected a number above 0, got {self.slope}")
        if not 0 < self.bug_rate < 1:
            raise ValueError(f"bug_rate: expected a share between 0 and 1, got {self.bug_rate}")
        if [curve.data for curve in self.curves].count(HELD_OUT) != 1:
            raise ValueError(f"curves: expected one of {HELD_OUT}, got another number of them")

    def confidence(self, log_probability: float) -> float:
        """The confidence of a finding, from the model's log-probability of place and repair."""
        return to_confidence(log_probability, self.slope, self.intercept)

    @cached_property
    def tiers(self) -> Mapping[str, float]:
        """The least confidence of `SAFE`, A, B and C; tiers that the model has not earned are left out."""
        begins = {tier: self._begin(tier) for tier in RATES}
        return {tier: confidence for tier, confidence in begins.items() if confidence is not None}

    def tier(self, confidence: float) -> str:
        """A, B, C or D."""
        for tier, least in self._visible:
            if confidence >= least:
                return tier
        return TIERS[-1]

    @cached_property
    def _visible(self) -> list[tuple[str, float]]:
        """The tiers before the last one that the model has earned, best first, with their least confidences."""
        return [(tier, self.tiers[tier]) for tier in TIERS if tier in self.tiers]

    def is_safe(self, confidence: float) -> bool:
        """Whether a repair of this confidence may be made without asking."""
        return confidence >= self.tiers.get(SAFE, math.inf)

    def rate(self, confidence: float) -> float | None:
        """Alarms per function of unedited code at this confidence or above; None if they were not measured."""
        return None if self.alarms is None else self.alarms.rate(confidence)

    def at_rate(self, rate: float) -> float:
        """The lowest confidence that raised at most so many alarms per function. Raises ValueError if there is none."""
        if self.alarms is None:
            raise ValueError("expected a model whose alarms were measured on unedited code, got another one")
        for point in self.alarms.points:
            if self.alarms.rate(point.confidence) <= rate:
                return point.confidence
        least = self.alarms.rate(self.alarms.points[-1].confidence)
        raise ValueError(
            f"expected a rate of alarms that was measured, at least {1000 * least:.2g} per 1,000 functions, "
            f"got {1000 * rate:g}"
        )

    @property
    def evidence(self) -> Curve:
        """The bugs that tier A must find to be earned: real ones if they were measured, or else planted ones."""
        by_data = {curve.data: curve for curve in self.curves}
        return by_data.get(REAL_FIXES) or by_data[HELD_OUT]

    def why_empty(self, tier: str) -> str | None:
        """Why a tier is empty, as the end of a sentence; None if it is not."""
        if tier in self.tiers:
            return None
        if self.alarms is None:
            return "the alarms of this model on unedited code were not measured (`hyperheat bugs calibrate --unedited`)"
        wanted = describe_rate(RATES[tier])
        quiet = self._quiet(tier)
        top = self.alarms.points[-1]
        if not quiet and wilson(0.0, self.alarms.functions)[1] > RATES[tier]:
            return f"{self.alarms.functions:,} functions of unedited code were judged, too few to promise at most {wanted}"
        if not quiet:
            return (
                f"its surest findings came to {_times(top.alarms, 'alarm')} in {self.alarms.functions:,} functions of "
                f"unedited code, too many to promise at most {wanted}"
            )
        curve = self.evidence
        found = curve.found(quiet[0].confidence)
        bugs = "real bugs" if curve.data == REAL_FIXES else "planted bugs"
        return f"at {wanted} the model finds {found:,} of {curve.bugs:,} {bugs}, too few to tell from chance"

    def _begin(self, tier: str) -> float | None:
        """The least confidence of a tier, None if it is not earned."""
        for point in self._quiet(tier):
            if tier not in (SAFE, "A") or self._is_earned(point):
                return point.confidence
        return None

    def _quiet(self, tier: str) -> list[AlarmPoint]:
        """The points from the lowest on from which on no more alarms are to be expected than the tier allows."""
        points: list[AlarmPoint] = []
        for point in reversed(self.alarms.points if self.alarms else ()):
            if point.upper > RATES[tier]:
                break
            points.insert(0, point)
        return points

    def _is_earned(self, point: AlarmPoint) -> bool:
        """Whether bugs are found so much more often than alarms are raised that chance cannot explain it."""
        curve = self.evidence
        lower, _ = wilson(curve.recall(point.confidence), curve.bugs)
        return lower >= LEAST_GAIN * point.upper

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
        return cls.from_plain(values)

    @classmethod
    def from_plain(cls, values: Any) -> "Calibration":
        """Read the values of calibration.json, as strictly."""
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ValueError(f"expected the format {FORMAT!r}, got something else")
        if "tiers" in values:
            raise ValueError(
                "made by an earlier version: run `hyperheat bugs calibrate` on the detector again"
            )
        return _calibration({name: value for name, value in values.items() if name != "format"})


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


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
    alarms = values["alarms"]
    return Calibration(
        slope=_number(values, "slope"),
        intercept=_number(values, "intercept"),
        bug_rate=_number(values, "bug_rate"),
        min_candidates=_count(values, "min_candidates"),
        curves=tuple(_curve(curve) for curve in _list(values, "curves")),
        alarms=None if alarms is None else _alarms(alarms),
    )


def _curve(values: Any) -> Curve:
    _check_names(Curve, values)
    if not isinstance(values["data"], str):
        raise ValueError(f"data: expected a text, got {values['data']!r}")
    points = tuple(_point(point) for point in _list(values, "points"))
    if any(one.confidence >= next_.confidence for one, next_ in pairwise(points)):
        raise ValueError(f"points: expected rising confidence, got another order for {values['data']}")
    functions, bugs = _count(values, "functions"), _count(values, "bugs")
    if not 0 < bugs <= functions or any(point.found > bugs for point in points):
        raise ValueError(f"{values['data']}: expected at most as many bugs as functions, and no more found")
    return Curve(
        data=values["data"], functions=functions, bugs=bugs, error=_share(values, "error"), points=points
    )


def _point(values: Any) -> Point:
    _check_names(Point, values)
    return Point(
        confidence=_share(values, "confidence"),
        found=_count(values, "found"),
        alarms=_count(values, "alarms"),
    )


def _alarms(values: Any) -> Alarms:
    _check_names(Alarms, values)
    return Alarms(
        packages=_count(values, "packages"),
        functions=_count(values, "functions"),
        not_judged=_count(values, "not_judged"),
        points=tuple(_alarm_point(point) for point in _list(values, "points")),
    )


def _alarm_point(values: Any) -> AlarmPoint:
    _check_names(AlarmPoint, values)
    return AlarmPoint(
        confidence=_share(values, "confidence"),
        alarms=_count(values, "alarms"),
        upper=_share(values, "upper"),
    )


def _check_names(cls: type, values: Any) -> None:
    expected = _names(cls)
    if not isinstance(values, dict) or values.keys() != expected.keys():
        got = ", ".join(map(str, values)) if isinstance(values, dict) else repr(values)
        raise ValueError(f"{cls.__name__.lower()}: expected values for {', '.join(expected)}, got {got:.200}")


@cache
def _names(cls: type) -> dict[str, None]:
    """The names of a record's values, in order; asked for hundreds of times at every start."""
    return dict.fromkeys(field.name for field in fields(cls))


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
    from hyperheat.detector.model_card import with_measured

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
        write_whole_text(card, with_measured(card.read_text(encoding="utf-8"), calibration))
