"""Rewrites as plain data: text edits with places.

All offsets count characters of `FunctionGraph.source`, the whole lines of one function, where every line ends
with a bare newline. `place` turns them into the lines and columns that the nodes of the graph carry;
`edits_in_file` turns the edits of a rewrite into those of the file it comes from, whatever its line ends.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hyperheat.pycode import FunctionGraph

__all__ = ["Edit", "Rewrite", "Span", "Spelling", "apply_edits", "edits_in_file", "place"]

_LINE_END = re.compile(r"\r\n?|\n")


class Span(NamedTuple):
    """Characters from `start` up to, but not including, `end`."""

    start: int
    end: int


class Edit(NamedTuple):
    """Put `text` in place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class Spelling(NamedTuple):
    """How a rewrite is done: its edits, and where its location lies afterwards."""

    edits: tuple[Edit, ...]
    after: Span


class Rewrite(NamedTuple):
    """One small change of one function.

    It says that the `location` should hold `replacement` instead of `original`: names, operators or literals
    in their usual spelling, or `...` and `not ...` for an expression without and with a `not` before it. The
    location is the place of a node of the function's graph. Where more nodes matter, their places are in

        arguments    the two arguments of a call that change places; `original` and `replacement` are empty
        variable     an occurrence of the variable that is put in, the first that binds it

    A rewrite that does more than write the replacement over the location says so in `spelling`. Equal rewrites
    mean the same change: how it is spelled may differ in blanks and parentheses. Functions have hundreds of
    rewrites, so this is a named tuple, which is made in a quarter of the time of a dataclass.
    """

    kind: str
    location: Span
    original: str = ""
    replacement: str = ""
    arguments: tuple[Span, Span] | None = None
    variable: Span | None = None
    spelling: Spelling | None = None

    def __eq__(self, other: object) -> bool:
        return self[:5] == other[:5] if isinstance(other, Rewrite) else NotImplemented

    def __ne__(self, other: object) -> bool:  # which a tuple has of its own
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:5])

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What to do to the source, in order."""
        return (Edit(*self.location, self.replacement),) if self.spelling is None else self.spelling.edits

    @property
    def after(self) -> Span:
        """Where the location lies once the edits are done."""
        if self.spelling is not None:
            return self.spelling.after
        return Span(self.location.start, self.location.start + len(self.replacement))

    def apply(self, source: str) -> str:
        """The source with all edits done; all other characters stay."""
        return apply_edits(self.edits, source)

    def inverse(self, source: str) -> "Rewrite":
        """The rewrite that leads from `apply(source)` back to `source`, character by character.

        An equal rewrite is among the candidates of the result, where `variable` can be read off.
        """
        edits, shift = [], 0
        for edit in self.edits:
            start = edit.start + shift
            edits.append(Edit(start, start + len(edit.text), source[edit.start : edit.end]))
            shift += len(edit.text) - (edit.end - edit.start)
        return Rewrite(
            kind=self.kind,
            location=self.after,
            original=self.replacement,
            replacement=self.original,
            arguments=self._swapped_arguments(),
            spelling=Spelling(tuple(edits), self.location),
        )

    def _swapped_arguments(self) -> tuple[Span, Span] | None:
        """Where the two arguments lie after they have changed places."""
        if self.arguments is None:
            return None
        (left, right), (first, second) = self.edits, self.arguments
        start = left.start + second.start - right.start
        end = right.end + first.end - left.end  # the end of the second edit does not move
        return Span(start, start + second.end - second.start), Span(end - (first.end - first.start), end)


def apply_edits(edits: Iterable[Edit], source: str) -> str:
    """The source with edits done that are in order and do not overlap."""
    parts, done = [], 0
    for edit in edits:
        parts += [source[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, source[done:]])


def place(function: FunctionGraph, span: Span) -> tuple[int, int, int, int]:
    """Line, column, end line and end column of a span, as in `function.graph.span`."""
    return (*_line_and_column(function, span.start), *_line_and_column(function, span.end))


def edits_in_file(rewrite: Rewrite, function: FunctionGraph, text: str) -> tuple[Edit, ...]:
    """The edits for the text of the file as it is: any line ends, with a byte order mark or without.

    Read the file without translating its line ends (`open(..., newline="")`), so that they are kept.
    """
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    starts[0] += text.startswith("\ufeff")

    def offset(of: int) -> int:
        line, column = _line_and_column(function, of)
        return starts[line - 1] + column

    spans = [(offset(edit.start), offset(edit.end)) for edit in rewrite.edits]
    texts = [edit.text for edit in rewrite.edits]
    if rewrite.arguments is not None:  # they may contain line ends, which move with them
        texts = [text[start:end] for start, end in reversed(spans)]
    return tuple(Edit(start, end, new) for (start, end), new in zip(spans, texts, strict=True))


def _line_and_column(function: FunctionGraph, offset: int) -> tuple[int, int]:
    source = function.source
    line = function.span[0] + source.count("\n", 0, offset)
    return line, offset - (source.rfind("\n", 0, offset) + 1)
