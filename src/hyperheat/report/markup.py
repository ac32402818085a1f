"""The parts that the HTML report and the pages of `hyperheat explore` share: code with marks, heat, and its legend.

Every text from outside is made visible and escaped here.
"""

from collections.abc import Callable, Iterator
from html import escape
from importlib.resources import files

from hyperheat.report.finding import Finding, FunctionHeat
from hyperheat.report.listing import FrameLine, Piece, cut_pieces, frame
from hyperheat.report.source import SourceText
from hyperheat.visible_text import visible, visible_code

__all__ = [
    "STYLE",
    "as_ascii",
    "finding_place",
    "frame_lines",
    "heat_legend",
    "heat_lines",
    "shown",
]

STYLE = files("hyperheat.report").joinpath("style.css").read_text(encoding="ascii")
"""The style sheet."""

Attributes = Callable[[Piece], str]
"""More attributes for a piece of code, such as ` id="x"`; empty for none."""


def shown(text: str) -> str:
    """Any text, for a place between tags or in an attribute."""
    return escape(visible(text))


def as_ascii(page: str) -> str:
    """The page with all other characters as references, so that no encoding can spoil it."""
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def finding_place(finding: Finding) -> str:
    """The place of a finding, as in `src/a.py:3:14`."""
    return f"{shown(finding.source)}:{finding.line}:{finding.column}"


def frame_lines(finding: Finding, source: SourceText | None) -> Iterator[str]:
    """The lines around a finding, with its place marked, and what the repair makes of them; nothing without a source."""
    lines = frame(finding, source) if source else ()
    if lines:
        yield f'<div class="code" role="region" tabindex="0" aria-label="Code at {finding_place(finding)}">'
        yield from map(_frame_line, lines)
        yield "</div>"


def heat_lines(heat: FunctionHeat, source: SourceText, attributes: Attributes | None = None) -> Iterator[str]:
    """The code of a function, shaded by suspicion; the greatest of each line stands beside it as a number."""
    name, place = shown(heat.function), f"{shown(heat.source)}:{heat.line}"
    yield f'<div class="code" role="region" tabindex="0" aria-label="Heat map of {name} at {place}">'
    for number, pieces in cut_pieces(heat, source):
        yield _heat_line(number, pieces, attributes)
    yield "</div>"


def heat_legend() -> str:
    """What the shades mean."""
    shades = "".join(f'<span class="h{level}">{level / 10:.1f}</span>' for level in range(1, 10))
    return (
        f'<p class="legend">Suspicion, from 0 to 1: <span class="scale">{shades}</span> '
        "The number beside a line is its greatest.</p>"
    )


def _frame_line(line: FrameLine) -> str:
    before, marked, after = map(escape, visible_code(line.before, line.marked, line.after))
    if line.number is None:
        marked = f"<ins>{marked}</ins>" if marked else ""
        return (
            f'<div class="line added"><span class="number">+</span><code>{before}{marked}{after}</code></div>'
        )
    marked = f"<mark>{marked}</mark>" if marked else ""
    number = f'<span class="number">{line.number}</span>'
    return f'<div class="line">{number}<code>{before}{marked}{after}</code></div>'


def _heat_line(number: int, pieces: list[Piece], attributes: Attributes | None) -> str:
    texts = visible_code(*(piece.text for piece in pieces))
    code = "".join(_shaded(text, piece, attributes) for text, piece in zip(texts, pieces, strict=True))
    peak = max((piece.suspicion for piece in pieces), default=0.0)
    beside = f"{peak:.2f}" if _level(peak) else ""
    numbers = f'<span class="number">{number}</span><span class="peak">{beside}</span>'
    return f'<div class="line">{numbers}<code>{code}</code></div>'


def _shaded(text: str, piece: Piece, attributes: Attributes | None) -> str:
    level = _level(piece.suspicion)
    more = attributes(piece) if attributes else ""
    if not level and not more:
        return escape(text)
    shade = f' class="h{level}" title="suspicion {piece.suspicion:.2f}"' if level else ""
    return f"<span{shade}{more}>{escape(text)}</span>"


def _level(suspicion: float) -> int:
    """The shade, from 0 (none) to 9."""
    return min(int(10 * suspicion), 9)
