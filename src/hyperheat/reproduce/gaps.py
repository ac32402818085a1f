"""How far one row is ahead of another, and how sure that is.

Both are measured on the same samples, so the difference is taken package by package: samples of one package are alike, and
a model that reads its style well is right in all of them. The interval is that of resampling the packages, and the seeds
that both rows have, with replacement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperheat.reproduce.row_records import RowRecord

__all__ = ["Gap", "judge", "measure_gap"]

_RESAMPLES = 4_000
_LEAST_PACKAGES = 5


@dataclass(frozen=True, kw_only=True)
class Gap:
    """The mean difference in joint, and its 95 % interval."""

    mean: float
    lower: float
    upper: float


def measure_gap(ours: Sequence[RowRecord], theirs: Sequence[RowRecord]) -> Gap | None:
    """How far the runs of one row are ahead of those of another; None if nothing is known of their packages."""
    pairs = [(one, other) for one in ours for other in theirs if one.seed == other.seed]
    tables = [(one.valid.get("by_package"), other.valid.get("by_package")) for one, other in pairs]
    known = [(one, other) for one, other in tables if one and other and one.keys() == other.keys()]
    if not known or len(known[0][0]) < _LEAST_PACKAGES:
        return None
    names = sorted(known[0][0])
    samples = np.array([known[0][0][name]["samples"] for name in names], np.float64)
    ahead = np.array([[_joint(one, name) - _joint(other, name) for name in names] for one, other in known])
    random = np.random.default_rng(0)
    packages = random.integers(len(names), size=(_RESAMPLES, len(names)))
    seeds = random.integers(len(known), size=(_RESAMPLES, len(known)))
    weights = samples[packages]
    drawn = ahead[seeds].mean(1)  # [resamples, packages]
    means = (np.take_along_axis(drawn, packages, 1) * weights).sum(1) / weights.sum(1)
    lower, upper = np.quantile(means, (0.025, 0.975)).tolist()
    return Gap(mean=float(ahead.mean(0) @ samples / samples.sum()), lower=lower, upper=upper)


def judge(gap: Gap, paper: float) -> str:
    """Whether runs agree with the paper about which of two rows is ahead; `paper` is its difference."""
    if gap.lower <= 0 <= gap.upper:
        return "not told apart"
    if paper == 0:
        return "ahead, equal in the paper" if gap.mean > 0 else "behind, equal in the paper"
    return "confirmed" if (gap.mean > 0) == (paper > 0) else "refuted"


def _joint(table: dict[str, Any], name: str) -> float:
    return table[name]["joint"]
