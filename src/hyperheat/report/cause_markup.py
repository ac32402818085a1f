"""An explanation as HTML: the code with each cause marked by its number, and the list of causes."""

from collections.abc import Iterator
from html import escape
from itertools import pairwise

from hyperheat.report.cause_marks import (
    CauseMark,
    MarkedLine,
    count_parts,
    describe_cause,
    mark_lines,
    number_causes,
)
from hyperheat.report.finding import Finding
from hyperheat.report.finding_causes import CodeCause, FindingCauses
from hyperheat.report.markup import finding_place, shown
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible_code

__all__ = ["why_lines"]


def why_lines(finding: Finding, source: SourceText | None) -> Iterator[str]:
    """What a finding depends on; nothing if it is not explained."""
    why = finding.why
    if why is None:
        return
    yield "<h4>Why</h4>"
    lines = mark_lines(finding, why, source) if source and number_causes(why) else []
    if lines:
        yield f'<div class="code" role="region" tabindex="0" aria-label="Causes of the finding at {finding_place(finding)}">'
        yield from map(_line, lines)
        yield "</div>"
    yield from _lists(why)


def _lists(why: FindingCauses) -> Iterator[str]:
    numbered = number_causes(why)
    causes, against = numbered[: len(why.causes)], numbered[len(why.causes) :]
    if not numbered:
        yield f"<p>No single part decides it; without any of them the confidence stays near {why.confidence:.3f}.</p>"
    if causes:
        yield f"<p>Without one of these, the confidence of {why.confidence:.3f} falls:</p>"
        yield from _list(causes)
    if against:
        yield f"<p>Against it: without one of these, the confidence of {why.confidence:.3f} rises:</p>"
        yield from _list(against)
    yield f'<p class="faint">{count_parts(why)}</p>'


def _list(numbered: list[tuple[int, CodeCause]]) -> Iterator[str]:
    yield f'<ol class="causes" start="{numbered[0][0]}">'
    for _, cause in numbered:
        yield f"<li>{shown(describe_cause(cause))}: to {cause.confidence:.3f}</li>"
    yield "</ol>"


def _line(line: MarkedLine) -> str:
    """The line in pieces, cut wherever a mark begins or ends; the number of a cause stands behind it."""
    cuts = sorted({0, len(line.text), *(cut for mark in line.marks for cut in (mark.start, mark.end))})
    spans = list(pairwise(cuts))
    texts = visible_code(*(line.text[start:end] for start, end in spans))
    code = "".join(_piece(text, *span, line.marks) for text, span in zip(texts, spans, strict=True))
    gap = '<div class="line"><span class="number">...</span></div>' if line.gap else ""
    return f'{gap}<div class="line"><span class="number">{line.number}</span><code>{code}</code></div>'


def _piece(text: str, start: int, end: int, marks: tuple[CauseMark, ...]) -> str:
    code = escape(text)
    around = [mark for mark in marks if mark.start <= start and end <= mark.end]
    if any(mark.number for mark in around):
        code = f'<span class="cause">{code}</span>'
    if any(mark.number == 0 for mark in around):
        code = f"<mark>{code}</mark>"
    ending = sorted({mark.number for mark in around if mark.end == end and mark.number})
    return code + (f"<sup>{','.join(map(str, ending))}</sup>" if ending else "")
