"""What is known of a file after it was analysed, as records that go through pipes and into the cache.

A place is a span of characters in the source of its function (`FunctionGraph.source`, where every line ends with a bare
newline). These are the coordinates of rewrites, of records and of the cache; `check.scanned_files` turns them into the
lines and columns of a report, once. A function's record does not say where the function is, so it stays the same when
the function moves. New results and those from the cache are read by the same code, so they cannot differ.

As plain data, for the cache:

    file        {"functions": [[name, line, digest], ...], "known": {digest: function, ...},
                 "errors": [[rule, reason, line or null], ...], "comments": [suppression, ...],
                 "cells": [[number, line, [line of the file, ...]], ...]}
    function    {"lines": [start, ...], "no_bug": probability or null, "places": [place, ...],
                 "heat": [[start, end, suspicion], ...],
                 "identity": [shape, [name, ...]] or null, "traces": [[start, end, spot, rewrite, score, odds], ...]}
    place       {"at": [start, end], "probability": number, "repairs": [repair, ...]}
    repair      {"kind", "message", "confidence", "edits": [[start, end, text], ...]}
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from hyperheat.check.suppressions import Suppression
from hyperheat.report.rules import RULE_OF_KIND, RULES

__all__ = [
    "MARGIN",
    "CellRecord",
    "EditRecord",
    "ErrorRecord",
    "FileRecord",
    "FunctionRecord",
    "HeatRecord",
    "IdentityRecord",
    "ListedFunction",
    "PartialRecord",
    "PlaceRecord",
    "RecordError",
    "RepairRecord",
    "TraceRecord",
    "Wanted",
    "join_parts",
    "key_of_lines",
]

MARGIN = math.log(2)
"""How much log-odds must rise for a finding to be reported; traces are kept of what can make a difference."""

_MOST = 1 << 31  # lines or characters
_FILE_RULES = frozenset(rule.id for rule in RULES.values() if not rule.kinds)


class RecordError(ValueError):
    """Plain data that is not a record."""


class EditRecord(NamedTuple):
    """Put `text` in place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class HeatRecord(NamedTuple):
    """How suspicious the characters from `start` to `end` are, from 0 to 1."""

    start: int
    end: int
    suspicion: float


class IdentityRecord(NamedTuple):
    """What a function is without its layout: a digest of its shape, and the names in it that are not its variables."""

    shape: str
    names: tuple[str, ...]


class TraceRecord(NamedTuple):
    """How a place is found again in another version of its function, and how suspicious it is in this one.

    `spot` is a digest of the place in its statement, `rewrite` one of the most likely repair. `score` is the model's own
    log-probability of that repair; `odds` are its log-odds against no bug, whatever the other places are like.
    """

    start: int
    end: int
    spot: str
    rewrite: str
    score: float
    odds: float


class Wanted(NamedTuple):
    """Functions to look for: those with one of these names or shapes."""

    names: frozenset[str]
    shapes: frozenset[str]


class ListedFunction(NamedTuple):
    """An outermost function of a file: its name, its first line, and a digest of all that its record is made from."""

    name: str
    line: int
    digest: str


class ErrorRecord(NamedTuple):
    """A file, or a part of it, that was not checked."""

    rule: str
    reason: str
    line: int | None


class CellRecord(NamedTuple):
    """A cell of code in a notebook: its number, the line of the joined code that it begins on, its lines in the file."""

    number: int
    line: int
    file_lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RepairRecord:
    """One way to repair a place."""

    kind: str
    message: str
    confidence: float
    edits: tuple[EditRecord, ...]


