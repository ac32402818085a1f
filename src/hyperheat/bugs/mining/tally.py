"""What became of each reference or change, counted by outcome, reason and kind."""

from collections import Counter
from typing import Any

from hyperheat.rewrites import KINDS

__all__ = ["FOUND", "MISSING", "NOT_EXPRESSIBLE", "Tally"]

FOUND = "found"
NOT_EXPRESSIBLE = "not expressible"
MISSING = "missing"


class Tally:
    """Counts of (outcome, reason, kind)."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, outcome: str, reason: str, kind: str, count: int = 1) -> None:
        self._counts[outcome, reason, kind] += count

    def of(self, outcome: str) -> int:
        return sum(count for (of, _, _), count in self._counts.items() if of == outcome)

    def to_json(self) -> dict[str, Any]:
        """Counts by outcome, then by reason, then by kind."""
        nested: dict[str, Any] = {}
        for (outcome, reason, kind), count in sorted(self._counts.items()):
            nested.setdefault(outcome, {}).setdefault(reason, {})[kind] = count
        return nested

    def table(self) -> str:
        """A row for each outcome and reason, a column for each kind."""
        seen = {kind for _, _, kind in self._counts}
        kinds = [kind for kind in (*KINDS, "unknown") if kind in seen] + sorted(seen - {*KINDS, "unknown"})
        rows = sorted({(outcome, reason) for outcome, reason, _ in self._counts}, key=self._order)
        names = [": ".join(filter(None, row)) for row in rows] + ["all"]
        width = max(map(len, names))
        lines = [" ".join([f"{'':<{width}}", *(f"{_SHORT.get(k, k):>10}" for k in kinds), f"{'all':>7}"])]
        for name, row in zip(names, [*rows, None], strict=True):
            counts = [self._count(row, kind) for kind in kinds]
            cells = [*(f"{count:>10,}" for count in counts), f"{sum(counts):>7,}"]
            lines.append(" ".join([f"{name:<{width}}", *cells]))
        return "\n".join(lines)

    def _order(self, row: tuple[str, str]) -> tuple[int, int]:
        return _OUTCOMES.index(row[0]), -sum(
            count for (outcome, reason, _), count in self._counts.items() if (outcome, reason) == row
        )

    def _count(self, row: tuple[str, str] | None, kind: str) -> int:
        return sum(
            count for (*of, k), count in self._counts.items() if k == kind and row in (None, tuple(of))
        )


_OUTCOMES = (FOUND, NOT_EXPRESSIBLE, MISSING)
_SHORT = {
    "variable-misuse": "variable",
    "argument-swap": "swap",
    "comparison-operator": "comparison",
    "boolean-operator": "boolean",
    "binary-operator": "binary",
    "augmented-assignment": "assignment",
}
