"""From what a detector says of a function to what people read: places, repairs, messages, confidence, heat.

Everything is made from log-probabilities that are rounded first, so that the last bits of a processor's arithmetic
decide nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperheat.check.records import Record
from hyperheat.detector import SampleScores
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.sample import Sample
from hyperheat.pycode import FunctionGraph
from hyperheat.rewrites import KINDS, Rewrite, Span, edits_in_file, place

__all__ = ["ALTERNATIVES", "MAX_PLACES", "Question", "answer"]

ALTERNATIVES = 3
"""Other repairs that are told for one place."""
MAX_PLACES = 10
"""Places that are told for one function."""

_DIGITS = 4
_LEAST = 0.01  # less confidence is not worth telling, of heat and of other repairs


@dataclass(frozen=True, slots=True)
class Question:
    """A function, its candidate rewrites in the order of the sample, and the sample that a detector reads.

    `text` is that of the function's file if its line ends are not all bare newlines.
    """

    function: FunctionGraph
    rewrites: tuple[Rewrite, ...]
    sample: Sample
    text: str | None


def answer(question: Question, score: Callable[[Sample], SampleScores], calibration: Calibration) -> Record:
    """The record of a function; one with fewer candidates than any that was measured is not judged."""
    line, _, end_line, _ = question.function.span
    record: Record = {"lines": end_line - line + 1, "no_bug": None, "places": [], "heat": []}
    if len(question.rewrites) < max(1, calibration.min_candidates):
        return record
    scores = score(question.sample)
    findings, locations = np.round(scores.findings, _DIGITS), np.round(scores.locations, _DIGITS)
    record["no_bug"] = _probability(scores.no_bug)
    record["heat"] = _heat(question, scores, locations, calibration)
    order = np.lexsort((np.arange(len(findings)), -findings))
    by_place: dict[int, list[int]] = {}
    for candidate in order.tolist():
        by_place.setdefault(int(scores.location_of[candidate]), []).append(candidate)
    for chosen in list(by_place.values())[:MAX_PLACES]:
        sure = calibration.confidence(float(findings[chosen[0]]))
        if record["places"] and sure < calibration.bug_rate:
            break
        record["places"].append(_place(question, chosen[: 1 + ALTERNATIVES], findings, calibration))
    return record


def _place(question: Question, chosen: list[int], findings: np.ndarray, calibration: Calibration) -> Record:
    best = chosen[0]
    repairs = [
        _repair(question, question.rewrites[candidate], calibration.confidence(float(findings[candidate])))
        for candidate in chosen
    ]
    return {
        "at": _span(question.function, question.rewrites[best].location),
        "probability": _probability(float(findings[best])),
        "repairs": [repairs[0], *(other for other in repairs[1:] if other["confidence"] >= _LEAST)],
    }


def _repair(question: Question, rewrite: Rewrite, confidence: float) -> Record:
    function, text = question.function, question.text
    edits = rewrite.edits if text is None else edits_in_file(rewrite, function, text)
    spans = [_span(function, Span(edit.start, edit.end)) for edit in rewrite.edits]
    return {
        "kind": rewrite.kind,
        "message": KINDS[rewrite.kind].describe(rewrite, function.source),
        "confidence": confidence,
        "edits": [[*span, edit.text] for span, edit in zip(spans, edits, strict=True)],
    }


def _heat(
    question: Question, scores: SampleScores, locations: np.ndarray, calibration: Calibration
) -> list[list[float]]:
    """The places that are suspicious at all, and how suspicious they are."""
    rows = []
    _, first = np.unique(scores.location_of, return_index=True)
    for location, candidate in enumerate(first.tolist()):
        sure = calibration.confidence(float(locations[location]))
        if sure >= _LEAST:
            rows.append([*_span(question.function, question.rewrites[candidate].location), sure])
    return rows


def _span(function: FunctionGraph, span: Span) -> list[int]:
    """Lines from 0 at the function's first, columns from 1."""
    line, column, end_line, end_column = place(function, span)
    first = function.span[0]
    return [line - first, column + 1, end_line - first, end_column + 1]


def _probability(logarithm: float) -> float:
    return round(math.exp(logarithm), _DIGITS)
