"""Files after a scan: their functions, the places that may be wrong, and their texts.

Here the places of records, which are spans of characters in the source of a function, become lines and columns.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypedDict

from hyperheat.check.discovery import FoundFile
from hyperheat.check.records import (
    CellRecord,
    FileRecord,
    FunctionRecord,
    IdentityRecord,
    PlaceRecord,
    RepairRecord,
    TraceRecord,
)
from hyperheat.check.suppressions import Suppression
from hyperheat.detector.calibration import Calibration
from hyperheat.files import SkippedFile, read_regular
from hyperheat.report.finding import (
    Alternative,
    FileEdit,
    Finding,
    Fix,
    FunctionHeat,
    HeatSpan,
    ScanError,
)
from hyperheat.report.rules import RULE_OF_KIND
from hyperheat.report.source import SourceText
from hyperheat.source_encoding import decode

__all__ = [
    "ScannedFile",
    "ScannedFunction",
    "Sources",
    "Suspect",
    "lines_and_columns",
    "read_record",
    "sha256_of",
]

_KEPT = 4  # texts; findings come in the order of their files


@dataclass(frozen=True, kw_only=True, eq=False)
class Suspect:
    """A place that may be wrong, the model's own probability of it, before calibration, and its trace.

    The finding itself is made when it is asked for: of most places nobody wants to know more than the tier.
    """

    rule: str
    confidence: float
    tier: str
    probability: float
    trace: TraceRecord | None = None
    make: Callable[[], Finding] = field(repr=False)

    @classmethod
    def of(cls, finding: Finding, *, probability: float, trace: TraceRecord | None = None) -> "Suspect":
        """The place of a finding."""
        return cls(
            rule=finding.rule,
            confidence=finding.confidence,
            tier=finding.tier,
            probability=probability,
            trace=trace,
            make=lambda: finding,
        )

    @cached_property
    def finding(self) -> Finding:
        """The place in its file, what is wrong in plain words, and the repairs."""
        return self.make()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Suspect) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[object, ...]:
        return self.finding, self.probability, self.trace


@dataclass(frozen=True, kw_only=True)
class ScannedFunction:
    """An outermost function, from `line` to `end_line`, the latter included.

    The first suspect is the most likely one, and is there whenever the function was judged; the others are kept if they
    are sure enough to be worth a look. `no_bug` is the model's own probability, None if the function
    was not scored. `digest`, `identity` and `traces` are for the comparison with another version, as in its record.
    """

    name: str
    line: int
    end_line: int
    no_bug: float | None
    suspects: tuple[Suspect, ...]
    heat: FunctionHeat
    digest: str = ""
    identity: IdentityRecord | None = None
    traces: tuple[TraceRecord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ScannedFile:
    """A file after a scan. `source` is the scanned text if it is not on disk; otherwise `size` and `sha256` identify it.

    Sources are not kept in memory, since a project may be large. `cached` counts the functions whose results came from
    the cache.
    """

    file: FoundFile
    source: bytes | str | None = None
    sha256: str | None = None
    size: int = 0
    functions: tuple[ScannedFunction, ...] = ()
    errors: tuple[ScanError, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    cached: int = 0
    cells: tuple[CellRecord, ...] = ()
    """The cells of a notebook; its functions, errors and suppressions have lines of the code of all cells together."""

    @property
    def path(self) -> str:
        """The path that reports show."""
        return self.file.shown

    @property
    def is_checked(self) -> bool:
        """Whether the file could be read; its single functions may have been skipped."""
        whole = any(error.rule == "HH900" or error.line is None for error in self.errors)
        return bool(self.functions) or not whole

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
        if self.cells and isinstance(data, bytes):
            from hyperheat.check.notebook import read_notebook

            return SourceText(read_notebook(data).text)
        return SourceText(data if isinstance(data, str) else decode(data)[0])


class Sources(Mapping[str, SourceText]):
    """Texts of scanned files by path, read again when they are needed; a file that has changed since has none.

    The text of a cell is found by the path and the cell, as in `Finding.source`.
    """

    def __init__(self, files: Iterable[ScannedFile]) -> None:
        self._files = {file.path: file for file in files if file.functions}
        self._cells = {
            f"{file.path}:cell {cell.number}": (file.path, cell)
            for file in self._files.values()
            for cell in file.cells
        }
        self._kept: dict[str, SourceText | None] = {}

    def __getitem__(self, source: str) -> SourceText:
        if source not in self._kept:
            text = self._read(source)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[source] = text
        text = self._kept[source]
        if text is None:
            raise KeyError(source)
        return text

    def _read(self, source: str) -> SourceText | None:
        if source in self._cells:
            path, cell = self._cells[source]
            text = self.get(path)
            return text and SourceText(text.lines(cell.line, cell.line + len(cell.file_lines) - 1))
        return self._files[source].text()

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def sha256_of(data: bytes) -> str:
    """The sha256 of the bytes of a file, to notice later that it changed."""
    return hashlib.sha256(data).hexdigest()


def read_record(
    record: FileRecord,
    file: FoundFile,
    calibration: Calibration,
    *,
    source: bytes | str | None = None,
    sha256: str | None = None,
    size: int = 0,
    cached: int = 0,
) -> ScannedFile:
    """The scanned file of a record."""
    return ScannedFile(
        file=file,
        source=source,
        sha256=sha256,
        size=size,
        functions=tuple(
            _Function(record.known[digest], name, line, digest, file.shown, calibration).read()
            for name, line, digest in record.functions
        ),
        errors=tuple(
            ScanError(path=file.shown, rule=error.rule, reason=error.reason, line=error.line)
            for error in record.errors
        ),
        suppressions=record.comments,
        cached=cached,
        cells=record.cells,
    )


class LinesAndColumns(TypedDict):
    """A place in a file, as findings have it."""

    line: int
    column: int
    end_line: int
    end_column: int


def lines_and_columns(record: FunctionRecord, line: int, start: int, end: int) -> LinesAndColumns:
    """The place of a span in a function that begins in `line`; nowhere else is it made of characters."""
    lines = record.lines
    first, last = bisect_right(lines, start) - 1, bisect_right(lines, end) - 1
    return {
        "line": line + first,
        "column": start - lines[first] + 1,
        "end_line": line + last,
        "end_column": end - lines[last] + 1,
    }


@dataclass(frozen=True, slots=True)
class _Function:
    """A function's record, and where the function is."""

    record: FunctionRecord
    name: str
    line: int
    digest: str
    path: str
    calibration: Calibration

    def read(self) -> ScannedFunction:
        end_line = self.line + len(self.record.lines) - 1
        heats = tuple(HeatSpan(**self._lines(hot[0], hot[1]), suspicion=hot[2]) for hot in self.record.heat)
        return ScannedFunction(
            name=self.name,
            line=self.line,
            end_line=end_line,
            no_bug=self.record.no_bug,
            suspects=tuple(map(self._suspect, self.record.places)),
            heat=FunctionHeat(
                path=self.path, function=self.name, line=self.line, end_line=end_line, heats=heats
            ),
            digest=self.digest,
            identity=self.record.identity,
            traces=self.record.traces,
        )

    def _suspect(self, place: PlaceRecord) -> Suspect:
        best, at = place.repairs[0], (place.start, place.end)
        return Suspect(
            rule=RULE_OF_KIND[best.kind],
            confidence=best.confidence,
            tier=self.calibration.tier(best.confidence),
            probability=place.probability,
            trace=next((trace for trace in self.record.traces if (trace.start, trace.end) == at), None),
            make=partial(self._finding, place),
        )

    def _finding(self, place: PlaceRecord) -> Finding:
        best, *others = place.repairs
        return Finding(
            path=self.path,
            rule=RULE_OF_KIND[best.kind],
            kind=best.kind,
            **self._lines(place.start, place.end),
            function=self.name,
            message=best.message,
            confidence=best.confidence,
            tier=self.calibration.tier(best.confidence),
            alarm_rate=self.calibration.rate(best.confidence),
            safe=self.calibration.is_safe(best.confidence),
            fix=self._fix(best),
            alternatives=tuple(
                Alternative(
                    kind=other.kind,
                    message=other.message,
                    confidence=other.confidence,
                    fix=self._fix(other),
                )
                for other in others
            ),
        )

    def _fix(self, repair: RepairRecord) -> Fix:
        return Fix(tuple(FileEdit(**self._lines(start, end), text=text) for start, end, text in repair.edits))

    def _lines(self, start: int, end: int) -> LinesAndColumns:
        return lines_and_columns(self.record, self.line, start, end)
