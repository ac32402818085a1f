"""How findings compare with known bugs: the best finding of each function, curves over its confidence, and the calibration.

    the model's probabilities on validation packages  --fit-->      slope and intercept
    confidences on test packages, and on real fixes   --measure-->  curves
    confidences on unedited packages                  --count-->    alarms, from which tiers follow

The map is fitted on other packages than it is measured on, and none of them were trained on.

Shares have Wilson's interval. Functions of one package are alike: where hits gather in some packages, a share counts as if
from as many fewer functions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, inf

import numpy as np

from hyperheat.detector.alarms import GRID, AlarmPoint, Alarms, wilson
from hyperheat.detector.calibration import (
    HELD_OUT,
    REAL_FIXES,
    Calibration,
    Curve,
    Point,
    log_odds,
    to_confidence,
)
from hyperheat.detector.sample import CLEAN, NO_BUG, Sample
from hyperheat.detector.scorer import Scorer
from hyperheat.rewrites import KINDS
from hyperheat.rewrites.planting import MIN_CANDIDATES

__all__ = [
    "Measured",
    "Outcome",
    "Outcomes",
    "Share",
    "ask",
    "calibrate",
    "count_alarms",
    "count_by_kind",
    "fit",
    "measure_curve",
    "measure_fixes",
    "share",
    "weights",
]

OutcomeDisplay = Callable[[Iterable["Outcome"], str], Iterable["Outcome"]]
"""Shows outcomes as they pass through it, under the name of their data."""

_KINDS = tuple(KINDS)
_CHUNK = 64
_BINS = 10
_LEAST_OF_ERROR = 0.1
_STEPS = 100
_TOLERANCE = 1e-10


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The best finding of one function."""

    log_probability: float
    right: bool
    """Whether it is the repair of the function's bug."""
    kind: str
    """The kind of the function's bug, or CLEAN."""
    found: str
    """The kind of the finding."""
    group: str
    """The package, repository or file of the function."""


class Outcomes:
    """Outcomes as columns [F], with confidence by a logistic map."""

    def __init__(self, outcomes: Iterable[Outcome], slope: float, intercept: float) -> None:
        rows = list(outcomes)
        self.kind = np.array([row.kind for row in rows])
        self.found = np.array([row.found for row in rows])
        self.buggy = self.kind != CLEAN
        self.right = np.array([row.right for row in rows], dtype=bool)
        self.group = np.unique([row.group for row in rows], return_inverse=True)[1]
        self.confidence = np.array([to_confidence(row.log_probability, slope, intercept) for row in rows])
        if self.buggy.all() or not self.buggy.any():
            raise ValueError("functions: expected some with and some without a bug, got one kind only")

    def __len__(self) -> int:
        return len(self.kind)


