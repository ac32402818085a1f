"""A detector on a data set: the figures, by kind, over the threshold, and drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.answers import answer_all
from hyperheat.bugs.dataset import Dataset
from hyperheat.bugs.metrics import (
    Answers,
    Metrics,
    PrecisionRecall,
    measure,
    measure_by_kind,
    precision_recall,
)
from hyperheat.bugs.trained_detector import TrainedDetector
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.sample import CLEAN, NO_BUG, Sample
from hyperheat.detector.scorer import Scorer
from hyperheat.files import whole_file

__all__ = ["Evaluation", "ask_about_clean", "count_tiers", "draw", "evaluate", "select"]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What was measured."""

    all: Metrics
    by_kind: Mapping[str, Metrics]
    curve: PrecisionRecall
    answers: Answers
    parameters: int

    def to_json(self) -> dict[str, Any]:
        """Plain values; of the curve, the points at every hundredth of recall."""
        recall = self.curve.recall
        points = np.unique(np.searchsorted(recall, np.arange(0.01, 1.0, 0.01)))
        points = points[points < len(recall)]
        return {
            "parameters": self.parameters,
            "all": asdict(self.all),
            "by_kind": {kind: asdict(metrics) for kind, metrics in self.by_kind.items()},
            "curve": [
                {
                    "threshold": float(self.curve.threshold[i]),
                    "precision": float(self.curve.precision[i]),
                    "recall": float(recall[i]),
                }
                for i in points
            ],
        }


def select(data: Dataset, tags: tuple[str, ...], without: tuple[str, ...]) -> list[int]:
    """The samples that have all of some tags and none of others."""
    known = {tag for sample in data for tag in sample.origin.tags}
    for tag in (*tags, *without):
        if tag not in known:
            expected = ", ".join(sorted(known)) or "none, since its samples have no tags"
            raise ValueError(f"tag: expected one that the data has ({expected}), got {tag!r}")
    return [
        index
        for index, sample in enumerate(data)
        if set(tags) <= set(sample.origin.tags) and not set(without) & set(sample.origin.tags)
    ]


def evaluate(
    detector: TrainedDetector | Scorer,
    data: Dataset,
    indices: list[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    bug_odds: float = 1.0,
) -> Evaluation:
    """Ask the detector about all samples, or those with the given numbers; `answer_all` says what `bug_odds` are."""
    sizes = data.sizes()
    indices = list(range(len(data))) if indices is None else indices
    if not indices:
        raise ValueError("samples: expected at least one, got none")
    samples = [data[index] for index in indices]
    parts, order = [], []
    asked = answer_all(detector, samples, [sizes[index] for index in indices], bug_odds=bug_odds)
    for batch, answers in asked:
        parts.append(answers)
        order += batch
        if progress is not None:
            progress(len(order), len(indices))
    answers = Answers.join(parts).select(np.argsort(order))
    return Evaluation(
        all=measure(answers),
        by_kind=measure_by_kind(answers),
        curve=precision_recall(answers),
        answers=answers,
        parameters=detector.parameters,
    )


def ask_about_clean(detector: TrainedDetector | Scorer, data: Dataset, *, bug_odds: float = 1.0) -> Answers:
    """What the detector says of the samples without a bug."""
    clean = [index for index, sample in enumerate(data) if sample.kind == CLEAN]
    if not clean:
        raise ValueError(
            f"{data.folder}: expected functions without a bug in the split {data.split!r}, got none"
        )
    return evaluate(detector, data, clean, bug_odds=bug_odds).answers


def count_tiers(
    answers: Answers, samples: Sequence[Sample], calibration: Calibration
) -> dict[str, dict[str, int]]:
    """What tier A shows, and what A and B show: bugs with the right finding or another, and alarms without a bug.

    Functions that are too small to be judged count as having no finding.
    """
    judged = np.array([len(sample.candidates) >= calibration.min_candidates for sample in samples])
    probability = np.where(judged & answers.read, answers.confidence, 0.0)
    with np.errstate(divide="ignore"):
        confidence = np.array([calibration.confidence(float(p)) for p in np.log(probability)])
    buggy = answers.kind != NO_BUG
    tiers = {}
    for tier, threshold in calibration.tiers.items():
        shown = (confidence >= threshold) & (probability > 0)
        tiers[tier] = {
            "bugs": int(buggy.sum()),
            "right": int((shown & buggy & answers.finding).sum()),
            "wrong": int((shown & buggy & ~answers.finding).sum()),
            "clean": int((~buggy).sum()),
            "alarms": int((shown & ~buggy).sum()),
        }
    return tiers


def draw(evaluations: Mapping[str, Evaluation], out: str | Path) -> None:
    """Precision over recall, and how often choices of each probability are right, as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "the picture needs matplotlib: pip install 'hyperheat[train]'", name=error.name
        ) from None
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left = figure.add_subplot(
        1, 2, 1, xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02), title="findings"
    )
    right = figure.add_subplot(
        1,
        2,
        2,
        xlabel="probability of the choice",
        ylabel="share that is right",
        xlim=(0, 1),
        ylim=(0, 1.02),
        title="calibration of locations",
    )
    right.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, evaluation in evaluations.items():
        left.plot(evaluation.curve.recall, evaluation.curve.precision, label=name)
        right.plot(*_reliability(evaluation.answers), marker="o", markersize=3, label=name)
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=150, format=Path(out).suffix.lstrip(".") or "png")


def _reliability(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """The mean probability and the share of right choices in each tenth that holds any."""
    bins = np.minimum((answers.probability * 10).astype(np.int64), 9)
    counts = np.bincount(bins, minlength=10)
    held = counts > 0
    probability = np.bincount(bins, answers.probability, minlength=10)[held] / counts[held]
    return probability, np.bincount(bins, answers.located, minlength=10)[held] / counts[held]
