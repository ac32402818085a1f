"""The picture of an explanation: the lines with causes, each cause underlined with its number, and the list of them.

2 |     for item in items:
  |         1~~~    2~~~~
3 |         return items
  |                ^^^^^

1  0.312  `item` (line 2)
2  0.847  `items` (line 2)
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperheat.report.colours import painted
from hyperheat.report.finding import LEVELS, Finding
from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses
from hyperheat.report.source import SourceText
from hyperheat.visible_text import columns, visible, visible_code

__all__ = [
    "CauseMark",
    "MarkedLine",
    "count_parts",
    "describe_cause",
    "mark_lines",
    "number_causes",
    "render_why",
]

_MOST_AGAINST = 3
_MOST_CHARACTERS = 140  # of a line
_MOST_PLACES = 5  # that the list names


@dataclass(frozen=True, slots=True)
class CauseMark:
    """Characters of a line that belong to a cause, by its number, or to the finding itself, which has the number 0."""

    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of the file and its marks; `gap` says that lines were left out before it."""

    number: int
    text: str
    marks: tuple[CauseMark, ...]
    gap: bool


def number_causes(why: FindingCauses) -> list[tuple[int, CodeCause]]:
    """The causes with the numbers that pictures show, those against the finding last."""
    return list(enumerate((*why.causes, *why.against[:_MOST_AGAINST]), start=1))


def mark_lines(finding: Finding, why: FindingCauses, source: SourceText) -> list[MarkedLine]:
    """The lines with the finding or a cause, and where they are marked; long lines are cut at their end."""
    own = CodePlace(
        line=finding.line, column=finding.column, end_line=finding.end_line, end_column=finding.end_column
    )
    places = [(0, own)]
    places += [(number, place) for number, cause in number_causes(why) for place in cause.places]
    marks: dict[int, list[CauseMark]] = {}
    for number, place in places:
        for line, mark in _by_line(number, place, source):
            marks.setdefault(line, []).append(mark)
    lines = sorted(line for line in marks if line <= source.last_line)
    before = [lines[0] - 1, *lines] if lines else []
    return [
        MarkedLine(line, source.line(line)[:_MOST_CHARACTERS], tuple(marks[line]), line > previous + 1)
        for previous, line in zip(before, lines, strict=False)
    ]


def _by_line(number: int, place: CodePlace, source: SourceText) -> Iterator[tuple[int, CauseMark]]:
    """The mark of a place in each of its lines; of a cause of several lines, such as a string, only the first."""
    last = place.end_line if number == 0 else place.line
    for line in range(place.line, last + 1):
        width = min(len(source.line(line)), _MOST_CHARACTERS)
        start = place.column - 1 if line == place.line else source.indentation(line)
        end = min(place.end_column - 1, width) if line == place.end_line else width
        if start < end:
            yield line, CauseMark(start, end, number)


def render_why(
    finding: Finding, why: FindingCauses | None, source: SourceText | None, *, colour: bool
) -> str:
    """The picture and the list, as text; nothing without an explanation."""
    if why is None:
        return ""
    lines = mark_lines(finding, why, source) if source and number_causes(why) else []
    gutter = max([len(str(line.number)) for line in lines] or [1])
    rows = [row for line in lines for row in _rows(line, gutter, LEVELS[finding.tier], colour)]
    return "".join(f"{row}\n" for row in (*rows, *([""] if rows else []), *_list(why, colour)))


def _rows(line: MarkedLine, gutter: int, level: str, colour: bool) -> Iterator[str]:
    """A line, and below it as many rows of marks as it takes without overlap."""
    if line.gap:
        yield painted(f"{'...':>{gutter}}", "faint", colour=colour)
    characters = visible_code(*line.text)
    bar = painted(f"{line.number:>{gutter}} |", "faint", colour=colour)
    yield f"{bar} {''.join(characters)}".rstrip()
    bar = painted(f"{'':>{gutter}} |", "faint", colour=colour)
    for marks in _without_overlap(line.marks):
        row, done = "", 0
        for mark in marks:
            start = columns("".join(characters[: mark.start]))
            width = max(columns("".join(characters[mark.start : mark.end])), 1)
            sign = f"{mark.number or '^'}".ljust(width, "~" if mark.number else "^")
            row += " " * (start - done) + painted(sign, "strong" if mark.number else level, colour=colour)
            done = start + width
        yield f"{bar} {row}"


def _without_overlap(marks: Iterable[CauseMark]) -> list[list[CauseMark]]:
    """The marks in rows, each in the first row where there is room, ordered by place."""
    rows: list[list[CauseMark]] = []
    for mark in marks:
        for row in rows:
            if all(mark.end <= other.start or other.end <= mark.start for other in row):
                row.append(mark)
                break
        else:
            rows.append([mark])
    return [sorted(row, key=lambda mark: mark.start) for row in rows]


def _list(why: FindingCauses, colour: bool) -> Iterator[str]:
    """The causes by number, the confidence without each, and how they were found."""
    numbered = number_causes(why)
    causes, against = numbered[: len(why.causes)], numbered[len(why.causes) :]
    if not numbered:
        yield f"Why: no single part decides it; without any of them the confidence stays near {why.confidence:.3f}."
    if causes:
        yield f"Why: without one of these, the confidence of {why.confidence:.3f} falls to"
        yield from map(_row_of, causes)
    if against:
        yield f"Against it: without one of these, the confidence of {why.confidence:.3f} rises to"
        yield from map(_row_of, against)
    yield painted(count_parts(why), "faint", colour=colour)


def _row_of(numbered: tuple[int, CodeCause]) -> str:
    number, cause = numbered
    return f"  {number}  {cause.confidence:.3f}  {visible(describe_cause(cause))}"


def describe_cause(cause: CodeCause) -> str:
    """A cause in a few words, with its lines."""
    if not cause.places:
        return f"{cause.text} at the place: {cause.meaning}"
    lines = list(dict.fromkeys(place.line for place in cause.places))
    shown = ", ".join(map(str, lines[:_MOST_PLACES])) + (", ..." if len(lines) > _MOST_PLACES else "")
    where = f"line {shown}" if len(lines) == 1 else f"lines {shown}"
    return f"`{cause.text}` ({f'variable, {where}' if cause.kind == 'variable' else where})"


def count_parts(why: FindingCauses) -> str:
    """How many parts were removed, and how many were not."""
    parts = "1 part was" if why.tried == 1 else f"{why.tried} parts were"
    rest = f"; {why.left_out} others, farther from the place, were not" if why.left_out else ""
    return f"{parts} tried{rest}."
