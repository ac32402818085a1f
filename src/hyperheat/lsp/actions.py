"""What an editor offers to do about a finding: repair it, repair it in another way, or ignore it."""

import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from lsprotocol import types

from hyperheat.check.suppressions import find_suppressions
from hyperheat.lsp.diagnostics import diagnose, range_of
from hyperheat.lsp.positions import PlacedText
from hyperheat.lsp.results import PlacedFinding, shift_finding
from hyperheat.lsp.session import Document
from hyperheat.report.finding import FileEdit, Fix
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible

__all__ = ["ignoring_edit", "offer_actions"]

_LONGEST = 60  # characters of code in a title
_OWN = re.compile(r"#\s*hyperheat\s*:\s*ignore\[(?P<rules>[^\]]*)\]")
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class _Desk:
    """A document at hand, and whether the editor can refuse edits of another version of it."""

    document: Document
    text: PlacedText
    source: SourceText
    versioned: bool

    def edit(self, fix: Fix) -> types.WorkspaceEdit:
        edits = [
            types.TextEdit(range=range_of(edit, self.source, self.text), new_text=edit.text)
            for edit in fix.edits
        ]
        uri = self.document.uri
        if not self.versioned:
            return types.WorkspaceEdit(changes={uri: edits})
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=self.document.version)
        return types.WorkspaceEdit(
            document_changes=[types.TextDocumentEdit(text_document=identifier, edits=edits)]
        )


def offer_actions(
    document: Document, text: PlacedText, wanted: types.Range, *, versioned: bool
) -> list[types.CodeAction]:
    """The actions for the findings that a range touches."""
    desk = _Desk(document, text, SourceText(text.text), versioned)
    diagnostics = diagnose(document, text)  # the findings come first, in the same order
    first = text.offset(wanted.start.line, wanted.start.character)
    last = text.offset(wanted.end.line, wanted.end.character)
    actions: list[types.CodeAction] = []
    for placed, diagnostic in zip(document.findings, diagnostics, strict=False):
        finding = placed.finding
        start = desk.source.offset(finding.line, finding.column)
        end = desk.source.offset(finding.end_line, finding.end_column)
        if start <= max(first, last) and end >= first:
            actions += _actions(desk, placed, diagnostic)
    return actions


def _actions(desk: _Desk, placed: PlacedFinding, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    finding = placed.finding
    repairs = [("", finding.fix), *((" (less likely)", other.fix) for other in finding.alternatives)]
    for number, (more, fix) in enumerate(repairs):
        yield types.CodeAction(
            title=f"Change to `{_after(desk.source, fix)}`{more}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=number == 0 and finding.safe,
            edit=desk.edit(fix),
        )
    ignoring = ignoring_edit(placed, desk.source)
    if ignoring is not None:
        yield types.CodeAction(
            title=f"Ignore {finding.rule} on this line",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=False,
            edit=desk.edit(Fix((ignoring,))),
        )


def _after(source: SourceText, fix: Fix) -> str:
    """The first line that a repair changes, as it is then."""
    line = visible(SourceText(source.edited(fix.edits)).line(fix.edits[0].line).strip()).replace("`", "'")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def ignoring_edit(placed: PlacedFinding, source: SourceText) -> FileEdit | None:
    """The edit that adds a comment to ignore a finding.

    None if there is no room for one, such as inside of a string: the lines of the finding are tried, then the last line of
    its statement.
    """
    above = placed.first - 1
    finding, function = (
        shift_finding(placed.finding, -above),
        SourceText(source.lines(placed.first, placed.last)),
    )
    before = _tokens(function)
    for line in dict.fromkeys((*range(finding.line, finding.end_line + 1), *_ends(before, finding.line))):
        edit = _comment(function, line, finding.rule)
        after = SourceText(function.edited([edit]))
        covered = any(comment.covers(finding) for comment in find_suppressions(after))
        if covered and _code(before) == _code(_tokens(after)):
            return replace(edit, line=line + above, end_line=line + above)
    return None


def _comment(source: SourceText, line: int, rule: str) -> FileEdit:
    """A comment at the end of a line, or one more rule in the comment that is there."""
    text = source.line(line)
    own = _OWN.search(text)
    if own is not None:
        column, new = own.end("rules") + 1, f", {rule}" if own["rules"].strip() else rule
    else:
        column, new = len(text.rstrip()) + 1, f"  # hyperheat: ignore[{rule}]"
    return FileEdit(line=line, column=column, end_line=line, end_column=column, text=new)


def _tokens(source: SourceText) -> list[tokenize.TokenInfo]:
    """The tokens of a function, up to the first error."""
    found: list[tokenize.TokenInfo] = []
    with suppress(tokenize.TokenError, SyntaxError, ValueError):
        found.extend(tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline))
    return found


def _code(tokens: list[tokenize.TokenInfo]) -> list[tuple[int, str]]:
    return [(token.type, token.string) for token in tokens if token.type not in _SKIPPED]


def _ends(tokens: list[tokenize.TokenInfo], line: int) -> Iterator[int]:
    """The line on which the statement around a line ends."""
    for token in tokens:
        if token.type == tokenize.NEWLINE and token.end[0] >= line:
            yield token.start[0]
            return
