"""Fitting and measuring how far the findings of an exported detector can be trusted.

    the model's probabilities on validation packages  --fit-->      slope and intercept
    confidences on test packages, and on real fixes   --measure-->  curves, tiers

The map is fitted on other packages than it is measured on, and neither were trained on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from hyperheat.bugs.corpus.sampling import rank
from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.onnx import Scorer
from hyperheat.bugs.onnx.calibration import HELD_OUT, REAL_FIXES, Calibration, Curve, log_odds
from hyperheat.bugs.onnx.measuring import Outcome, Outcomes, ask, measure_curve, weights
from hyperheat.bugs.sample import Sample
from hyperheat.bugs.shards import Shard

__all__ = ["calibrate", "choose_tiers", "draw_pairs", "fit"]

PRECISIONS = {"A": 0.8, "B": 0.5}
"""The precision on held-out packages that findings of a tier should reach."""

_STEPS = 100
_TOLERANCE = 1e-10


def fit(outcomes: Sequence[Outcome], bug_rate: float) -> tuple[float, float]:
    """Slope and intercept of the logistic map that makes the outcomes most likely, by Newton's method.

    Functions are weighted to the assumed share of bugs. Targets are Platt's, a little off 0 and 1, so that
    there is a best map even if probability tells right from wrong without a mistake.
    """
    right = np.array([outcome.right for outcome in outcomes], dtype=bool)
    if right.all() or not right.any():
        raise ValueError("findings: expected some that are right and some that are wrong, got one kind only")
    buggy = np.array([outcome.kind != "clean" for outcome in outcomes])
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

    Where no threshold reaches it, the tier begins where the lower end of the interval of precision is highest.
    """
    if not curve.points:
        raise ValueError(f"{curve.data}: expected bugs that are found, got too few for any threshold")
    safest = max(curve.points, key=lambda point: point.lower).confidence
    a, b = (
        next((point.confidence for point in curve.points if point.precision >= wanted), safest)
        for wanted in PRECISIONS.values()
    )
    return {"A": a, "B": min(a, b)}


def draw_pairs(folder: Path, split: str, limit: int) -> Iterator[Sample]:
    """Functions as they are, each followed by itself with one bug, from all packages; at most `limit` samples.

    One package is in memory at a time. The functions and their bugs are drawn by their names, whatever the limit.
    """
    shards = [shard for shard in read_manifest(folder)["shards"] if shard["split"] == split]
    if not shards:
        raise ValueError(f"{folder}: expected samples in the split {split!r}, got none")
    for index, shard in enumerate(shards):
        room = limit // 2 * (index + 1) // len(shards) - limit // 2 * index // len(shards)
        yield from _pairs_of_shard(Shard(folder / shard["path"], pairs=False), room)


def _pairs_of_shard(shard: Shard, room: int) -> Iterator[Sample]:
    rows = ((row, shard[row]) for row in range(len(shard)))
    functions = {}
    for origin, group in groupby(rows, key=lambda item: item[1].origin):
        clean, bugs = [], []
        for row, sample in group:
            (clean if sample.kind == "clean" else bugs).append(row)
        if clean and bugs:
            key = rank(origin.project, origin.path, origin.function, origin.line)
            functions[key] = clean[0], bugs[key % len(bugs)]
    for key in sorted(functions)[:room]:
        yield from (shard[row] for row in functions[key])


def calibrate(
    scorer: Scorer,
    corpus: Path,
    *,
    fixes: Iterable[Sample] | None = None,
    bug_rate: float = 0.05,
    limit: int = 4_000,
    progress: Callable[[Iterable[Outcome], str], Iterable[Outcome]] = lambda outcomes, _: outcomes,
) -> Calibration:
    """Fit on validation packages, measure on test packages and on real fixes, with at most `limit` samples of each."""

    def outcomes_of(samples: Iterable[Sample], data: str) -> list[Outcome]:
        return list(progress(ask(scorer, samples), data))

    slope, intercept = fit(outcomes_of(draw_pairs(corpus, "valid", limit), "validation packages"), bug_rate)
    if not slope > 0:
        raise ValueError(
            "the model: expected its probability to rise with the share of right findings, got none"
        )
    sets = {HELD_OUT: draw_pairs(corpus, "test", limit)}
    if fixes is not None:
        sets[REAL_FIXES] = fixes
    curves = tuple(
        measure_curve(Outcomes(outcomes_of(samples, data), slope, intercept), data, bug_rate)
        for data, samples in sets.items()
    )
    return Calibration(
        slope=slope,
        intercept=intercept,
        bug_rate=bug_rate,
        tiers=choose_tiers(curves[0]),
        curves=curves,
    )
