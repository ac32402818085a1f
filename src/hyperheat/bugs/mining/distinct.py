"""Each fix once: changes that are repeated, taken back or found in several projects."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

__all__ = ["distinct_fixes"]

_AGAIN = "the same change again"
_BACK = "the same change was taken back"

Pair = tuple[str, str]


def distinct_fixes(
    projects: Iterable[list[dict[str, Any]]], counts: Counter[str] | None = None
) -> list[dict[str, Any]]:
    """The records of several projects, of each pair of functions only one; those of a project stand in order of time.

    A pair that went back and forth counts if it ends the other way than it began, or if its last step is called a
    fix; the last step that led there is kept. What an earlier project has, either way, is left out.
    """
    counts = Counter() if counts is None else counts
    kept: list[dict[str, Any]] = []
    seen: dict[Pair, Pair] = {}
    """The pairs so far, either way, and the way that was met last."""
    for records in projects:
        steps: dict[Pair, list[dict[str, Any]]] = {}
        for record in records:
            first, second = sorted(_pair(record))
            steps.setdefault((first, second), []).append(record)
        own = []
        for pair, group in steps.items():
            last = group[-1]
            if pair in seen:
                counts[_AGAIN if seen[pair] == _pair(last) else _BACK] += len(group)
                continue
            if _pair(group[0]) == _pair(last) or last.get("fix_like") is True:
                back = sum(_pair(record) != _pair(last) for record in group)
                counts[_BACK] += back
                counts[_AGAIN] += len(group) - 1 - back
                own.append(last)
            else:
                counts[_BACK] += len(group)
            seen[pair] = _pair(last)
        kept += sorted(own, key=records.index)
    return kept


def _pair(record: dict[str, Any]) -> Pair:
    before, after = record["pair"]
    return before, after
