"""Alarms on unedited real code: how many findings a detector raises, and the tiers that follow from it.

Popular packages are read as they are. Nobody knows which of their functions have a bug, but few do, so a finding counts
as an alarm. What is counted needs no assumption about bugs:

    rate(c) = findings of confidence c or more / functions that were judged

A tier begins at the lowest confidence whose rate, at the upper end of its 95 % interval, is at most that of the tier
(`RATES`). Any detector gets below any rate by saying less and less, so tier A must also be earned: where there is a bug,
it must be found at least `LEAST_GAIN` times as often as there are alarms. See `Calibration.tiers`.

Importing this needs no numpy.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt

__all__ = [
    "GRID",
    "LEAST_GAIN",
    "RATES",
    "SAFE",
    "TIERS",
    "UNEDITED",
    "AlarmPoint",
    "Alarms",
    "wilson",
]

UNEDITED = "unedited packages"
"""The data of alarms: packages outside the training data, as they were released."""

TIERS = ("A", "B", "C", "D")
"""Best first; D is what is left."""

SAFE = "safe"
"""A part of tier A: what `hyperheat fix` repairs without being told to."""

RATES = {SAFE: 1 / 30_000, "A": 1 / 3_000, "B": 1 / 300, "C": 1 / 30}
"""The most alarms per function of each tier."""

LEAST_GAIN = 10.0
"""How many times as often tier A must find a bug, where there is one, as it raises an alarm."""

GRID = (*(step / 100 for step in range(1, 90)), *(step / 1000 for step in range(900, 1000)))
"""The confidences at which findings are counted."""

_Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmPoint:
    """The findings of at least some confidence in unedited code."""

    confidence: float
    alarms: int
    upper: float
    """Alarms per function are at most this, with 97.5 % certainty: the upper end of the 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """Findings in unedited code, for rising confidence."""

    packages: int
    functions: int
    """Functions that were judged."""
    not_judged: int
    """Functions that were seen but are too small or too large to be judged."""
    points: tuple[AlarmPoint, ...]

    def __post_init__(self) -> None:
        if not self.functions or not self.points:
            raise ValueError("alarms: expected functions that were judged, got none")
        falls = all(
            one.confidence < other.confidence and one.alarms >= other.alarms
            for one, other in pairwise(self.points)
        )
        if not falls:
            raise ValueError("alarms: expected rising confidence and falling counts, got another order")

    def rate(self, confidence: float) -> float:
        """Alarms per function at a confidence or above, never less than one in all that were judged.

        It is that of the nearest confidence below that was counted, so it is not too low.
        """
        place = bisect_right(self._confidences, confidence)
        if not place:
            return 1.0
        return min(1.0, max(1, self.points[place - 1].alarms) / self.functions)

    @cached_property
    def _confidences(self) -> list[float]:
        return [point.confidence for point in self.points]


def wilson(value: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share p that was seen among n: the roots of (1 + z²/n) x² - (2p + z²/n) x + p² = 0."""
    square = _Z**2 / count
    half = sqrt(square * (value * (1 - value) + square / 4))
    upper = (value + square / 2 + half) / (1 + square)
    lower = value**2 / (1 + square) / upper  # the product of the roots: never below 0 by rounding
    return lower, min(1.0, upper)
