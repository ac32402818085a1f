"""Whether a finding became more suspicious since an earlier version of its function.

Functions are matched by their name in the file; then by their code, whatever they and their variables are called, in the
file and in the other files that changed. A function whose code is the same has not changed, so nothing in it rose. In any
other, a finding is compared with the most suspicious place that corresponds to it:

1. the same part of the same statement, local variables aside;
2. else, the same repair anywhere in the function, at a place that is no longer there;
3. else, the same repair in the same statement of another function of the file that changed: code that moved.

A finding rose if there is no such place, or if its odds are at least twice as high, both overall and against no bug alone:
of several suspicious places, one gains when another is repaired, and that is no reason to report it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hyperheat.check.records import MARGIN, FileRecord, FunctionRecord, IdentityRecord, TraceRecord
from hyperheat.check.scanned_files import ScannedFunction
from hyperheat.detector.calibration import Calibration, log_odds

__all__ = ["Rise", "compare_function", "has_match", "is_same_code"]


@dataclass(frozen=True, slots=True)
class Rise:
    """Whether a finding rose, and the confidence that it had before; None if its place is new."""

    rose: bool
    previous: float | None = None


def compare_function(
    function: ScannedFunction,
    own: FileRecord,
    others: Sequence[FileRecord],
    calibration: Calibration,
) -> list[Rise]:
    """What became of the suspects of a function, one for one.

    `own` is the earlier version of its file, `others` those of other files, which count if it is not in its own.
    """
    if _is_unchanged(function, own):
        return [Rise(rose=False, previous=suspect.confidence) for suspect in function.suspects]
    named = list(_named(function.name, own))
    if not named:
        if any(_is_unchanged(function, other) for other in others):
            return [Rise(rose=False, previous=suspect.confidence) for suspect in function.suspects]
        named = [record for other in others for record in _named(function.name, other)]
    before = [trace for record in named for trace in record.traces]
    moved = [trace for record in own.known.values() for trace in record.traces]
    rises = []
    for suspect in function.suspects:
        trace, previous = suspect.trace, None
        if trace is not None:
            previous = _corresponding(trace, function.traces, before, moved)
        if trace is None or previous is None:
            rises.append(Rise(rose=True))
        else:
            rises.append(Rise(_is_higher(trace, previous), calibration.confidence(previous.score)))
    return rises


def has_match(function: ScannedFunction, own: FileRecord) -> bool:
    """Whether a function is in the earlier version of its file, under its name or another."""
    return any(listed.name == function.name for listed in own.functions) or _is_unchanged(function, own)


def is_same_code(one: IdentityRecord | None, other: IdentityRecord | None) -> bool:
    """Whether two functions differ in nothing but names: those of variables, and any others that were replaced
    everywhere by a name that was not there before.
    """
    if one is None or other is None or one.shape != other.shape or len(one.names) != len(other.names):
        return False
    return all(
        name == renamed or (name not in other.names and renamed not in one.names)
        for name, renamed in zip(one.names, other.names, strict=True)
    )


def _is_unchanged(function: ScannedFunction, version: FileRecord) -> bool:
    return any(listed.digest == function.digest for listed in version.functions) or any(
        is_same_code(function.identity, record.identity) for record in version.known.values()
    )


def _named(name: str, version: FileRecord) -> Iterator[FunctionRecord]:
    """The functions of that name: there may be several, such as those of a property."""
    return (
        version.known[listed.digest]
        for listed in version.functions
        if listed.name == name and listed.digest in version.known
    )


def _corresponding(
    trace: TraceRecord,
    beside: Iterable[TraceRecord],
    before: Sequence[TraceRecord],
    moved: Sequence[TraceRecord],
) -> TraceRecord | None:
    """The most suspicious place that corresponds to one; `beside` are all traces of its function as it is now."""
    found = [old for old in before if old.spot == trace.spot]
    if not found:
        there = {other.spot for other in beside}
        found = [old for old in before if old.rewrite == trace.rewrite and old.spot not in there]
    if not found:
        found = [old for old in moved if (old.spot, old.rewrite) == (trace.spot, trace.rewrite)]
    return max(found, key=lambda old: old.odds, default=None)


def _is_higher(trace: TraceRecord, previous: TraceRecord) -> bool:
    overall = log_odds(trace.score) - log_odds(previous.score)
    return min(overall, trace.odds - previous.odds) >= MARGIN
