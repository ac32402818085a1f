"""Shares, intervals and curves, against numbers by hand and against simulation."""

import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.detector.samples import all_samples

from hyperheat.detector.alarms import wilson
from hyperheat.detector.calibration import HELD_OUT
from hyperheat.detector.measurement import (
    Outcome,
    Outcomes,
    ask,
    count_alarms,
    count_by_kind,
    measure_curve,
    share,
    weights,
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


def test_a_function_may_have_several_hits():
    hits, group = np.array([2, 0, 0, 0, 0, 0, 0, 0]), np.arange(8)
    assert share(hits, group).value == 0.25


def test_alarms_are_counted_from_each_confidence_on():
    sure, unsure = math.log(0.95), math.log(0.3)
    packages = {"loud": [[sure, unsure], [unsure], []], "quiet": [[]] * 7, "empty": []}
    found = count_alarms(packages, not_judged=4, slope=1.0, intercept=0.0)
    assert (found.packages, found.functions, found.not_judged) == (2, 10, 4)
    counts = {point.confidence: point.alarms for point in found.points}
    assert (counts[0.01], counts[0.3], counts[0.31], counts[0.95], counts[0.951]) == (3, 3, 1, 1, 0)
    by_confidence = {point.confidence: point.upper for point in found.points}
    assert by_confidence[0.951] == pytest.approx(wilson(0, 10)[1], abs=1e-6)
    # all three alarms are in one of two packages, so the interval is wider than that of ten separate functions
    assert by_confidence[0.3] > wilson(0.3, 10)[1]


def test_alarms_need_functions():
    with pytest.raises(ValueError, match="unedited code: expected functions that can be judged"):
        count_alarms({"empty": []}, not_judged=4, slope=1.0, intercept=0.0)


def test_the_interval_of_alarms_holds_in_simulation():
    rng, truth, missed = np.random.default_rng(0), 1 / 500, 0
    for _ in range(120):
        packages = {
            str(number): [[-0.01] if hit else [] for hit in rng.random(100) < truth] for number in range(30)
        }
        found = count_alarms(packages, not_judged=0, slope=1.0, intercept=0.0)
        missed += found.points[0].upper < truth
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
    assert (thresholds[0], thresholds[-1]) == (0.01, 0.999)
    assert [(curve.found(sure), curve.recall(sure)) for sure in (0.01, 0.9, 0.901)] == [
        (40, 1.0),
        (20, 0.5),
        (0, 0.0),
    ]
    assert (curve.points[0].alarms, curve.points[-1].alarms) == (40, 0)
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
