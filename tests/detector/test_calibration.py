"""calibration.json: the map to confidence, tiers and curves, read strictly."""

import json
import math
from dataclasses import replace

import pytest

from hyperheat.detector.alarms import AlarmPoint, Alarms, wilson
from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration, Curve, Point


def curve(data: str, bugs: int, *found: tuple[float, int]) -> Curve:
    points = tuple(Point(confidence=sure, found=count, alarms=0) for sure, count in found)
    return Curve(data=data, functions=2 * bugs, bugs=bugs, error=0.02, points=points)


def alarms(*counted: tuple[float, int], functions: int = 1_000_000) -> Alarms:
    """Counts from confidences on, with Wilson's interval."""
    points = (
        AlarmPoint(confidence=sure, alarms=count, upper=wilson(count / functions, functions)[1])
        for sure, count in counted
    )
    return Alarms(packages=100, functions=functions, not_judged=5, points=tuple(points))


CURVE = curve(HELD_OUT, 200, (0.1, 150), (0.4, 100), (0.9, 50), (0.99, 20))
ALARMS = alarms((0.1, 32_000), (0.4, 3_000), (0.9, 250), (0.99, 20))
CALIBRATION = Calibration(
    slope=0.5, intercept=-1.0, bug_rate=0.05, min_candidates=6, curves=(CURVE,), alarms=ALARMS
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


def test_tiers_begin_where_the_upper_end_of_the_rate_allows_them():
    assert CALIBRATION.tiers == {"safe": 0.99, "A": 0.9, "B": 0.4, "C": 0.1}
    levels = (0.99, 0.9, 0.899, 0.4, 0.399, 0.1, 0.09)
    assert [CALIBRATION.tier(sure) for sure in levels] == list("AABBCCD")
    assert [CALIBRATION.is_safe(sure) for sure in (0.999, 0.99, 0.989)] == [True, True, False]


def test_a_rate_that_is_only_just_reached_is_not_promised():
    # 333 in a million is less than 1 in 3,000, but 370 would not be surprising
    assert "A" not in replace(CALIBRATION, alarms=alarms((0.1, 333))).tiers
    assert "A" in replace(CALIBRATION, alarms=alarms((0.1, 290))).tiers


def test_no_alarm_among_few_functions_promises_little():
    few = replace(CALIBRATION, alarms=alarms((0.99, 0), functions=10_000))
    assert few.tiers == {"B": 0.99, "C": 0.99}
    assert few.why_empty("A") == (
        "10,000 functions of unedited code were judged, too few to promise at most 1 alarm in 3,000 functions"
    )
    noisy = replace(CALIBRATION, alarms=alarms((0.99, 40), functions=12_000))
    assert noisy.why_empty("A") == (
        "its surest findings came to 40 alarms in 12,000 functions of unedited code, too many to promise at most "
        "1 alarm in 3,000 functions"
    )
    enough = replace(CALIBRATION, alarms=alarms((0.99, 0), functions=12_000))
    assert enough.tiers["A"] == 0.99


def test_tier_a_must_find_bugs_and_not_only_be_silent():
    blind = replace(
        CALIBRATION, curves=(CURVE, curve(REAL_FIXES, 700, (0.1, 60), (0.4, 20), (0.9, 1), (0.99, 0)))
    )
    assert blind.tiers == {"B": 0.4, "C": 0.1}
    assert (
        blind.why_empty("A")
        == "at 1 alarm in 3,000 functions the model finds 1 of 700 real bugs, too few to tell from chance"
    )
    assert blind.why_empty("B") is None
    seeing = replace(CALIBRATION, curves=(CURVE, curve(REAL_FIXES, 700, (0.1, 60), (0.9, 12), (0.99, 6))))
    assert seeing.tiers["A"] == 0.9


def test_noise_further_up_keeps_a_tier_from_beginning_below_it():
    gathered = replace(
        ALARMS,
        points=(
            AlarmPoint(confidence=0.4, alarms=9, upper=1e-4),
            AlarmPoint(confidence=0.9, alarms=8, upper=1e-2),
            AlarmPoint(confidence=0.99, alarms=1, upper=1e-5),
        ),
    )
    assert replace(CALIBRATION, alarms=gathered).tiers["A"] == 0.99


def test_without_a_measurement_there_are_no_tiers():
    unmeasured = replace(CALIBRATION, alarms=None)
    assert (unmeasured.tiers, unmeasured.tier(0.999), unmeasured.rate(0.999)) == ({}, "D", None)
    assert "were not measured" in str(unmeasured.why_empty("A"))
    with pytest.raises(ValueError, match="expected a model whose alarms were measured"):
        unmeasured.at_rate(0.001)


def test_the_rate_is_that_of_the_nearest_confidence_below_and_never_zero():
    assert [CALIBRATION.rate(sure) for sure in (0.05, 0.1, 0.5, 0.95)] == [1.0, 0.032, 0.003, 0.00025]
    assert replace(CALIBRATION, alarms=alarms((0.5, 0))).rate(0.9) == 1e-6


def test_the_lowest_confidence_with_few_alarms():
    assert CALIBRATION.at_rate(0.003) == 0.4
    assert CALIBRATION.at_rate(0.002) == 0.9
    with pytest.raises(ValueError, match=r"at least 0\.02 per 1,000 functions, got 0\.01"):
        CALIBRATION.at_rate(0.00001)


def test_bugs_found_are_never_overstated():
    assert [CURVE.found(sure) for sure in (0.05, 0.4, 0.41, 0.995)] == [150, 100, 50, 0]
    assert CURVE.recall(0.9) == 0.25


def test_real_bugs_are_the_evidence_if_there_are_any():
    real = curve(REAL_FIXES, 10, (0.1, 1))
    assert CALIBRATION.evidence is CURVE
    assert replace(CALIBRATION, curves=(CURVE, real)).evidence is real


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
            "calibration: expected values for slope, intercept, bug_rate, min_candidates, curves, alarms, got",
        ),
        ("more", 1, "calibration: expected values for"),
        ("tiers", {"A": 0.5, "B": 0.16}, "made by an earlier version: run `hyperheat bugs calibrate`"),
        ("alarms", 3, "alarms: expected values for packages, functions"),
        ("alarms.functions", 0, "alarms: expected functions that were judged"),
        ("alarms.points", [], "alarms: expected functions that were judged"),
        ("alarms.points.1.confidence", 0.05, "alarms: expected rising confidence"),
        ("alarms.points.1.alarms", 99_000, "alarms: expected rising confidence and falling counts"),
        ("alarms.points.1.upper", 1.5, "upper: expected a share from 0 to 1"),
        ("curves", [], "curves: expected one of held-out packages"),
        ("curves", {}, "curves: expected a list"),
        ("curves.0", 3, "curve: expected values for data, functions"),
        ("curves.0.data", "somewhere", "curves: expected one of held-out packages"),
        ("curves.0.bugs", 1.5, "bugs: expected a whole number from 0"),
        ("curves.0.points.1.confidence", 0.05, "points: expected rising confidence"),
        ("curves.0.points.1.found", 201, "held-out packages: expected at most as many bugs as functions"),
        ("curves.0.bugs", 0, "held-out packages: expected at most as many bugs as functions"),
        ("curves.0.points.1.alarms", ..., "point: expected values for confidence, found, alarms"),
    ],
)
def test_anything_else_is_refused(path: str, value: object, message: str):
    with pytest.raises(ValueError, match=message):
        Calibration.parse(changed(path, value))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"[" * 100_000, b"null"])
def test_other_files_are_refused(content: bytes):
    with pytest.raises(ValueError, match="expected"):
        Calibration.parse(content)
