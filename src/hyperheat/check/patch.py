"""Repairs as a unified diff, which people read and `git apply` takes."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from hyperheat.check.repairs import Repair
from hyperheat.report.colours import painted
from hyperheat.visible_text import visible

__all__ = ["render_patch"]

_CONTEXT = 3
_STYLES = {"-": "removed", "+": "added", "@": "note"}
_PLAIN_NAME = re.compile(r"[\w./+-]+", re.ASCII)
_WORKFLOW_COMMAND = re.compile(r"(?<=^ )(\s*):(?=:)")


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of the old text, from the first up to the one that stays, and the lines that take their place."""

    first: int
    stop: int
    new: list[str]


def render_patch(repair: Repair, *, colour: bool = False) -> str:
    r"""The patch of one file, whose names start with `a/` and `b/`.

    Characters that are not seen are spelled out, as `\x1b`: a patch with such lines is for reading only.
    """
    old, new = (_name(side, repair.file.shown) for side in "ab")
    head = [painted(f"{sign} {name}", "strong", colour=colour) for sign, name in (("---", old), ("+++", new))]
    shown = [_shown(line, colour) for line in _lines(repair)]
    return "".join(f"{line}\n" for line in (*head, *shown))


def _lines(repair: Repair) -> Iterator[str]:
    """The lines of all hunks, each with its sign and without its line end."""
    old = _split(repair.before.text)
    shift = 0
    for hunk in _hunks(_blocks(repair, old)):
        start, stop = max(hunk[0].first - _CONTEXT, 0), min(hunk[-1].stop + _CONTEXT, len(old))
        growth = sum(len(block.new) - (block.stop - block.first) for block in hunk)
        size = stop - start
        yield f"@@ -{start + 1},{size} +{start + 1 + shift},{size + growth} @@"
        shift += growth
        done = start
        for block in hunk:
            yield from _signed(" ", old[done : block.first])
            yield from _signed("-", old[block.first : block.stop])
            yield from _signed("+", block.new)
            done = block.stop
        yield from _signed(" ", old[done:stop])


def _blocks(repair: Repair, old: list[str]) -> list[_Block]:
    """The lines that change, those of edits on one line together."""
    source = repair.before
    starts = list(accumulate(map(len, old), initial=0))
    spans: list[tuple[int, int]] = []
    shifts: list[int] = []
    for edit in repair.fix.edits:
        start, end = source.offset(edit.line, edit.column), source.offset(edit.end_line, edit.end_column)
        first = min(bisect_right(starts, start) - 1, len(old) - 1)
        stop = min(bisect_right(starts, end), len(old))
        longer = len(edit.text) - (end - start)
        if spans and first < spans[-1][1]:
            spans[-1], shifts[-1] = (spans[-1][0], max(stop, spans[-1][1])), shifts[-1] + longer
        else:
            spans.append((first, stop))
            shifts.append(longer)
    after, blocks = repair.after, []
    for (first, stop), before, behind in zip(
        spans, accumulate(shifts, initial=0), accumulate(shifts), strict=False
    ):
        blocks.append(_Block(first, stop, _split(after[starts[first] + before : starts[stop] + behind])))
    return blocks


def _hunks(blocks: list[_Block]) -> list[list[_Block]]:
    """Blocks with little between them together."""
    hunks = [[blocks[0]]]
    for last, block in pairwise(blocks):
        if block.first - last.stop <= 2 * _CONTEXT:
            hunks[-1].append(block)
        else:
            hunks.append([block])
    return hunks


def _split(text: str) -> list[str]:
    """The lines as patches count them, whatever Python takes for a line end."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _signed(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _shown(line: str, colour: bool) -> str:
    """A line with all that is not seen spelled out, but for tabs and a carriage return at its end."""
    body = line.removesuffix("\r")
    text = "\t".join(map(visible, body.split("\t")))
    text = _WORKFLOW_COMMAND.sub(r"\1\\x3a", text)  # build services obey it after blanks too
    style = _STYLES.get(line[0])
    return (painted(text, style, colour=colour) if style else text) + line[len(body) :]


def _name(side: str, shown: str) -> str:
    """The name of a file as git writes it: quoted, with bytes in octal, if it holds anything unusual."""
    if _PLAIN_NAME.fullmatch(shown):
        return f"{side}/{shown}"
    special = "".join(
        chr(byte) if _PLAIN_NAME.fullmatch(chr(byte)) else f"\\{byte:03o}" for byte in os.fsencode(shown)
    )
    return f'"{side}/{special}"'
