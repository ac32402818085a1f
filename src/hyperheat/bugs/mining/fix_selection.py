"""Each fix once, with its split and its weight.

Changes may be repeated, reverted or found in several projects. The weight says how likely a change fixed a bug, rather
than changed a setting or followed another change:

    weight = share of bugs in the record's group  *  (CROWDED if many functions of the file changed with it)
                                                  *  (OTHER_SUBJECT if its commit does not mention a fix)

The shares come from reading released bugs one by one, `data/eye_check.jsonl`; those of commits from reading the list of
another project (90 % of the fixes that say so were bugs, and 30 % of the others).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperheat.bugs.corpus.packages import split_of

__all__ = ["distinct_fixes", "group_of", "take_distinct", "weigh"]

_SPLIT_SEED = 0
"""The default of corpora, so that a package held out of one data set is held out of all."""
_AGAIN = "the same change again"
_BACK = "the same change was taken back"

_Change = tuple[str, str]


def take_distinct(
    projects: Sequence[list[dict[str, Any]]], counts: Counter[str] | None = None
) -> list[dict[str, Any]]:
    """Each fix of several projects once, with its split and its weight."""
    return [
        {**record, "split": split_of(_released_name(record), _SPLIT_SEED), "weight": weigh(record)}
        for record in distinct_fixes(projects, counts)
    ]


def distinct_fixes(
    projects: Iterable[list[dict[str, Any]]], counts: Counter[str] | None = None
) -> list[dict[str, Any]]:
    """The records of several projects, one for each pair of functions; those of a project are in order of time.

    A pair that went back and forth counts if it ends differently than it began, or if its last step is called a fix;
    the last step is kept. Pairs of an earlier project, in either direction, are left out.
    """
    counts = Counter() if counts is None else counts
    kept: list[dict[str, Any]] = []
    seen: dict[_Change, _Change] = {}
    """The pairs so far, regardless of direction, with the direction seen last."""
    for records in projects:
        steps: dict[_Change, list[dict[str, Any]]] = {}
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


def _pair(record: dict[str, Any]) -> _Change:
    before, after = record["pair"]
    return before, after


_PASSED = "literal passed to a call"
_LITERAL = "literal elsewhere"
_SHARES = {
    "variable-misuse": 0.95,
    "argument-swap": 0.6,
    "comparison-operator": 0.8,
    "boolean-operator": 0.9,
    "binary-operator": 0.9,
    "augmented-assignment": 0.9,
    _PASSED: 0.4,
    _LITERAL: 0.55,
}
_MANY_FUNCTIONS = 10
_CROWDED = 0.7
_OTHER_SUBJECT = 0.35


def group_of(record: Mapping[str, Any]) -> str:
    """The group of records that the share of bugs was measured on, in words."""
    group = _kind(record)
    if record.get("functions_changed", 0) > _MANY_FUNCTIONS:
        group += ", many functions changed"
    if record.get("fix_like") is False:
        group += ", subject speaks of no fix"
    return group


def weigh(record: Mapping[str, Any]) -> float:
    """The weight of a record, from 0 to 1."""
    weight = _SHARES.get(_kind(record), 0.5)
    if record.get("functions_changed", 0) > _MANY_FUNCTIONS:
        weight *= _CROWDED
    if record.get("fix_like") is False:
        weight *= _OTHER_SUBJECT
    return round(weight, 2)


def _kind(record: Mapping[str, Any]) -> str:
    kind = str(record.get("kind"))
    if kind != "literal":
        return kind
    return _PASSED if record.get("role") in ("Call.args", "keyword.value") else _LITERAL


def _released_name(record: dict[str, Any]) -> str:
    return record.get("package") or record.get("released_as") or record["repo"].partition("/")[2]