def ask(scorer: Scorer, samples: Iterable[Sample]) -> Iterator[Outcome]:
    """The best finding of each sample that can be scored, a few at a time; probability zero if it has too few candidates.

    Scans skip such functions, but they occur in the data: as real bugs, or if the bug took candidates from the function.
    """
    readable = (sample for sample in samples if scorer.problem(sample) is None)
    while chunk := list(islice(readable, _CHUNK)):
        for sample, scores in zip(chunk, scorer.score(chunk), strict=True):
            best = int(scores.findings.argmax())
            judged = len(sample.candidates) >= MIN_CANDIDATES
            yield Outcome(
                log_probability=float(scores.findings[best]) if judged else -inf,
                right=judged and sample.target != NO_BUG and best == sample.target,
                kind=sample.kind,
                found=_KINDS[sample.candidates.kind[best]],
                group=sample.origin.project,
            )


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share with its 95 % interval."""

    value: float
    lower: float
    upper: float


def share(hits: np.ndarray, group: np.ndarray) -> Share:
    """The share of hits among functions [F], as if there were as many fewer functions as groups [F] are alike.

    A function may have several hits, if there are fewer hits than functions.
    """
    count = len(hits)
    if not count:
        return Share(value=0.0, lower=0.0, upper=1.0)
    value = float(hits.mean())
    apart = np.bincount(group, hits - value)  # of each group, how many hits more than expected
    groups = len(np.unique(group))
    independent = value * (1 - value) / count
    clustered = groups / max(1, groups - 1) * float((apart**2).sum()) / count**2
    effect = max(1.0, clustered / independent) if independent else 1.0
    lower, upper = wilson(value, count / effect)
    return Share(value=value, lower=lower, upper=upper)


def measure_curve(outcomes: Outcomes, data: str, bug_rate: float) -> Curve:
    """Bugs found, and functions without a bug that have a finding, from each confidence on."""
    buggy = outcomes.buggy
    right, alarms = outcomes.confidence[buggy & outcomes.right], outcomes.confidence[~buggy]
    return Curve(
        data=data,
        functions=len(outcomes),
        bugs=int(buggy.sum()),
        error=_calibration_error(outcomes, bug_rate),
        points=tuple(
            Point(confidence=sure, found=int((right >= sure).sum()), alarms=int((alarms >= sure).sum()))
            for sure in GRID
        ),
    )


def count_alarms(
    packages: Mapping[str, Sequence[Sequence[float]]],
    *,
    not_judged: int,
    slope: float,
    intercept: float,
) -> Alarms:
    """Findings from each confidence on in unedited code: by package, the log-probabilities of each judged function."""
    functions = [findings for of_package in packages.values() for findings in of_package]
    if not functions:
        raise ValueError("unedited code: expected functions that can be judged, got none")
    group = np.repeat(np.arange(len(packages)), [len(of_package) for of_package in packages.values()])
    owner = np.repeat(np.arange(len(functions)), [len(findings) for findings in functions])
    sure = np.array([to_confidence(p, slope, intercept) for findings in functions for p in findings])

    def point(confidence: float) -> AlarmPoint:
        hits = np.bincount(owner[sure >= confidence], minlength=len(functions))
        upper = share(hits, group).upper if hits.mean() < 1 else 1.0
        return AlarmPoint(confidence=confidence, alarms=int(hits.sum()), upper=_rounded_up(upper))

    return Alarms(
        packages=sum(bool(of_package) for of_package in packages.values()),
        functions=len(functions),
        not_judged=not_judged,
        points=tuple(map(point, GRID)),
    )


def _rounded_up(value: float) -> float:
    return min(1.0, ceil(value * 1e7) / 1e7)


def count_by_kind(outcomes: Outcomes, threshold: float) -> dict[str, tuple[int, int]]:
    """For each kind of bug how many there are and how many are found; for CLEAN, functions and those with a finding."""
    shown = (outcomes.confidence >= threshold) & (outcomes.right | ~outcomes.buggy)
    return {
        str(kind): (int((outcomes.kind == kind).sum()), int(shown[outcomes.kind == kind].sum()))
        for kind in np.unique(outcomes.kind)
    }


def _calibration_error(outcomes: Outcomes, bug_rate: float) -> float:
    """|share that is right - mean confidence| over equal bins, of findings whose probability is not zero.

    Nearly all functions have no bug and no finding worth a look; with them the error would be close to zero for any map.
    """
    weight = weights(outcomes.buggy, bug_rate) * (outcomes.confidence >= _LEAST_OF_ERROR)
    if not weight.any():
        return 0.0
    bins = np.minimum((outcomes.confidence * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, weight * (outcomes.right - outcomes.confidence))
    return _rounded(float(np.abs(gaps).sum() / weight.sum()))


def weights(buggy: np.ndarray, bug_rate: float) -> np.ndarray:
    """Weights of functions [F], one on average, that bring the share of those with a bug to the assumed one."""
    in_data = buggy.mean()
    return np.where(buggy, bug_rate / in_data, (1 - bug_rate) / (1 - in_data))


def _rounded(value: float) -> float:
    return round(value, 4)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A calibration, and by data what its curves were measured on."""

    calibration: Calibration
    outcomes: Mapping[str, Outcomes]


