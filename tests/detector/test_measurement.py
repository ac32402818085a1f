"""Shares, intervals and curves, against numbers by hand and against simulation."""

import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.detector.samples import all_samples

from hyperheat.detector.calibration import HELD_OUT
from hyperheat.detector.measurement import (
    Outcome,
    Outcomes,
    ask,
    count_by_kind,
    measure_at,
    measure_curve,
    share,
    weights,
    wilson,
)
from hyperheat.detector.sample import CLEAN, Candidates
from hyperheat.rewrites import KINDS

IDENTITY = (1.0, 0.0)  # confidence is the model's probability


def outcome(probability: float, *, right: bool = False, kind: str = "literal", group: str = "a") -> Outcome:
    return Outcome(
        log_probability=float(np.log(probability)), right=right, kind=kind, found="literal", group=group
    )


def table(*, right: int, wrong: int, missed: int, alarms: int, quiet: int, groups: int = 1) -> Outcomes:
    """Functions by what is shown at a threshold of a half, dealt out to groups."""
    rows = [
        *[(0.9, True, "literal")] * right,
        *[(0.9, False, "literal")] * wrong,
        *[(0.1, True, "literal")] * missed,
        *[(0.9, False, CLEAN)] * alarms,
        *[(0.1, False, CLEAN)] * quiet,
    ]
    made = (
        outcome(p, right=is_right, kind=kind, group=str(number % groups))
        for number, (p, is_right, kind) in enumerate(rows)
    )
    return Outcomes(made, *IDENTITY)


def test_wilsons_interval():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson(1.0, 20) == pytest.approx((0.8389, 1.0), abs=1e-4)


def test_a_share_of_nothing_is_unknown():
    empty = share(np.zeros(0, bool), np.zeros(0, np.int64))
    assert (empty.lower, empty.upper) == (0.0, 1.0)


def test_hits_that_gather_in_one_package_count_as_fewer_functions():
    hits = np.repeat([True, False], 10)
    spread, gathered = np.tile([0, 1], 10), np.repeat([0, 1], 10)
    assert (share(hits, spread).lower, share(hits, spread).upper) == wilson(0.5, 20)
    # deviations of +5 and -5 hits: variance 2 * 50 / 400, twenty times that of independent functions
    assert (share(hits, gathered).lower, share(hits, gathered).upper) == wilson(0.5, 1)


def test_precision_is_that_of_the_assumed_share_of_bugs():
    outcomes = table(right=36, wrong=4, missed=60, alarms=2, quiet=98)
    point = measure_at(outcomes, 0.5, bug_rate=0.05)
    assert point is not None
    assert point.precision == pytest.approx(0.05 * 0.36 / (0.05 * 0.4 + 0.95 * 0.02), abs=1e-4)
    assert (point.recall, point.false_alarms) == (0.36, 0.02)
    as_in_data = measure_at(outcomes, 0.5, bug_rate=0.5)
    assert as_in_data is not None
    assert as_in_data.precision == pytest.approx(36 / 42, abs=1e-4)


def test_no_false_alarm_among_few_functions_is_not_certainty():
    few = measure_at(table(right=40, wrong=0, missed=60, alarms=0, quiet=100), 0.5, bug_rate=0.05)
    many = measure_at(table(right=400, wrong=0, missed=600, alarms=0, quiet=10_000), 0.5, bug_rate=0.05)
    assert few is not None
    assert many is not None
    assert few.precision == many.precision == 1
    # alarms in up to 3.7 % of functions could have been missed: 19 * 0.037 / 0.4 per shown bug
    assert few.lower < 1 / (1 + 19 * 0.036 / 0.4)
    assert 0.97 < many.lower < 1


@pytest.mark.parametrize(("found", "said"), [(9, False), (10, True)])
def test_a_point_needs_ten_bugs_that_are_found(found: int, said: bool):
    outcomes = table(right=found, wrong=0, missed=50, alarms=1, quiet=50)
    assert (measure_at(outcomes, 0.5, bug_rate=0.05) is not None) == said


@pytest.mark.parametrize(("size", "s", "q", "f"), [(300, 0.4, 0.9, 0.01), (1000, 0.3, 0.8, 0.003)])
def test_the_interval_holds_in_simulation(size: int, s: float, q: float, f: float):
    rng = np.random.default_rng(0)
    truth = q / (1 + 19 * f / s)
    missed = 0
    for _ in range(120):
        shown, alarms = rng.binomial(size, s), rng.binomial(size, f)
        right = rng.binomial(shown, q)
        numbers = {"right": right, "wrong": shown - right, "missed": size - shown, "alarms": alarms}
        point = measure_at(table(**numbers, quiet=size - alarms), 0.5, bug_rate=0.05)
        assert point is not None
        missed += point.lower > truth
    assert missed <= 7  # 2.5 % of 120, and what chance may add