@dataclass(frozen=True, slots=True)
class PlaceRecord:
    """A place that may be wrong, the model's own probability of it, and its repairs; the first is suggested."""

    start: int
    end: int
    probability: float
    repairs: tuple[RepairRecord, ...]


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function: where each of its lines starts, what may be wrong with it, and how suspicious its parts are.

    `no_bug` is the model's own probability, None if the function was not scored. `identity` and `traces` are for the
    comparison with another version: the former is None if there is nothing to compare.
    """

    lines: tuple[int, ...]
    no_bug: float | None = None
    places: tuple[PlaceRecord, ...] = ()
    heat: tuple[HeatRecord, ...] = ()
    identity: IdentityRecord | None = None
    traces: tuple[TraceRecord, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "lines": self.lines,
            "no_bug": self.no_bug,
            "places": [
                {
                    "at": (place.start, place.end),
                    "probability": place.probability,
                    "repairs": [
                        {
                            "kind": repair.kind,
                            "message": repair.message,
                            "confidence": repair.confidence,
                            "edits": repair.edits,
                        }
                        for repair in place.repairs
                    ],
                }
                for place in self.places
            ],
            "heat": self.heat,
            "identity": self.identity,
            "traces": self.traces,
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "FunctionRecord":
        """Read plain data; raises an error of lookup, type or value if it is not a function."""
        lines = tuple(values["lines"])
        if {*map(type, lines)} != {int} or lines[0] != 0 or [*lines] != sorted({*lines}):
            raise RecordError(f"expected rising starts of lines, got {lines!r:.50}")
        no_bug = values["no_bug"]
        return cls(
            lines,
            None if no_bug is None else _share(no_bug),
            tuple(map(_place, values["places"])),
            tuple(HeatRecord(*_span(start, end), _share(hot)) for start, end, hot in values["heat"]),
            _identity(values["identity"]),
            tuple(map(_trace, values["traces"])),
        )


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file: its functions in order, what is known of each by its digest, what was not checked, and its comments.

    Of an earlier version of a file, only the functions that changed are known. `cells` are those of a notebook. Its lines
    are those of the code of all cells, one below the other.
    """

    functions: tuple[ListedFunction, ...] = ()
    known: Mapping[str, FunctionRecord] = field(default_factory=dict)
    errors: tuple[ErrorRecord, ...] = ()
    comments: tuple[Suppression, ...] = ()
    cells: tuple[CellRecord, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every function is known."""
        return all(function.digest in self.known for function in self.functions)

    def to_plain(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "functions": self.functions,
            "known": {digest: function.to_plain() for digest, function in self.known.items()},
            "errors": self.errors,
            "comments": [
                asdict(comment) | {"lines": None if comment.lines is None else sorted(comment.lines)}
                for comment in self.comments
            ],
            "cells": self.cells,
        }

    @classmethod
    def from_plain(cls, values: Any) -> "FileRecord":
        """Read plain data. Raises RecordError if it is not a file."""
        try:
            functions = tuple(
                ListedFunction(_text(name), _line(line), _text(digest))
                for name, line, digest in values["functions"]
            )
            return cls(
                functions,
                {
                    f.digest: FunctionRecord.from_plain(values["known"][f.digest])
                    for f in functions
                    if f.digest in values["known"]
                },
                tuple(map(_error, values["errors"])),
                tuple(map(_comment, values["comments"])),
                _cells(values["cells"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"not a record: {error}") from None


@dataclass(frozen=True, slots=True)
class PartialRecord:
    """A part of a file's record, sent as soon as it is ready: first the contents of the file, then each function."""

    functions: tuple[ListedFunction, ...] = ()
    errors: tuple[ErrorRecord, ...] = ()
    comments: tuple[Suppression, ...] = ()
    known: Mapping[str, FunctionRecord] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a function was not scored, by its digest."""
    cells: tuple[CellRecord, ...] = ()


def key_of_lines(name: str, lines: str) -> str:
    """A key of a function's text alone, to tell which functions an edit has changed."""
    text = f"{name}\0{lines}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def join_parts(
    parts: Iterable[PartialRecord | None], known: Collection[str], *, lost: str | None = None
) -> FileRecord:
    """The record of a file from its parts, without the functions that are known; `lost` is why parts are missing."""
    listed: list[ListedFunction] = []
    errors: list[ErrorRecord] = []
    comments: list[Suppression] = []
    cells: list[CellRecord] = []
    made: dict[str, FunctionRecord] = {}
    refused: dict[str, str] = {}
    for part in parts:
        if part is None:
            continue
        listed += part.functions
        errors += part.errors
        comments += part.comments
        cells += part.cells
        made |= part.known
        refused |= part.refused
    errors += [
        ErrorRecord("HH901", f"the function {name}: {refused[digest]}", line)
        for name, line, digest in listed
        if digest in refused
    ]
    if lost is not None:
        finished = {*known, *made, *refused}
        errors += _lost_errors([f for f in listed if f.digest not in finished], f"not checked: {lost}")
    done = tuple(function for function in listed if function.digest in known or function.digest in made)
    return FileRecord(done, made, tuple(errors), tuple(comments), tuple(cells))


