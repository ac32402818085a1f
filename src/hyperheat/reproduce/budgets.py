"""What fits in a budget.

A run sees all its samples, or 1/2, 1/3, 1/4 ... of them, so that cut runs of several rows can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperheat.reproduce.paper_tables import SIZES, TableName, TableRow, task_of, whole_samples

__all__ = ["PlannedRun", "describe_plan", "fitting_samples", "share_budget"]

_DIVISORS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_MINUTES_AROUND = 1.0
"""That a run takes beside its training: to read the data and to measure the model."""


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run of a row with a seed."""

    table: TableName
    row: TableRow
    size: str
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from other runs; HEAT is a row of two tables and one run."""
        return task_of(self.table), self.row.name, self.seed

    def minutes(self, samples: int) -> float:
        """About how long it takes on one core."""
        size = SIZES[self.size]
        slower = 1.0 if task_of(self.table) == "kg" else size.dim * size.layers / (64 * 3)
        return samples * slower / self.row.rate / 60 + _MINUTES_AROUND


def fitting_samples(whole: int, rate: float, seconds: float) -> int:
    """All samples, or the largest part of them that can be seen in some seconds; the smallest part if none can.

    >>> fitting_samples(96_000, 100, 600)
    48000
    """
    parts = [whole // divisor for divisor in _DIVISORS]
    return next((part for part in parts if part <= rate * seconds), parts[-1])


def share_budget(runs: Sequence[PlannedRun], minutes: float) -> int:
    """The number by which the samples of all runs are divided so that they fit in some minutes."""
    for divisor in _DIVISORS:
        if sum(run.minutes(_part(run, divisor)) for run in runs) <= minutes:
            return divisor
    return _DIVISORS[-1]


def _part(run: PlannedRun, divisor: int) -> int:
    return whole_samples(run.row, run.size) // divisor


def describe_plan(runs: Sequence[PlannedRun], samples: Sequence[int], minutes: float | None) -> str:
    """What will be run, before it starts."""
    needed = sum(run.minutes(count) for run, count in zip(runs, samples, strict=True))
    bound = "" if minutes is None else f" of {minutes:,.0f}"
    lines = [f"{len(runs)} runs to do, about {needed:,.0f}{bound} minutes on one core like ours:"]
    for run, count in zip(runs, samples, strict=True):
        whole = whole_samples(run.row, run.size)
        cut = "" if count >= whole else f" of {whole:,}"
        lines.append(
            f"  {run.table}  {run.row.name:<20} seed {run.seed}  {count:>9,}{cut} samples, "
            f"about {run.minutes(count):,.0f} minutes"
        )
    return "\n".join(lines)
