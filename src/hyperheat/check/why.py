"""What moved a score: the parts of a function without which a finding is less likely, and the other repairs of its place.

    why = find_why(question, score, rewrite)
    for cause in why.causes:
        print(cause.text, why.probability, "->", why.probability - cause.change)

The method is occlusion: one part of the function's hypergraph is removed (`detector.occlusion`), the detector is asked
again, and the part counts by how much that changes the probability of the finding. One copy is scored at a time: with
numpy, batches of copies are no faster. It says what this model looked at, not
what is wrong with the code. Parts that only work together are missed, since each is removed alone.

The work is limited by a count, not by time, so that the same function always gets the same answer; parts near the place
come first, and those that were not tried are counted.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from hyperheat.check.analysis import Question, Score
from hyperheat.detector import SampleScores
from hyperheat.detector.occlusion import FunctionPart, PartKind, list_parts, remove
from hyperheat.rewrites import KINDS

__all__ = ["Cause", "MeasuredParts", "OtherRepair", "Why", "find_why", "measure_parts"]

_WORK = 12_000  # nodes that are read in all; less than a second with the model of the package
_FEWEST = 12  # parts that are tried however large the function is
_MOST_CAUSES = 6
_MOST_REPAIRS = 3
_LEAST_REPAIR = 0.001
_DIGITS = 4
_LEAST_CHANGE, _LEAST_LOG_ODDS = 0.005, 0.2  # that are worth telling, of the probability and of its log-odds
_LONGEST = 40  # characters of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A part of a function that matters for a finding.

    `start` and `end` are offsets in the function's source, of the occurrence nearest to the finding; None for a relation.
    `spans` are all occurrences. `change` is how much the probability of the finding falls when the part is removed; if it
    rises, `change` is below zero.
    """

    kind: PartKind
    text: str
    start: int | None
    end: int | None
    spans: tuple[tuple[int, int], ...] = ()
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRepair:
    """Another repair of the same place: its index among the rewrites, what it says, and its probability."""

    rewrite: int
    message: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What a finding depends on, by the model's own probabilities.

    `causes` speak for the finding, largest change first; `against` speak against it, most negative first. `tried` and
    `left_out` count the parts that were removed, and those that were not for lack of time.
    """

    probability: float
    no_bug: float
    causes: tuple[Cause, ...]
    against: tuple[Cause, ...]
    alternatives: tuple[OtherRepair, ...]
    tried: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredParts:
    """What a detector says of a function, and how much the probability of a rewrite falls without each part, in order."""

    scores: SampleScores
    probability: float
    parts: tuple[FunctionPart, ...]
    changes: tuple[float, ...]
    left_out: int


def find_why(question: Question, score: Score, rewrite: int, *, work: int = _WORK) -> Why:
    """What the detector's opinion of a rewrite, an index into `question.rewrites`, depends on.

    About `work` nodes are read. Raises TooMuchSource if the function is too large for the detector.
    """
    measured = measure_parts(question, score, rewrite, work=work)
    causes = [
        _cause(part, change)
        for part, change in zip(measured.parts, measured.changes, strict=True)
        if _matters(measured.probability, change)
    ]
    causes.sort(key=lambda cause: -cause.change)  # stable: of equal ones, the nearest comes first
    return Why(
        probability=measured.probability,
        no_bug=_probability(measured.scores.no_bug),
        causes=tuple(cause for cause in causes if cause.change > 0)[:_MOST_CAUSES],
        against=tuple(cause for cause in reversed(causes) if cause.change < 0)[:_MOST_CAUSES],
        alternatives=_alternatives(question, measured.scores, rewrite),
        tried=len(measured.parts),
        left_out=measured.left_out,
    )


def measure_parts(question: Question, score: Score, rewrite: int, *, work: int = _WORK) -> MeasuredParts:
    """Remove one part after the other and ask the detector about a rewrite, those near its place first."""
    if not 0 <= rewrite < len(question.rewrites):
        raise IndexError(f"rewrite: expected an index below {len(question.rewrites)}, got {rewrite}")
    sample = question.sample
    scores = score(sample)
    probability = _probability(scores.findings[rewrite])
    parts = list_parts(question.function, question.rewrites[rewrite].location)
    tried = parts[: max(_FEWEST, work // max(sample.graph.num_nodes, 1))]
    without = (score(replace(sample, graph=remove(sample.graph, [part]))) for part in tried)
    changes = (round(probability - _probability(other.findings[rewrite]), _DIGITS) for other in without)
    return MeasuredParts(
        scores=scores,
        probability=probability,
        parts=tuple(tried),
        changes=tuple(changes),
        left_out=len(parts) - len(tried),
    )


def _cause(part: FunctionPart, change: float) -> Cause:
    first = part.spans[0] if part.spans else None
    return Cause(
        kind=part.kind,
        text=_one_line(part.text),
        start=None if first is None else first.start,
        end=None if first is None else first.end,
        spans=tuple(sorted((start, end) for start, end in part.spans)),
        change=change,
    )


def _alternatives(question: Question, scores: SampleScores, rewrite: int) -> tuple[OtherRepair, ...]:
    """The other repairs of the same location, most likely first."""
    source, location_of = question.function.source, scores.location_of
    others = np.flatnonzero(location_of == location_of[rewrite])
    found = [
        OtherRepair(
            rewrite=other,
            message=KINDS[question.rewrites[other].kind].describe(question.rewrites[other], source),
            probability=_probability(scores.findings[other]),
        )
        for other in others.tolist()
        if other != rewrite and math.exp(scores.findings[other]) >= _LEAST_REPAIR
    ]
    return tuple(sorted(found, key=lambda other: -other.probability)[:_MOST_REPAIRS])


def _probability(logarithm: float) -> float:
    """Rounded as in the records of a scan, so that the last bits of a processor's arithmetic decide nothing."""
    return round(math.exp(round(float(logarithm), _DIGITS)), _DIGITS)


def _matters(probability: float, change: float) -> bool:
    shift = _log_odds(probability) - _log_odds(probability - change)
    return abs(change) >= _LEAST_CHANGE and abs(shift) >= _LEAST_LOG_ODDS


def _log_odds(probability: float) -> float:
    least = 0.5 * 10**-_DIGITS
    inside = min(max(probability, least), 1 - least)
    return math.log(inside / (1 - inside))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
