"""Findings as an editor shows them."""

from collections.abc import Iterator

from lsprotocol import types

from hyperheat.lsp.positions import PlacedText
from hyperheat.lsp.session import Document
from hyperheat.report.finding import FileEdit, Finding, ScanError
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible

__all__ = ["SEVERITIES", "SOURCE", "diagnose", "range_of"]

SOURCE = "hyperheat"
"""What editors show as the origin of a diagnostic."""
SEVERITIES = {
    "A": types.DiagnosticSeverity.Warning,
    "B": types.DiagnosticSeverity.Information,
    "C": types.DiagnosticSeverity.Hint,
    "D": types.DiagnosticSeverity.Hint,
}
"""How severe findings are by their tier; what is not checked is told as information."""


def diagnose(document: Document, text: PlacedText) -> list[types.Diagnostic]:
    """The diagnostics of a document, in the order of their places."""
    source = SourceText(text.text)
    findings = (_of_finding(placed.finding, source, text) for placed in document.findings)
    return [*findings, *_of_errors(document.errors, source, text)]


def range_of(place: Finding | FileEdit, source: SourceText, text: PlacedText) -> types.Range:
    """The range of a finding or of an edit, in the units of the editor."""
    start = text.place(source.offset(place.line, place.column))
    end = text.place(source.offset(place.end_line, place.end_column))
    return types.Range(types.Position(*start), types.Position(*end))


def _of_finding(finding: Finding, source: SourceText, text: PlacedText) -> types.Diagnostic:
    return types.Diagnostic(
        range=range_of(finding, source, text),
        severity=SEVERITIES[finding.tier],
        code=finding.rule,
        source=SOURCE,
        message=f"{visible(finding.message)} ({finding.worth})",
    )


def _of_errors(
    errors: tuple[ScanError, ...], source: SourceText, text: PlacedText
) -> Iterator[types.Diagnostic]:
    for error in errors:
        line = min(error.line or 1, source.last_line)
        first = source.offset(line, 1 + source.indentation(line))
        last = source.offset(line, 1 + len(source.line(line)))
        yield types.Diagnostic(
            range=types.Range(
                types.Position(*text.place(min(first, last))), types.Position(*text.place(last))
            ),
            severity=types.DiagnosticSeverity.Information,
            code=error.rule,
            source=SOURCE,
            message=visible(error.reason),
        )
