"""Fitting and measuring how far the findings of an exported detector can be trusted.

    the model's probabilities on validation packages  --fit-->      slope and intercept
    confidences on test packages, and on real fixes   --measure-->  curves, tiers

The map is fitted on other packages than it is measured on, and neither were trained on.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.shards import Shard
from hyperheat.detector import Scorer
from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration, Curve, Point, log_odds
from hyperheat.detector.measuring import CLEAN, Outcome, Outcomes, ask, measure_curve, weights
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.rewrites.planting import MIN_CANDIDATES, rank

__all__ = ["PRECISIONS", "Measured", "Progress", "calibrate", "choose_tiers", "draw_functions", "fit"]

Progress = Callable[[Iterable[Outcome], str], Iterable[Outcome]]
"""Passes outcomes on and tells of them, under a name of the data."""

PRECISIONS = {"A": 0.8, "B": 0.5}
"""The precision on held-out packages that findings of a tier should reach."""

_MORE_LIKELY = 0.5
_STEPS = 100
_TOLERANCE = 1e-10


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
    outcomes = [outcome for outcome in outcomes if outcome.log_probability > -math.inf]
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


def choose_tiers(curve: Curve) -> dict[str, float]:
    """The least confidence of each tier: the lowest whose precision reaches that of `PRECISIONS`.

    Precision is that of all findings from there on, so the surest can make up for others; those of tier A are each
    more likely right than wrong. Where no confidence will do, the tier begins where the lower end of the interval of
    precision is highest.
    """
    if not curve.points:
        raise ValueError(f"{curve.data}: expected bugs that are found, got too few for any threshold")
    likely = [point for point in curve.points if point.confidence >= _MORE_LIKELY] or curve.points
    a = _begin(likely, PRECISIONS["A"])
    return {"A": a, "B": min(a, _begin(curve.points, PRECISIONS["B"]))}


def _begin(points: Sequence[Point], precision: float) -> float:
    safest = max(points, key=lambda point: point.lower)
    return next((point for point in points if point.precision >= precision), safest).confidence


def draw_functions(
    folder: Path, split: str, limit: int, *, tags: Collection[str] = (), without: Collection[str] = ()
) -> Iterator[Sample]:
    """Functions of a folder of samples, as they are and with one bug where there are both; at most `limit` samples.

    Every package or repository gives its share, and one is in memory at a time. Functions and bugs are drawn by their names.
    """
    shards = [shard for shard in read_manifest(folder)["shards"] if shard["split"] == split]
    total = sum(shard["samples"] for shard in shards)
    if not total:
        raise ValueError(f"{folder}: expected samples in the split {split!r}, got none")
    seen, given = 0, 0
    for described in shards:
        seen += described["samples"]
        shard = Shard(folder / described["path"], pairs=False)
        rows = _draw_rows(shard, frozenset(tags), frozenset(without))
        rows = rows[: max(0, limit * seen // total - given)]
        given += len(rows)
        yield from (shard[row] for row in rows)


def _draw_rows(shard: Shard, tags: frozenset[str], without: frozenset[str]) -> list[int]:
    """For each function in a random order, the row of the clean sample, if any, and of one with a bug, if any."""
    functions: dict[int, tuple[list[int], list[int]]] = {}
    for row in range(len(shard)):
        sample = shard[row]
        origin, own = sample.origin, frozenset(sample.origin.tags)
        if tags <= own and not without & own:
            place = rank(origin.project, origin.version, origin.path, origin.function, origin.line)
            functions.setdefault(place, ([], []))[sample.target != NO_BUG].append(row)
    return [rows[place % len(rows)] for place in sorted(functions) for rows in functions[place] if rows]


def calibrate(
    scorer: Scorer,
    corpus: Path,
    *,
    fixes: Iterable[Sample] = (),
    bug_rate: float = 0.05,
    limit: int = 4_000,
    progress: Progress = lambda outcomes, _: outcomes,
) -> Measured:
    """Fit on validation packages, measure on test packages, and on real fixes if there are any.

    At most `limit` samples of each split are used. Where no fix comes with the function that it led to, the
    functions without a bug of test packages stand in for them.
    """

    def outcomes_of(samples: Iterable[Sample], what: str) -> list[Outcome]:
        return list(progress(ask(scorer, samples), what))

    slope, intercept = fit(
        outcomes_of(draw_functions(corpus, "valid", limit), "validation packages"), bug_rate
    )
    if not slope > 0:
        raise ValueError(
            f"findings: expected more right ones the surer the model is, got a slope of {slope:.2f}"
        )
    sets = {HELD_OUT: outcomes_of(draw_functions(corpus, "test", limit), HELD_OUT)}
    if real := outcomes_of(fixes, REAL_FIXES):
        is_clean = [outcome for outcome in sets[HELD_OUT] if outcome.kind == CLEAN]
        sets[REAL_FIXES] = real if any(outcome.kind == CLEAN for outcome in real) else [*real, *is_clean]
    measured = {data: Outcomes(outcomes, slope, intercept) for data, outcomes in sets.items()}
    curves = tuple(measure_curve(outcomes, data, bug_rate) for data, outcomes in measured.items())
    calibration = Calibration(
        slope=slope,
        intercept=intercept,
        bug_rate=bug_rate,
        min_candidates=MIN_CANDIDATES,
        tiers=choose_tiers(curves[0]),
        curves=curves,
    )
    return Measured(calibration=calibration, outcomes=measured)
