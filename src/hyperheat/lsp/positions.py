"""Places in a text as editors count them: lines from 0, and columns in units of an encoding that was agreed on.

Lines end with a newline, a carriage return or both, as in Python. Places that do not exist count as the nearest before them
that does, since an editor may be ahead of the server, or wrong.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

__all__ = ["ENCODINGS", "EditorPlace", "Encoding", "PlacedText"]

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""The units that columns are counted in."""
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")

_LINE_END = re.compile(r"\r\n?|\n")
_LIMITS = {"utf-8": (0x7F, 0x7FF, 0xFFFF), "utf-16": (0xFFFF,), "utf-32": ()}
"""The last characters that take one unit, two units, and so on."""


class EditorPlace(NamedTuple):
    """A line and a column, both from 0."""

    line: int
    column: int


@dataclass(frozen=True)
class PlacedText:
    """A text, and the units in which its columns are counted."""

    text: str
    encoding: Encoding

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """The index in the text of a place."""
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return start + self._characters(self.text[start:end].rstrip("\r\n"), column)

    def place(self, offset: int) -> EditorPlace:
        """The place of an index."""
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return EditorPlace(line, len(before) if before.isascii() else sum(map(self._units, before)))

    def replaced(self, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
        """The whole text with another one between two places."""
        first = self.offset(*start)
        return self.text[:first] + new + self.text[max(first, self.offset(*end)) :]

    def _characters(self, line: str, column: int) -> int:
        """How many characters of a line take no more than some units."""
        if column <= 0:
            return 0
        if line.isascii() or self.encoding == "utf-32":
            return min(column, len(line))
        units = 0
        for index, character in enumerate(line):
            units += self._units(character)
            if units > column:
                return index
        return len(line)

    def _units(self, character: str) -> int:
        code = ord(character)
        return 1 + sum(code > last for last in _LIMITS[self.encoding])
