"""How likely a change mended a bug, rather than changed a setting or followed another change.

    weight = share of bugs in the record's group  *  (CROWDED if many functions of the file changed with it)
                                                  *  (OTHER_SUBJECT if its commit does not speak of a fix)

The shares come from reading released bugs one by one, `data/eye_check.jsonl`; those of commits from reading the list of
another project (90 % of the fixes that say so were bugs, and 30 % of the others).
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["group_of", "weigh"]

_PASSED = "literal passed to a call"
_LITERAL = "literal elsewhere"
_SHARES = {
    "variable-misuse": 0.9,
    "argument-swap": 0.4,
    "comparison-operator": 0.9,
    "boolean-operator": 0.9,
    "binary-operator": 0.85,
    "augmented-assignment": 0.85,
    _PASSED: 0.5,
    _LITERAL: 0.55,
}
_MANY_FUNCTIONS = 10
_CROWDED = 0.6
_OTHER_SUBJECT = 0.35


def group_of(record: Mapping[str, Any]) -> str:
    """What the share of bugs depends on, in words."""
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
