"""Scores without a model, and a calibration, for tests of what is made of them."""

import hashlib

import numpy as np

from hyperheat.detector import SampleScores
from hyperheat.detector.alarms import RATES, SAFE, AlarmPoint, Alarms
from hyperheat.detector.calibration import HELD_OUT, Calibration, Curve, Point
from hyperheat.detector.sample import Sample

__all__ = ["CALIBRATION", "pseudo_scores", "scores_of", "tiered"]

_RARE = {SAFE: 40_000, "A": 4_000, "B": 400, "C": 40}


def tiered(**begins: float) -> Calibration:
    """A calibration whose tiers begin at these confidences, each a little quieter than it has to be.

    Confidence is the model's own probability, and every planted bug is found.
    """
    points = (
        AlarmPoint(
            confidence=sure, alarms=1_000_000 // _RARE[tier], upper=0.9 / _RARE[tier] + 0.1 * RATES[tier]
        )
        for tier, sure in sorted(begins.items(), key=lambda item: item[1])
    )
    found = (Point(confidence=sure, found=100, alarms=10) for sure in (0.2, 0.999))
    return Calibration(
        slope=1.0,
        intercept=0.0,
        bug_rate=0.05,
        min_candidates=1,
        curves=(Curve(data=HELD_OUT, functions=200, bugs=100, error=0.01, points=tuple(found)),),
        alarms=Alarms(packages=100, functions=1_000_000, not_judged=10, points=tuple(points)),
    )


CALIBRATION = tiered(safe=0.97, A=0.5, B=0.2, C=0.05)
"""One under which confidence is the model's own probability."""


def scores_of(sample: Sample, weights: np.ndarray, no_bug: float = 1.0) -> SampleScores:
    """Scores in proportion to the weights of the candidates, and of there being no bug."""
    nodes, location_of = np.unique(sample.candidates.location, return_inverse=True)
    at = np.zeros(len(nodes))
    np.add.at(at, location_of, weights)
    total = at.sum() + no_bug
    return SampleScores(
        no_bug=float(np.log(no_bug / total)),
        nodes=nodes,
        locations=np.log(at / total),
        location_of=location_of,
        rewrites=np.log(weights / at[location_of]),
    )


def pseudo_scores(sample: Sample) -> SampleScores:
    """Scores that change with everything that a model reads."""
    graph, columns = sample.graph, sample.candidates
    digest = hashlib.sha256("\0".join(graph.names).encode())
    for array in (graph.label, graph.relation, graph.offsets, graph.qualifier, graph.node):
        digest.update(array.tobytes())
    for array in (columns.location, columns.kind, columns.text, columns.first, columns.second):
        digest.update(array.tobytes())
    rng = np.random.default_rng(list(digest.digest()))
    return scores_of(sample, rng.exponential(size=len(columns)) ** 4)