def _lost_errors(undone: list[ListedFunction], reason: str) -> list[ErrorRecord]:
    """Errors for the function that exceeded a limit and for the functions after it; or for the whole file."""
    if not undone:
        return [ErrorRecord("HH901", reason, None)]
    first, *others = undone
    errors = [ErrorRecord("HH901", f"the function {first.name}: {reason}", first.line)]
    if others:
        functions = "1 more function was" if len(others) == 1 else f"{len(others)} more functions were"
        errors.append(ErrorRecord("HH901", f"{functions} not checked", others[0].line))
    return errors


def _place(values: Mapping[str, Any]) -> PlaceRecord:
    start, end = _span(*values["at"])
    repairs = tuple(map(_repair, values["repairs"]))
    if not repairs:
        raise RecordError("expected a repair, got none")
    return PlaceRecord(start, end, _share(values["probability"]), repairs)


def _repair(values: Mapping[str, Any]) -> RepairRecord:
    if values["kind"] not in RULE_OF_KIND:
        raise RecordError(f"expected a kind of repair, got {values['kind']!r:.50}")
    edits = tuple(EditRecord(*_span(start, end), _text(text)) for start, end, text in values["edits"])
    if not edits or (len(edits) > 1 and any(one.end > other.start for one, other in pairwise(edits))):
        raise RecordError(f"expected edits in order, got {edits!r:.50}")
    return RepairRecord(values["kind"], _text(values["message"]), _share(values["confidence"]), edits)


def _identity(values: Iterable[Any] | None) -> IdentityRecord | None:
    if values is None:
        return None
    shape, names = values
    return IdentityRecord(_text(shape), tuple(map(_text, names)))


def _trace(values: Iterable[Any]) -> TraceRecord:
    start, end, spot, rewrite, score, odds = values
    return TraceRecord(*_span(start, end), _text(spot), _text(rewrite), _logarithm(score), _logarithm(odds))


def _error(values: Iterable[Any]) -> ErrorRecord:
    rule, reason, line = values
    if rule not in _FILE_RULES:
        raise RecordError(f"expected a rule about files, got {rule!r:.50}")
    return ErrorRecord(rule, _text(reason), None if line is None else _line(line))


def _cells(values: Iterable[Any]) -> tuple[CellRecord, ...]:
    cells = tuple(
        CellRecord(_line(number), _line(line), tuple(map(_line, lines))) for number, line, lines in values
    )
    if cells and (cells[0].line != 1 or any(a.line > b.line for a, b in pairwise(cells))):
        raise RecordError("expected cells one below the other")
    return cells


def _comment(values: Mapping[str, Any]) -> Suppression:
    lines, rules, problem = values["lines"], values["rules"], values["problem"]
    return Suppression(
        line=_whole(values["line"]),
        column=_whole(values["column"]),
        lines=None if lines is None else frozenset(map(_whole, lines)),
        rules=None if rules is None else tuple(map(_text, rules)),
        expected_to_work=bool(values["expected_to_work"]),
        problem=None if problem is None else _text(problem),
    )


def _span(start: Any, end: Any) -> tuple[int, int]:
    if type(start) is not int or type(end) is not int or not 0 <= start <= end < _MOST:
        raise RecordError(f"expected a start and an end, got {start!r:.50} to {end!r:.50}")
    return start, end


def _line(value: Any) -> int:
    if _whole(value) < 1:
        raise RecordError(f"expected a line from 1, got {value}")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise RecordError(f"expected a number of lines or characters, got {value!r:.50}")
    return value


def _share(value: Any) -> float:
    if type(value) not in (float, int) or not 0 <= value <= 1:
        raise RecordError(f"expected a number from 0 to 1, got {value!r:.50}")
    return value


def _logarithm(value: Any) -> float:
    if type(value) not in (float, int) or not abs(value) < _MOST:
        raise RecordError(f"expected a logarithm, got {value!r:.50}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise RecordError(f"expected a text, got {value!r:.50}")
    return value
