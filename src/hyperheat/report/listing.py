"""Code as it is shown: the few lines with a finding and its repair, and the heat map of a function."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from hyperheat.report.finding import Finding, FunctionHeat, HeatSpan
from hyperheat.report.source import SourceText

__all__ = ["FrameLine", "Piece", "cut_pieces", "frame", "paint"]

_BEFORE = 2  # lines shown above the finding
_MOST_LINES = 6  # of the finding, and of its repair
_MOST_CHARACTERS = 140  # of a line
_CUT = "…"


@dataclass(frozen=True, slots=True)
class FrameLine:
    """One line of a frame: its text in three parts, of which the middle one is marked.

    `number` is the line's number in the file, or None for a line of the repair.
    """

    number: int | None
    before: str
    marked: str
    after: str


def frame(finding: Finding, source: SourceText) -> tuple[FrameLine, ...]:
    """The lines before a finding, its own with the place marked, and what the repair makes of them.

    Long lines are cut around the mark, and of more than six lines the rest is only counted. Without the finding's
    line in the source there is no frame.
    """
    if finding.line > source.last_line:
        return ()
    above = range(max(1, finding.line - _BEFORE), finding.line)
    context = [_cut(number, source.line(number), 0, 0) for number in above]
    return (*context, *_found(finding, source), *_repaired(finding, source))


def _found(finding: Finding, source: SourceText) -> Iterator[FrameLine]:
    last = min(finding.end_line, source.last_line)
    for number in range(finding.line, last + 1):
        if number == finding.line + _MOST_LINES:
            yield _left_out(number, last + 1 - number)
            return
        text = source.line(number)
        start = finding.column - 1 if number == finding.line else source.indentation(number)
        end = finding.end_column - 1 if number == finding.end_line else len(text)
        yield _cut(number, text, start, end)


def _repaired(finding: Finding, source: SourceText) -> Iterator[FrameLine]:
    """The lines that the repair changes, as they are afterwards, with all that is new or moved marked."""
    first, last = finding.fix.edits[0], finding.fix.edits[-1]
    begin, stop = source.offset(first.line, 1), source.offset(last.end_line, len(source.text) + 1)
    edited = source.edited(finding.fix.edits)
    after = SourceText(edited[begin : len(edited) - (len(source.text) - stop)])
    start = source.offset(first.line, first.column) - begin
    end = len(after.text) - (stop - source.offset(last.end_line, last.end_column))
    for number in range(1, after.last_line + 1):
        if number > _MOST_LINES:
            yield _left_out(None, after.last_line + 1 - number)
            return
        text, line_start = after.line(number), after.offset(number, 1)
        yield _cut(None, text, start if number == 1 else after.indentation(number), end - line_start)


def _left_out(number: int | None, lines: int) -> FrameLine:
    return FrameLine(number, f"{_CUT} {lines} more lines" if lines > 1 else f"{_CUT} 1 more line", "", "")


def _cut(number: int | None, text: str, start: int, end: int) -> FrameLine:
    """A line of at most so many characters, those around the mark."""
    start = min(max(start, 0), len(text))
    end = min(max(end, start), len(text))
    if len(text) > _MOST_CHARACTERS:
        left = min(max(start - _MOST_CHARACTERS // 2, 0), len(text) - _MOST_CHARACTERS)
        right = left + _MOST_CHARACTERS
        before = _CUT * (left > 0) + text[left:start]
        if end > right:
            return FrameLine(number, before, text[start:right] + _CUT, "")
        return FrameLine(number, before, text[start:end], text[end:right] + _CUT * (right < len(text)))
    return FrameLine(number, text[:start], text[start:end], text[end:])


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line: its text, how suspicious it is, and which of the heats it is in, shortest first."""

    text: str
    suspicion: float
    heats: tuple[int, ...]


def paint(heat: FunctionHeat, source: SourceText) -> Iterator[tuple[int, list[tuple[str, float]]]]:
    """The number of each line of the function, with its text cut into pieces and the suspicion of each piece."""
    for number, pieces in cut_pieces(heat, source):
        by_suspicion = groupby(pieces, key=lambda piece: piece.suspicion)
        yield number, [("".join(piece.text for piece in same), value) for value, same in by_suspicion]


def cut_pieces(heat: FunctionHeat, source: SourceText) -> Iterator[tuple[int, list[Piece]]]:
    """The number of each line of the function, with its text cut wherever a heat begins or ends."""
    lines = range(heat.line, min(heat.end_line, source.last_line) + 1)
    suspicion = {number: [0.0] * len(source.line(number)) for number in lines}
    owners: dict[int, list[tuple[int, ...]]] = {number: [()] * len(source.line(number)) for number in lines}
    longest_first = sorted(
        range(len(heat.heats)), key=lambda index: _length(heat.heats[index], source), reverse=True
    )
    for index in longest_first:
        part = heat.heats[index]
        for number in range(
            max(part.line, heat.line), min(part.end_line, heat.end_line, source.last_line) + 1
        ):
            row = suspicion[number]
            start = part.column - 1 if number == part.line else source.indentation(number)
            end = min(part.end_column - 1, len(row)) if number == part.end_line else len(row)
            for column in range(start, end):
                row[column] = max(row[column], part.suspicion)
                owners[number][column] = (index, *owners[number][column])
    for number in lines:
        characters = zip(source.line(number), suspicion[number], owners[number], strict=True)
        pieces = groupby(characters, key=lambda character: character[1:])
        yield number, [Piece("".join(one[0] for one in same), *key) for key, same in pieces]


def _length(part: HeatSpan, source: SourceText) -> int:
    return source.offset(part.end_line, part.end_column) - source.offset(part.line, part.column)
