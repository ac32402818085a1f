"""Scores without a model, and a calibration, for tests of what is made of them."""

import hashlib

import numpy as np

from hyperheat.detector import SampleScores
from hyperheat.detector.calibration import HELD_OUT, Calibration, Curve, Point
from hyperheat.detector.sample import Sample

__all__ = ["CALIBRATION", "pseudo_scores", "scores_of"]

CALIBRATION = Calibration(
    slope=1.0,
    intercept=0.0,
    bug_rate=0.05,
    min_candidates=1,
    tiers={"A": 0.5, "B": 0.2},
    curves=(
        Curve(
            data=HELD_OUT,
            functions=200,
            bugs=100,
            bug_rate=0.05,
            error=0.01,
            points=(
                Point(confidence=0.2, precision=0.6, lower=0.5, recall=0.7, false_alarms=0.1),
                Point(confidence=0.5, precision=0.9, lower=0.8, recall=0.4, false_alarms=0.01),
            ),
        ),
    ),
)
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
