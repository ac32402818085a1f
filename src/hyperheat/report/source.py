"""The text of a scanned file, by the places that findings carry."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.report.finding import FileEdit

__all__ = ["SourceText"]

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class SourceText:
    """The text of a file as it is, read without translating its line ends (`open(..., newline="")`).

    Places beyond the end of a line or of the text count as that end, so that a report can be written even when
    the file has changed since it was scanned.
    """

    text: str

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """Where each line starts and where it ends, without its line end."""
        start, spans = int(self.text.startswith("\ufeff")), []
        for match in _LINE_END.finditer(self.text):
            spans.append((start, match.start()))
            start = match.end()
        return [*spans, (start, len(self.text))]

    @property
    def last_line(self) -> int:
        """The number of the last line."""
        return len(self._spans)

    def line(self, number: int) -> str:
        """A line without its line end; empty where there is none."""
        if not 1 <= number <= len(self._spans):
            return ""
        start, end = self._spans[number - 1]
        return self.text[start:end]

    def lines(self, first: int, last: int) -> str:
        """Whole lines with their line ends, the last one included."""
        return self.text[self.offset(first, 1) : self.offset(last + 1, 1)]

    def indentation(self, number: int) -> int:
        """How many characters of blank space a line begins with."""
        text = self.line(number)
        return len(text) - len(text.lstrip())

    def offset(self, line: int, column: int) -> int:
        """The index in the text of a place."""
        if line > len(self._spans):
            return len(self.text)
        start, end = self._spans[line - 1]
        return min(start + column - 1, end)

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an index in the text."""
        line = bisect_right(self._spans, (offset, len(self.text)))
        return line, offset - self._spans[line - 1][0] + 1

    def edited(self, edits: "Iterable[FileEdit]") -> str:
        """The whole text with the edits of a fix done; all other characters stay."""
        parts, done = [], 0
        for edit in edits:
            parts += [self.text[done : self.offset(edit.line, edit.column)], edit.text]
            done = self.offset(edit.end_line, edit.end_column)
        return "".join([*parts, self.text[done:]])
