"""What is known of a file after it was looked at, as plain data that goes through pipes and into the cache.

    file        {"functions": [[name, line, digest], ...], "known": {digest: function, ...},
                 "errors": [[rule, reason, line or null], ...], "comments": [suppression, ...]}
    function    {"lines": number, "no_bug": probability or null, "places": [place, ...], "heat": [[*span, suspicion], ...]}
    place       {"at": span, "probability": number, "repairs": [repair, ...]}      the first repair is suggested
    repair      {"kind", "message", "confidence", "edits": [[*span, text], ...]}
    span        [line, column, end line, end column], lines counted from 0 at the first line of the function

    part        some of the keys of a file, and {"refused": {digest: reason, ...}} for functions that are too large

A function's record holds nothing of where it stands, so that it stays the same when the function moves. Results that
were just made and those from the cache are read by the same code, so that they cannot differ.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hyperheat.check.discover import FoundFile
from hyperheat.check.encoding import decode
from hyperheat.check.suppressions import Suppression
from hyperheat.detector.calibration import Calibration
from hyperheat.files import SkippedFile, read_regular
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

__all__ = [
    "Record",
    "ScannedFile",
    "ScannedFunction",
    "Suspect",
    "comment_record",
    "join_parts",
    "read_record",
    "sha256_of",
]

Record = dict[str, Any]

_MOST = 1 << 31  # lines or columns


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
    """A file after a scan. `source` is what was scanned if it is not on the disk; else `size` and `sha256` tell it.

    Sources are not kept, since all of a project together may be large. `cached` counts the functions whose results
    were known before.
    """

    file: FoundFile
    source: bytes | str | None = None
    sha256: str | None = None
    size: int = 0
    functions: tuple[ScannedFunction, ...] = ()
    errors: tuple[ScanError, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    cached: int = 0

    @property
    def path(self) -> str:
        """The path that reports show."""
        return self.file.shown

    def data(self) -> bytes | str | None:
        """What was scanned; None if it could not be read, or has changed since."""
        if self.sha256 is None:
            return self.source
        try:
            data = read_regular(self.file.path, max_bytes=self.size)
        except SkippedFile:
            return None
        return data if sha256_of(data) == self.sha256 else None

    def text(self) -> SourceText | None:
        """The text that was scanned; None if there are no functions in it, or none that could be read."""
        data = self.data() if self.functions else None
        if data is None:
            return None
        return SourceText(data if isinstance(data, str) else decode(data)[0])


def sha256_of(data: bytes) -> str:
    """The sha256 of the bytes of a file, by which they are told again."""
    return hashlib.sha256(data).hexdigest()


def join_parts(parts: Iterable[Record], known: Collection[str], *, lost: str | None = None) -> Record:
    """The record of a file from its parts, without functions that are known; `lost` says why there are no more."""
    listed, comments, errors = [], [], []
    made: dict[str, Record] = {}
    refused: dict[str, str] = {}
    for part in parts:
        listed += part.get("functions", [])
        comments += part.get("comments", [])
        errors += part.get("errors", [])
        made |= part.get("known", {})
        refused |= part.get("refused", {})
    done = [function for function in listed if function[2] in known or function[2] in made]
    errors += [
        ["HH901", f"the function {name}: {refused[digest]}", line]
        for name, line, digest in listed
        if digest in refused
    ]
    if lost is not None:
        finished = {*known, *made, *refused}
        undone = [function for function in listed if function[2] not in finished]
        errors += _lost_errors(undone, f"could not be looked at: {lost}")
    return {"functions": done, "known": made, "errors": errors, "comments": comments}


def _lost_errors(undone: list[list[Any]], reason: str) -> list[list[Any]]:
    """The function that took too much, and how many others wait behind it; or the whole file."""
    if not undone:
        return [["HH901", reason, None]]
    (name, line, _), *others = undone
    errors: list[list[Any]] = [["HH901", f"the function {name}: {reason}", line]]
    if others:
        functions = "1 more function was" if len(others) == 1 else f"{len(others)} more functions were"
        errors.append(["HH901", f"{functions} not looked at", others[0][1]])
    return errors


def read_record(
    record: Record,
    file: FoundFile,
    calibration: Calibration,
    *,
    source: bytes | str | None = None,
    sha256: str | None = None,
    size: int = 0,
    cached: int = 0,
) -> ScannedFile:
    """The scanned file of a record; raises an error of lookup, type or value if it is not one."""
    functions = tuple(
        _function(record["known"][digest], _text(name), _whole(line), file.shown, calibration)
        for name, line, digest in record["functions"]
    )
    errors = tuple(
        ScanError(
            path=file.shown, rule=rule, reason=_text(reason), line=None if line is None else _whole(line)
        )
        for rule, reason, line in record["errors"]
    )
    return ScannedFile(
        file=file,
        source=source,
        sha256=sha256,
        size=size,
        functions=functions,
        errors=errors,
        suppressions=tuple(_comment(comment) for comment in record["comments"]),
        cached=cached,
    )


def _function(record: Record, name: str, line: int, path: str, calibration: Calibration) -> ScannedFunction:
    end_line = line + _whole(record["lines"]) - 1
    no_bug = record["no_bug"]
    heats = tuple(Heat(**_span(row, line), suspicion=_share(row[4])) for row in record["heat"])
    return ScannedFunction(
        name=name,
        line=line,
        end_line=end_line,
        no_bug=None if no_bug is None else _share(no_bug),
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
        message=_text(best["message"]),
        confidence=_share(best["confidence"]),
        tier=calibration.tier(best["confidence"]),
        fix=_fix(best, line),
        alternatives=tuple(_alternative(other, line) for other in others),
    )
    return Suspect(finding=finding, probability=_share(record["probability"]))


def _alternative(repair: Record, line: int) -> Alternative:
    if repair["kind"] not in RULE_OF_KIND:
        raise LookupError(f"expected a kind of repair, got {repair['kind']!r:.50}")
    return Alternative(
        kind=repair["kind"],
        message=_text(repair["message"]),
        confidence=_share(repair["confidence"]),
        fix=_fix(repair, line),
    )


def _fix(repair: Record, line: int) -> Fix:
    return Fix(tuple(FileEdit(**_span(edit, line), text=_text(edit[4])) for edit in repair["edits"]))


def _span(span: list[int], line: int) -> dict[str, int]:
    first, column, last, end_column = span[:4]
    return {
        "line": line + _whole(first),
        "column": _whole(column),
        "end_line": line + _whole(last),
        "end_column": _whole(end_column),
    }


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise TypeError(f"expected a number of lines or columns, got {value!r:.50}")
    return value


def _share(value: Any) -> float:
    if type(value) not in (float, int) or not 0 <= value <= 1:
        raise TypeError(f"expected a number from 0 to 1, got {value!r:.50}")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected a text, got {value!r:.50}")
    return value


def comment_record(suppression: Suppression) -> Record:
    """A comment as plain data."""
    return asdict(suppression) | {"lines": _sorted(suppression.lines)}


def _comment(record: Record) -> Suppression:
    lines, rules, problem = record["lines"], record["rules"], record["problem"]
    return Suppression(
        line=_whole(record["line"]),
        column=_whole(record["column"]),
        lines=None if lines is None else frozenset(map(_whole, lines)),
        rules=None if rules is None else tuple(map(_text, rules)),
        expected_to_work=bool(record["expected_to_work"]),
        problem=None if problem is None else _text(problem),
    )


def _sorted(lines: Iterable[int] | None) -> list[int] | None:
    return None if lines is None else sorted(lines)