def test_weights_bring_the_share_of_bugs_to_the_assumed_one():
    buggy = np.array([True, True, True, False])
    weight = weights(buggy, 0.2)
    assert weight.sum() == pytest.approx(4)
    assert weight[buggy].sum() == pytest.approx(0.8)


def test_a_curve_has_rising_thresholds_and_its_error():
    curve = measure_curve(table(right=20, wrong=0, missed=20, alarms=10, quiet=30), HELD_OUT, bug_rate=0.5)
    assert (curve.functions, curve.bugs) == (80, 40)
    thresholds = [point.confidence for point in curve.points]
    assert thresholds == sorted(set(thresholds))
    assert (thresholds[0], thresholds[-1]) == (0.01, 0.9)
    assert (curve.points[0].recall, curve.points[-1].recall) == (1.0, 0.5)
    # at 0.9: 20 of 30 are right, a gap of 0.9 - 0.667; at 0.1: 20 of 50, a gap of 0.4 - 0.1
    assert curve.error == pytest.approx((30 * (0.9 - 2 / 3) + 50 * 0.3) / 80, abs=1e-4)


def test_findings_without_hope_do_not_hide_the_error():
    hopeless = [outcome(0.01, kind=CLEAN)] * 1000
    sure = [outcome(0.9, right=True)] * 5 + [outcome(0.9)] * 5
    curve = measure_curve(Outcomes([*hopeless, *sure], *IDENTITY), HELD_OUT, bug_rate=0.05)
    assert curve.error == pytest.approx(0.4)


def test_figures_by_kind():
    rows = [outcome(0.9, right=True), outcome(0.9), outcome(0.2, right=True)]
    rows += [
        outcome(0.9, right=True, kind="argument-swap"),
        outcome(0.9, kind=CLEAN),
        outcome(0.2, kind=CLEAN),
    ]
    expected = {"literal": (3, 1), "argument-swap": (1, 1), CLEAN: (2, 1)}
    assert count_by_kind(Outcomes(rows, *IDENTITY), 0.5) == expected


@pytest.mark.parametrize("kind", [CLEAN, "literal"])
def test_functions_of_one_kind_say_nothing(kind: str):
    with pytest.raises(ValueError, match="expected some with and some without a bug"):
        Outcomes([outcome(0.5, kind=kind)], *IDENTITY)


class Stub:
    """A scorer that is sure of one candidate, and cannot read every third function."""

    def __init__(self, best: int) -> None:
        self.best = best
        self.asked = 0

    def problem(self, sample) -> str | None:
        self.asked += 1
        return "too long" if self.asked % 3 == 0 else None

    def score(self, samples):
        return [SimpleNamespace(findings=self.findings(len(sample.candidates))) for sample in samples]

    def findings(self, count: int) -> np.ndarray:
        found = np.full(count, -9.0)
        found[self.best] = -0.5
        return found


def test_only_the_repair_itself_is_right():
    samples = all_samples(every=1)[:6]  # the clean function, then each bug
    best = samples[3].target
    outcomes = list(ask(Stub(best), samples))  # type: ignore[arg-type]
    assert [row.kind for row in outcomes] == [samples[i].kind for i in (0, 1, 3, 4)]
    assert [row.right for row in outcomes] == [samples[i].target == best for i in (0, 1, 3, 4)]
    assert {row.log_probability for row in outcomes} == {-0.5}
    assert {row.group for row in outcomes} == {"box"}
    assert outcomes[0].found == tuple(KINDS)[samples[0].candidates.kind[best]]
    assert outcomes[2].found == samples[3].kind


def test_a_bug_in_a_function_with_few_candidates_is_not_found():
    sample = all_samples(every=1)[0]
    columns = {field.name: getattr(sample.candidates, field.name)[:5] for field in fields(Candidates)}
    small = replace(sample, candidates=Candidates(**columns), repairs=(2,))
    (outcome,) = ask(Stub(2), [small])  # type: ignore[arg-type]
    assert (outcome.log_probability, outcome.right) == (-math.inf, False)
    assert Outcomes([outcome, replace(outcome, kind=CLEAN)], 1.0, 0.0).confidence.tolist() == [0.0, 0.0]
