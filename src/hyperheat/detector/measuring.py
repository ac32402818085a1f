"""How often findings are right: the best finding of each function, and curves over its confidence.

Precision is computed for an assumed share b of functions with a bug, from three shares of the functions in the data:

    s = shown / buggy           functions with a bug that have a finding
    q = right / shown           of these, findings that are the bug's repair
    f = shown / clean           functions without a bug that have a finding
    precision = b s q / (b s + (1 - b) f) = q / (1 + k f / s),  k = (1 - b) / b

Each share has an interval of its own (Wilson's). An interval of the reweighted precision from the number of
findings alone would be far too narrow: with b = 0.05, one false alarm weighs as much as 19 right findings. So the three
are put together: f / s by the formula of Donner and Zou for ratios (2012), then with q on the logarithmic scale, where
independent deviations add in squares. Functions of one package are alike: where hits gather in some packages, the share
counts as if from as many fewer functions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import exp, inf, log, sqrt

import numpy as np

from hyperheat.detector.calibration import Curve, Point, to_confidence
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.detector.scorer import Scorer
from hyperheat.rewrites import KINDS
from hyperheat.rewrites.planting import MIN_CANDIDATES

__all__ = [
    "CLEAN",
    "MIN_FOUND",
    "Outcome",
    "Outcomes",
    "Share",
    "ask",
    "count_by_kind",
    "measure_at",
    "measure_curve",
    "share",
    "weights",
    "wilson",
]

CLEAN = "clean"
"""The kind of a function without a bug."""

MIN_FOUND = 10
"""Thresholds from which on fewer bugs are found have no point in a curve."""

_KINDS = tuple(KINDS)
_Z = 1.959964  # of a 95 % interval
_THRESHOLDS = (*(step / 100 for step in range(1, 100)), 0.995, 0.999)
_CHUNK = 64
_BINS = 10
_LEAST_OF_ERROR = 0.1


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
    """The best finding of each sample that can be scored, a few at a time; a hopeless one where there are few candidates.

    Such a function may be in the data, if its bug was a real one or took candidates from it; scans do not judge it.
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
    """The share of hits among functions [F], as if there were as many fewer functions as groups [F] are alike."""
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


def wilson(value: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share p that was seen among n: the roots of (1 + z²/n) x² - (2p + z²/n) x + p² = 0."""
    square = _Z**2 / count
    half = sqrt(square * (value * (1 - value) + square / 4))
    upper = (value + square / 2 + half) / (1 + square)
    return value**2 / (1 + square) / upper, min(
        1.0, upper
    )  # the product of the roots: never below 0 by rounding


def measure_curve(outcomes: Outcomes, data: str, bug_rate: float) -> Curve:
    """What findings from each threshold on are worth."""
    points = (measure_at(outcomes, threshold, bug_rate) for threshold in _THRESHOLDS)
    return Curve(
        data=data,
        functions=len(outcomes),
        bugs=int(outcomes.buggy.sum()),
        bug_rate=bug_rate,
        error=_calibration_error(outcomes, bug_rate),
        points=tuple(point for point in points if point is not None),
    )


def measure_at(outcomes: Outcomes, threshold: float, bug_rate: float) -> Point | None:
    """What findings of at least some confidence are worth; None if too few bugs are found to say."""
    shown, buggy, right = outcomes.confidence >= threshold, outcomes.buggy, outcomes.right
    found = int((right & shown).sum())
    if found < MIN_FOUND:
        return None
    group = outcomes.group
    s, f = (share(shown[part], group[part]) for part in (buggy, ~buggy))
    q = share(right[buggy & shown], group[buggy & shown])
    k = (1 - bug_rate) / bug_rate
    odds = 1 + k * f.value / s.value
    worst = 1 + k * _largest_ratio(f, s)
    deviation = sqrt(log(worst / odds) ** 2 + log(q.value / q.lower) ** 2)
    return Point(
        confidence=threshold,
        precision=_rounded(q.value / odds),
        lower=_rounded(q.value / odds * exp(-deviation)),
        recall=_rounded(found / int(buggy.sum())),
        false_alarms=_rounded(f.value),
    )


def count_by_kind(outcomes: Outcomes, threshold: float) -> dict[str, tuple[int, int]]:
    """For each kind of bug how many there are and how many are found; for CLEAN, functions and those with a finding."""
    shown = (outcomes.confidence >= threshold) & (outcomes.right | ~outcomes.buggy)
    return {
        str(kind): (int((outcomes.kind == kind).sum()), int(shown[outcomes.kind == kind].sum()))
        for kind in np.unique(outcomes.kind)
    }


def _largest_ratio(numerator: Share, denominator: Share) -> float:
    """The upper end of the interval of a ratio of two independent shares; the denominator is above zero."""
    product = numerator.value * denominator.value
    highest = numerator.upper * (2 * numerator.value - numerator.upper)
    lowest = denominator.lower * (2 * denominator.value - denominator.lower)
    return (product + sqrt(max(0.0, product**2 - highest * lowest))) / lowest


def _calibration_error(outcomes: Outcomes, bug_rate: float) -> float:
    """|share that is right - mean confidence| over equal bins, of findings that are not hopeless.

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
