"""What was found in a text, and where it is in a later one that was not read yet, or cannot be."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hyperheat.check.discovery import FoundFile
from hyperheat.check.filters import make_report
from hyperheat.check.records import FileRecord, key_of_lines
from hyperheat.check.scanned_files import read_record
from hyperheat.detector.detector import Detector
from hyperheat.lsp.work import DocumentSettings
from hyperheat.report.finding import FileEdit, Finding, Fix, ScanError
from hyperheat.report.source import SourceText

__all__ = ["CheckedText", "PlacedFinding", "check_record", "move_findings", "shift_finding"]


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding, and the first and the last line of its function."""

    finding: Finding
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """A text that was read: what is shown of it, and what speeds up reading the next one."""

    source: SourceText
    findings: tuple[PlacedFinding, ...] = ()
    errors: tuple[ScanError, ...] = ()
    guesses: Mapping[str, str] = field(default_factory=dict)
    """The digests of functions by the key of their lines."""


def check_record(
    record: FileRecord, text: str, settings: DocumentSettings, path: Path | None, detector: Detector
) -> CheckedText:
    """What is shown of a text, by its record and the settings."""
    found = FoundFile(settings.shown, path or Path(settings.shown))
    file = read_record(record, found, detector.calibration, source=text)
    report = make_report([file], settings.settings, detector, baseline=settings.baseline)
    source = SourceText(text)
    functions = tuple((function.line, function.end_line) for function in file.functions)
    return CheckedText(
        source=source,
        findings=tuple(
            PlacedFinding(
                finding, *next(lines for lines in functions if lines[0] <= finding.line <= lines[1])
            )
            for finding in report.findings
        ),
        errors=report.errors,
        guesses={
            key_of_lines(listed.name, source.lines(first, last)): listed.digest
            for listed, (first, last) in zip(record.functions, functions, strict=True)
        },
    )


def move_findings(checked: CheckedText, text: str) -> tuple[PlacedFinding, ...]:
    """The findings in functions that stand unchanged in another text, where they stand there."""
    if text == checked.source.text:
        return checked.findings
    return tuple(_moved(checked, SourceText(text)))


def _moved(checked: CheckedText, source: SourceText) -> Iterator[PlacedFinding]:
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", source.text))]
    numbers = {start: number for number, start in enumerate(starts, 1)}
    for placed in checked.findings:
        lines = checked.source.lines(placed.first, placed.last)
        found = [numbers[at] for at in _occurrences(lines, source.text) if at in numbers]
        if found:
            by = min((line - placed.first for line in found), key=abs)
            yield PlacedFinding(shift_finding(placed.finding, by), placed.first + by, placed.last + by)


def _occurrences(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + max(1, len(part)))


def shift_finding(finding: Finding, by: int) -> Finding:
    """A finding some lines further down."""
    if not by:
        return finding
    return replace(
        finding,
        line=finding.line + by,
        end_line=finding.end_line + by,
        fix=_shifted_fix(finding.fix, by),
        alternatives=tuple(replace(other, fix=_shifted_fix(other.fix, by)) for other in finding.alternatives),
    )


def _shifted_fix(fix: Fix, by: int) -> Fix:
    return Fix(tuple(_shifted_edit(edit, by) for edit in fix.edits))


def _shifted_edit(edit: FileEdit, by: int) -> FileEdit:
    return replace(edit, line=edit.line + by, end_line=edit.end_line + by)
