"""How good are answers? One row per sample, and the figures of the paper over them.

    joint         right choice (a location, or no bug) and, for a bug, the right rewrite there; over all samples
    loc           right choice; over all samples
    repair        right rewrite, given the true location; over buggy samples
    false_alarms  clean samples in which a location was chosen; over clean samples
    found         the best finding is right, even where "no bug" is more probable; over buggy samples
    quiet         the same, for findings surer than those of all but one in a hundred clean samples
    ece           expected calibration error: |share of right choices - mean probability| over 50 equal bins

A sample that a model could not read counts as wrong in joint, loc, repair, found and quiet; the others are of samples
that were read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np

from hyperheat.detector.sample import CLEAN, NO_BUG
from hyperheat.rewrites import KINDS

__all__ = [
    "Answers",
    "Metrics",
    "PrecisionRecall",
    "measure",
    "measure_by_kind",
    "precision_recall",
    "recall_at_alarms",
]

ALARM_RATES = (100, 30, 10, 3, 1)
"""Alarms per 1,000 functions."""
_BINS = 50


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a model said, as columns with one entry per sample."""

    kind: np.ndarray
    """The place of the bug's kind in `KINDS`, or NO_BUG."""
    read: np.ndarray
    """Whether the model could read the sample."""
    alarm: np.ndarray
    """Whether a location was chosen rather than no bug."""
    located: np.ndarray
    """Whether the choice was right."""
    repaired: np.ndarray
    """Whether the best rewrite at the true location was right; false for a clean sample."""
    probability: np.ndarray
    """Of the choice."""
    confidence: np.ndarray
    """Of the best finding: the most probable location and rewrite, whether or not no bug is more probable."""
    finding: np.ndarray
    """Whether that finding was right."""
    loss: np.ndarray
    """The negative log-likelihood of the right choice and rewrite; zero for a sample that was not read."""

    @classmethod
    def join(cls, parts: "Iterable[Answers]") -> "Answers":
        """The answers to several batches as one."""
        parts = list(parts)
        return cls(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)})

    def select(self, rows: np.ndarray) -> "Answers":
        """The answers to some of the samples."""
        return Answers(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @property
    def right(self) -> np.ndarray:
        """Whether choice and rewrite were right: what joint is the mean of."""
        return self.located & self.read & ((self.kind == NO_BUG) | self.repaired)

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """Shares from 0 to 1; None where no sample counts."""

    samples: int
    buggy: int
    unread: int
    joint: float | None
    loc: float | None
    repair: float | None
    false_alarms: float | None
    found: float | None
    quiet: float | None
    ece: float | None
    loss: float | None


@dataclass(frozen=True, kw_only=True)
class PrecisionRecall:
    """If findings of at least `threshold` are shown: which share is right, and which share of the bugs is found."""

    threshold: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    shown: np.ndarray


def measure(answers: Answers) -> Metrics:
    """The figures of a set of samples."""
    buggy = answers.kind != NO_BUG
    located = answers.located & answers.read
    return Metrics(
        samples=len(answers),
        buggy=int(buggy.sum()),
        unread=int((~answers.read).sum()),
        joint=_mean(answers.right),
        loc=_mean(located),
        repair=_mean((answers.repaired & answers.read)[buggy]),
        false_alarms=_mean(answers.alarm[~buggy & answers.read]),
        found=_mean((answers.finding & answers.read)[buggy]),
        quiet=_quiet_recall(answers.select(answers.read), int(buggy.sum())),
        ece=_calibration_error(answers.probability[answers.read], located[answers.read]),
        loss=_mean(answers.loss[answers.read]),
    )


def measure_by_kind(answers: Answers) -> Mapping[str, Metrics]:
    """The figures of each kind of bug, and of clean samples, where there are any."""
    codes = {CLEAN: NO_BUG, **{kind: code for code, kind in enumerate(KINDS)}}
    return {
        kind: measure(answers.select(answers.kind == code))
        for kind, code in codes.items()
        if (answers.kind == code).any()
    }


def precision_recall(answers: Answers) -> PrecisionRecall:
    """The curve over all thresholds, highest first; findings of equal confidence are shown together."""
    bugs = int((answers.kind != NO_BUG).sum())
    answers = answers.select(answers.read)
    order = np.argsort(-answers.confidence, kind="stable")
    confidence, right = answers.confidence[order], answers.finding[order]
    last = np.flatnonzero(np.append(np.diff(confidence) != 0, True)) if len(order) else np.zeros(0, np.int64)
    found, shown = np.cumsum(right)[last], last + 1
    return PrecisionRecall(
        threshold=confidence[last],
        precision=found / shown,
        recall=found / max(1, bugs),
        shown=shown,
    )


def _quiet_recall(answers: Answers, bugs: int) -> float | None:
    """The share of bugs found by findings that are surer than those of all but one in a hundred clean samples."""
    clean = np.sort(answers.confidence[answers.kind == NO_BUG])[::-1]
    if not len(clean) or not bugs:
        return None
    return float((answers.finding & (answers.confidence > clean[len(clean) // 100])).sum() / bugs)


def recall_at_alarms(bugs: Answers, clean: Answers) -> dict[int, float | None]:
    """The share of bugs whose best finding is right, and surer than all but so many per 1,000 in clean functions.

    None where there are too few clean functions to tell: fewer than make one alarm.
    """
    buggy = bugs.select(bugs.kind != NO_BUG)
    sure = np.sort(np.where(clean.read, clean.confidence, 0.0))[::-1]
    recall: dict[int, float | None] = {}
    for rate in ALARM_RATES:
        most = len(sure) * rate // 1000
        enough = 0 < most < len(sure)
        recall[rate] = _mean(buggy.finding & buggy.read & (buggy.confidence > sure[most])) if enough else None
    return recall


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _calibration_error(probability: np.ndarray, right: np.ndarray) -> float | None:
    if not len(right):
        return None
    bins = np.minimum((probability * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, right - probability, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(right))
