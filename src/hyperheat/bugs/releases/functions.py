"""The functions of a file as texts, found by a cheap split, and what differs between two versions of a file.

Nothing is parsed: lines that begin with `def` or `class` and their indentation tell where functions begin, the next
line of code that is not indented further tells where they end. Where that goes wrong, in files with code in
unindented strings for example, a change may be missed; what is found is parsed later and compared as a tree.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

__all__ = ["ChangedFunction", "Functions", "changed_functions"]

_WORDS = (b"def ", b"class ")
_DEFINITION = re.compile(rb"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_TRIPLE = (b'"""', b"'''")

Place = tuple[str, int]
"""A qualified name, and which of the functions of that name in the file it is, counted from 0."""


@dataclass(frozen=True)
class Functions:
    """The outermost functions of a file: where their texts begin and where the next definition does."""

    text: bytes
    spans: dict[Place, tuple[int, int, int]]
    """Start, end and indentation."""

    @classmethod
    def of(cls, text: bytes) -> "Functions":
        """Split a file."""
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        spans: dict[Place, tuple[int, int, int]] = {}
        counts: dict[str, int] = {}
        classes: list[tuple[int, str]] = []
        current: tuple[Place, int, int] | None = None
        last = 0
        for found in _definitions(text):
            indent = _least_indent(text, last, found) if current or classes else len(found[1])
            last = found.start()
            if current is not None:
                place, start, outer = current
                if indent > outer:  # inside of the function
                    continue
                spans[place] = start, last, outer
                current = None
            while classes and classes[-1][0] >= indent:
                classes.pop()
            indent = len(found[1])
            name = found[3].decode(errors="replace")
            if found[2] == b"class":
                classes.append((indent, name))
            else:
                name = ".".join([*(name for _, name in classes), name])
                number = counts.get(name, 0)
                counts[name] = number + 1
                current = (name, number), last, indent
        if current is not None:
            place, start, outer = current
            spans[place] = start, len(text), outer
        return cls(text, spans)

    def function(self, place: Place) -> bytes:
        """The text of a function, from its `def` to its last line."""
        start, end, indent = self.spans[place]
        text = self.text[start:end]
        for found in _outside(indent).finditer(text, text.find(b"\n") + 1):
            if _is_code(text, 0, found.start()):
                return text[: found.start()].rstrip() + b"\n"
        return text.rstrip() + b"\n"

    def has_as(self, place: Place, other: "Functions") -> bool:
        """Whether another file has the function with the same text, or with the same code after it."""
        if place not in other.spans:
            return False
        (start, end, _), (other_start, other_end, _) = self.spans[place], other.spans[place]
        if (
            end - start == other_end - other_start
            and self.text[start:end] == other.text[other_start:other_end]
        ):
            return True
        return self.function(place) == other.function(place)


@dataclass(frozen=True)
class ChangedFunction:
    """A function whose text differs between two versions of a file."""

    place: Place
    before: bytes
    after: bytes


def changed_functions(before: Functions, after: Functions) -> Iterator[ChangedFunction]:
    """The functions that are in both files with different texts."""
    for place in before.spans:
        if place in after.spans and not before.has_as(place, after):
            yield ChangedFunction(place, before.function(place), after.function(place))


def _definitions(text: bytes) -> list[re.Match[bytes]]:
    """The lines that begin with `def` or `class`, in order; looks for the words first, which is faster than for lines."""
    starts = set()
    for word in _WORDS:
        at = text.find(word)
        while at >= 0:
            starts.add(text.rfind(b"\n", 0, at) + 1)
            at = text.find(word, at + len(word))
    return [found for start in sorted(starts) if (found := _DEFINITION.match(text, start))]


def _least_indent(text: bytes, last: int, definition: re.Match[bytes]) -> int:
    """The indentation of a definition, or less if code since the last one has less: of an `else:` above it, say."""
    least = len(definition[1])
    if least:
        for found in _outside(least - 1).finditer(text, text.find(b"\n", last), definition.start()):
            if _is_code(text, last, found.start()):
                least = min(least, len(found[0]) - 1)
    return least


def _is_code(text: bytes, start: int, place: int) -> bool:
    """Whether a place after some code is not inside of a long string."""
    return all(text.count(quotes, start, place) % 2 == 0 for quotes in _TRIPLE)


@cache
def _outside(indent: int) -> re.Pattern[bytes]:
    """The beginning of a line of code that is not indented further than a function; its closing bracket may be."""
    return re.compile(rb"^[ \t]{0,%d}[^\s#)\]}]" % indent, re.MULTILINE)
