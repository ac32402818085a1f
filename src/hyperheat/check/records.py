"""What is known of a file after it was looked at, as plain data that goes through pipes and into the cache.

    file        {"functions": [[name, line, digest], ...], "known": {digest: function, ...},
                 "errors": [[rule, reason, line or null], ...], "comments": [suppression, ...]}
    function    {"lines": number, "no_bug": probability or null, "places": [place, ...], "heat": [[*span, suspicion], ...]}
    place       {"at": span, "probability": number, "repairs": [repair, ...]}      the first repair is suggested
    repair      {"kind", "message", "confidence", "edits": [[*span, text], ...]}
    span        [line, column, end line, end column], lines counted from 0 at the first line of the function

A function's record holds nothing of where it stands, so that it stays the same when the function moves. Results that
were just made and those from the cache are read by the same code, so that they cannot differ.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from hyperheat.bugs.onnx.calibration import Calibration
from hyperheat.check.discover import FoundFile
from hyperheat.check.encoding import decode
from hyperheat.check.suppressions import Suppression
from hyperheat.report.finding import (
    Alternative,
    FileEdit,
    Finding,
    Fix,
    FunctionHeat,
    Heat,
    ScanError,
)
from hyperheat.report.rules import RULE_OF_KIND
from hyperheat.report.source import SourceText

__all__ = ["Record", "ScannedFile", "ScannedFunction", "Suspect", "comment_record", "read_record"]

Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A place that may be wrong: the finding, and the model's own probability of it, before calibration."""

    finding: Finding
    probability: float


@dataclass(frozen=True, kw_only=True)
class ScannedFunction:
    """An outermost function, from `line` to `end_line`, the latter included.

    Of the suspects the first is the surest and always there if anything in the function could be repaired; the others
    are at least as sure as one is of any function before looking at it. `no_bug` is the model's own probability,
    None if the function was not judged.
    """

    name: str
    line: int
    end_line: int
    no_bug: float | None
    suspects: tuple[Suspect, ...]
    heat: FunctionHeat


@dataclass(frozen=True, kw_only=True)
class ScannedFile:
    """A file after a scan; `source` is what was scanned, None if it could not be read.

    `cached` counts the functions whose results were known before.
    """

    file: FoundFile
    source: bytes | str | None
    functions: tuple[ScannedFunction, ...] = ()
    errors: tuple[ScanError, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    cached: int = 0

    @property
    def path(self) -> str:
        """The path that reports show."""
        return self.file.shown

    @cached_property
    def text(self) -> SourceText | None:
        """The text that was scanned; None if there are no functions in it, or none that could be read."""
        if self.source is None or not self.functions:
            return None
        return SourceText(self.source if isinstance(self.source, str) else decode(self.source)[0])


def read_record(
    record: Record, file: FoundFile, source: bytes | str, calibration: Calibration, *, cached: int
) -> ScannedFile:
    """The scanned file of a record; raises an error of lookup, type or value if it is not one."""
    functions = tuple(
        _function(record["known"][digest], str(name), line, file.shown, calibration)
        for name, line, digest in record["functions"]
    )
    errors = tuple(
        ScanError(path=file.shown, rule=rule, reason=str(reason), line=line)
        for rule, reason, line in record["errors"]
    )
    return ScannedFile(
        file=file,
        source=source,
        functions=functions,
        errors=errors,
        suppressions=tuple(_comment(comment) for comment in record["comments"]),
        cached=cached,
    )


def _function(record: Record, name: str, line: int, path: str, calibration: Calibration) -> ScannedFunction:
    end_line = line + record["lines"] - 1
    heats = tuple(Heat(**_span(row, line), suspicion=row[4]) for row in record["heat"])
    return ScannedFunction(
        name=name,
        line=line,
        end_line=end_line,
        no_bug=record["no_bug"],
        suspects=tuple(_suspect(place, name, line, path, calibration) for place in record["places"]),
        heat=FunctionHeat(path=path, function=name, line=line, end_line=end_line, heats=heats),
    )


def _suspect(record: Record, name: str, line: int, path: str, calibration: Calibration) -> Suspect:
    best, *others = record["repairs"]
    finding = Finding(
        path=path,
        rule=RULE_OF_KIND[best["kind"]],
        kind=best["kind"],
        **_span(record["at"], line),
        function=name,
        message=str(best["message"]),
        confidence=best["confidence"],
        tier=calibration.tier(best["confidence"]),
        fix=_fix(best, line),
        alternatives=tuple(
            Alternative(
                kind=other["kind"],
                message=str(other["message"]),
                confidence=other["confidence"],
                fix=_fix(other, line),
            )
            for other in others
        ),
    )
    return Suspect(finding=finding, probability=record["probability"])


def _fix(repair: Record, line: int) -> Fix:
    return Fix(tuple(FileEdit(**_span(edit, line), text=str(edit[4])) for edit in repair["edits"]))


def _span(span: list[int], line: int) -> dict[str, int]:
    first, column, last, end_column = span[:4]
    return {
        "line": line + first,
        "column": column,
        "end_line": line + last,
        "end_column": end_column,
    }


def comment_record(suppression: Suppression) -> Record:
    """A comment as plain data."""
    return asdict(suppression) | {"lines": _sorted(suppression.lines)}


def _comment(record: Record) -> Suppression:
    lines, rules = record["lines"], record["rules"]
    return Suppression(
        line=record["line"],
        column=record["column"],
        lines=None if lines is None else frozenset(lines),
        rules=None if rules is None else tuple(rules),
        expected_to_work=record["expected_to_work"],
        problem=record["problem"],
    )


def _sorted(lines: Iterable[int] | None) -> list[int] | None:
    return None if lines is None else sorted(lines)