def fit(outcomes: Sequence[Outcome], bug_rate: float) -> tuple[float, float]:
    """Slope and intercept of the logistic map that makes the outcomes most likely, by Newton's method.

    Functions that were not judged do not count. The others are weighted to the assumed share of bugs. Targets are
    Platt's, a little off 0 and 1, so that there is a best map even if probability tells right from wrong without a mistake.
    """
    outcomes = [outcome for outcome in outcomes if outcome.log_probability > -inf]
    right = np.array([outcome.right for outcome in outcomes], dtype=bool)
    if right.all() or not right.any():
        raise ValueError("findings: expected some that are right and some that are wrong, got one kind only")
    buggy = np.array([outcome.kind != CLEAN for outcome in outcomes])
    weight = weights(buggy, bug_rate) / len(outcomes)
    x = np.array([[log_odds(outcome.log_probability), 1.0] for outcome in outcomes])
    target = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))

    def loss(theta: np.ndarray) -> float:
        z = x @ theta
        return float(weight @ (np.logaddexp(0, z) - target * z))

    theta = np.zeros(2)
    for _ in range(_STEPS):
        p = 0.5 * (1 + np.tanh(0.5 * (x @ theta)))
        gradient = x.T @ (weight * (p - target))
        hessian = (x.T * (weight * p * (1 - p))) @ x
        step = np.linalg.solve(hessian, gradient)
        while loss(theta - step) > loss(theta):
            step /= 2
        theta = theta - step
        if np.abs(step).max() < _TOLERANCE:
            break
    return float(theta[0]), float(theta[1])


def calibrate(
    scorer: Scorer,
    valid: Iterable[Sample],
    test: Iterable[Sample],
    *,
    fixes: Iterable[Sample] = (),
    bug_rate: float = 0.05,
    progress: OutcomeDisplay = lambda outcomes, _: outcomes,
) -> Measured:
    """Fit on samples of validation packages, measure on those of test packages, and on real fixes if there are any.

    Where no fix comes with the repaired function, the functions of test packages without a bug take its place.
    """

    def outcomes_of(samples: Iterable[Sample], what: str) -> list[Outcome]:
        return list(progress(ask(scorer, samples), what))

    slope, intercept = fit(outcomes_of(valid, "validation packages"), bug_rate)
    if not slope > 0:
        raise ValueError(
            f"findings of higher probability are not right more often (the fitted slope is {slope:.2f})"
        )
    sets = {HELD_OUT: outcomes_of(test, HELD_OUT)}
    if real := outcomes_of(fixes, REAL_FIXES):
        is_clean = [outcome for outcome in sets[HELD_OUT] if outcome.kind == CLEAN]
        sets[REAL_FIXES] = real if any(outcome.kind == CLEAN for outcome in real) else [*real, *is_clean]
    measured = {data: Outcomes(outcomes, slope, intercept) for data, outcomes in sets.items()}
    calibration = Calibration(
        slope=slope,
        intercept=intercept,
        bug_rate=bug_rate,
        min_candidates=MIN_CANDIDATES,
        curves=tuple(measure_curve(outcomes, data, bug_rate) for data, outcomes in measured.items()),
    )
    return Measured(calibration=calibration, outcomes=measured)


def measure_fixes(
    scorer: Scorer,
    calibration: Calibration,
    fixes: Iterable[Sample],
    *,
    progress: OutcomeDisplay = lambda outcomes, _: outcomes,
) -> Measured:
    """A calibration with its curve over real fixes measured anew, if there are any; the rest stays as it is."""
    real = list(progress(ask(scorer, fixes), REAL_FIXES))
    if not real:
        return Measured(calibration=calibration, outcomes={})
    outcomes = Outcomes(real, calibration.slope, calibration.intercept)
    others = [curve for curve in calibration.curves if curve.data != REAL_FIXES]
    curve = measure_curve(outcomes, REAL_FIXES, calibration.bug_rate)
    return Measured(
        calibration=replace(calibration, curves=(*others, curve)), outcomes={REAL_FIXES: outcomes}
    )
