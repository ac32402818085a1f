"""calibration.json: the map to confidence, tiers and curves, read strictly."""

import json
import math
from dataclasses import replace

import pytest

from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration, Curve, Point


def point(confidence: float, precision: float, **values: float) -> Point:
    given = {"lower": precision / 2, "recall": 0.3, "false_alarms": 0.01, **values}
    return Point(confidence=confidence, precision=precision, **given)


CURVE = Curve(
    data=HELD_OUT,
    functions=400,
    bugs=200,
    bug_rate=0.05,
    error=0.02,
    points=(point(0.1, 0.2), point(0.4, 0.55), point(0.7, 0.5), point(0.9, 0.85)),
)
CALIBRATION = Calibration(
    slope=0.5, intercept=-1.0, bug_rate=0.05, min_candidates=6, tiers={"A": 0.9, "B": 0.4}, curves=(CURVE,)
)


def test_confidence_is_logistic_in_the_log_odds():
    odds = math.log(0.8 / 0.2)
    by_hand = 1 / (1 + math.exp(-(0.5 * odds - 1)))
    assert CALIBRATION.confidence(math.log(0.8)) == round(by_hand, 3) == 0.424
    plain = replace(CALIBRATION, slope=1.0, intercept=0.0)
    assert plain.confidence(math.log(0.25)) == 0.25


@pytest.mark.parametrize(
    ("log_probability", "expected"),
    [(0.0, 0.999), (1e-9, 0.999), (-1e-12, 0.999), (-745.0, 0.0), (-math.inf, 0.0)],
)
def test_the_ends_are_finite_and_nothing_is_certain(log_probability: float, expected: float):
    assert CALIBRATION.confidence(log_probability) == expected


def test_confidence_rises_with_probability():
    sure = [CALIBRATION.confidence(math.log(p / 1000)) for p in range(1, 1001)]
    assert sure == sorted(sure)
    assert len(set(sure)) > 300


def test_tiers_begin_at_their_threshold():
    assert [CALIBRATION.tier(sure) for sure in (0.95, 0.9, 0.899, 0.4, 0.399, 0)] == list("AABBCC")


def test_the_lowest_threshold_of_a_precision():
    assert CALIBRATION.at_precision(0.5).confidence == 0.4
    assert CALIBRATION.at_precision(0.6).confidence == 0.9
    assert CALIBRATION.at_precision(0).confidence == 0.1
    with pytest.raises(ValueError, match=r"held-out packages if 5\.0% of functions .* got 0\.9: .* is 0\.85"):
        CALIBRATION.at_precision(0.9)
    with pytest.raises(ValueError, match="got 0: nothing was found"):
        replace(CALIBRATION, curves=(replace(CURVE, points=()),)).at_precision(0)


def test_only_held_out_packages_give_thresholds():
    real = replace(CURVE, data=REAL_FIXES, points=(point(0.1, 0.99),))
    assert replace(CALIBRATION, curves=(real, CURVE)).at_precision(0.8).confidence == 0.9


def test_what_is_written_is_read():
    assert Calibration.parse(CALIBRATION.to_json().encode()) == CALIBRATION


def changed(path: str, value: object) -> bytes:
    """The file with one value replaced, or removed if the value is `...`."""
    values = json.loads(CALIBRATION.to_json())
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    inner = values
    for parent in parents:
        inner = inner[parent]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(values).encode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "other", "expected the format 'hyperheat-calibration'"),
        ("slope", 0, "slope: expected a number above 0"),
        ("slope", True, "slope: expected a number, got True"),
        ("intercept", math.nan, "intercept: expected a number, got nan"),
        ("intercept", 10**400, "intercept: expected a number"),
        ("bug_rate", 1, "bug_rate: expected a share between 0 and 1"),
        (
            "bug_rate",
            ...,
            "calibration: expected values for slope, intercept, bug_rate, min_candidates, tiers, curves, got",
        ),
        ("more", 1, "calibration: expected values for"),
        ("tiers", [0.9, 0.4], "tiers: expected the confidence of A and B"),
        ("tiers.A", 0.3, "tiers: expected the confidence of A and a lower one of B"),
        ("tiers.C", 0.1, "tiers: expected the confidence of A and a lower one of B"),
        ("curves", [], "curves: expected one of held-out packages"),
        ("curves", {}, "curves: expected a list"),
        ("curves.0", 3, "curve: expected values for data, functions"),
        ("curves.0.data", "somewhere", "curves: expected one of held-out packages"),
        ("curves.0.bugs", 1.5, "bugs: expected a whole number from 0"),
        ("curves.0.points.1.confidence", 0.05, "points: expected rising confidence"),
        ("curves.0.points.1.precision", 1.5, "precision: expected a share from 0 to 1"),
        ("curves.0.points.1.lower", ..., "point: expected values for confidence, precision, lower"),
    ],
)
def test_anything_else_is_refused(path: str, value: object, message: str):
    with pytest.raises(ValueError, match=message):
        Calibration.parse(changed(path, value))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"[" * 100_000, b"null"])
def test_other_files_are_refused(content: bytes):
    with pytest.raises(ValueError, match="expected"):
        Calibration.parse(content)
