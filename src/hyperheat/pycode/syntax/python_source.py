"""Python source as text: decoding, line ends, positions, and clear refusals.

Positions. `ast` counts columns in UTF-8 bytes; everything in this package counts characters. A place is one
number, the character offset into `PythonSource.text`, in which every line ends with a bare newline.
"""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.syntax.traversal import levels
from hyperheat.source_encoding import SlowEncodingError, decode

__all__ = [
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "MAX_OPERANDS",
    "MAX_SEPARATORS",
    "MAX_TOKENS",
    "PythonSource",
    "SourceError",
    "TooMuchSource",
]

MAX_CHARACTERS = 1_000_000
"""Longer files are refused before they are parsed, unless told otherwise."""
MAX_SEPARATORS = 150_000
"""So are denser ones: a megabyte of ordinary code has about this many line ends, commas, brackets, ..."""
MAX_DEPTH = 200
"""The deepest nesting of syntax that is read; the standard library stays under 40."""
MAX_TOKENS = 115_000
"""The longest function that is read, in tokens; the standard library stays under 5,000."""
MAX_OPERANDS = 10_000
"""The longest chain of `and`, `or` or comparisons: the ways through it are what takes long."""

Result = TypeVar("Result")
_SEPARATORS = "\n\"',.:;=<>([{"
_INDENTATION = (" ", "\t", "\f")
_COMPREHENSIONS = frozenset({ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})


class SourceError(ValueError):
    """Source that gives no graph. The message says where and why, in one line."""

    def __init__(self, path: str | None, line: int | None, problem: str) -> None:
        place = path or "<source>"
        super().__init__(f"{place}:{line}: {problem}" if line else f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem

    def __reduce__(self) -> tuple[type["SourceError"], tuple[str | None, int | None, str]]:
        return type(self), (self.path, self.line, self.problem)  # so that worker processes can raise it


class TooMuchSource(SourceError):
    """Source that may be valid, but is larger or more deeply nested than the limits."""


@dataclass(frozen=True)
class PythonSource:
    """Decoded text in which every line ends with a bare newline, and the file it comes from."""

    text: str
    path: str | None = None

    @classmethod
    def read(
        cls, source: str | bytes, path: str | None = None, *, max_characters: int = MAX_CHARACTERS
    ) -> "PythonSource":
        """Decode as Python does (byte order mark, coding cookie, UTF-8); refuse what cannot be source."""
        text = _decode(source, path) if isinstance(source, bytes) else source.removeprefix("\ufeff")
        if len(text) > max_characters:
            raise TooMuchSource(path, None, f"expected at most {max_characters} characters, got {len(text)}")
        separators = sum(map(text.count, _SEPARATORS))
        if separators > MAX_SEPARATORS:
            got = f"{separators} (line ends, commas, brackets and the like)"
            raise TooMuchSource(path, None, f"expected at most {MAX_SEPARATORS} separators, got {got}")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        for forbidden, name in (("\0", "a NUL character"), *_surrogate(text)):
            if forbidden in text:
                line = 1 + text.count("\n", 0, text.index(forbidden))
                raise SourceError(path, line, f"not Python source: {name}")
        return cls(text, path)

    @classmethod
    def read_function(cls, source: str, line: int, path: str | None = None) -> "PythonSource":
        """The text of one function on its line of an otherwise empty file, in a block if it is indented."""
        above = "\n" * (line - 2) + "if 1:\n" if source[:1] in _INDENTATION else "\n" * (line - 1)
        return cls.read(above + source, path)

    @cached_property
    def _line_starts(self) -> np.ndarray:
        characters = np.frombuffer(self.text.encode("utf-32-le"), dtype=np.uint32)
        starts = [[0], np.flatnonzero(characters == ord("\n")) + 1]
        if not self.text.endswith("\n"):
            starts.append([len(self.text)])
        return np.concatenate(starts)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line, then the offset of the end."""
        return self._line_starts.tolist()

    @cached_property
    def wide_lines(self) -> dict[int, list[int]]:
        """For each line index with non-ASCII text: the character column of every byte column."""
        if self.text.isascii():
            return {}
        starts = self.line_starts
        lines = ((i, self.text[a:b]) for i, (a, b) in enumerate(pairwise(starts)))
        return {i: _columns_of_bytes(line) for i, line in lines if not line.isascii()}

    def offset(self, line: int, column: int) -> int:
        """The character offset of a position of `ast`; -1 where there is no such place."""
        try:
            if line - 1 in self.wide_lines:
                column = self.wide_lines[line - 1][column]
            return self.line_starts[line - 1] + column
        except IndexError:
            return -1

    def function_start(self, function: FunctionNode) -> int:
        """The offset of the line on which a function begins, with its first decorator if it has any."""
        if not function.decorator_list:
            return self.line_starts[function.lineno - 1]
        decorator = function.decorator_list[0]
        sign = self.offset(decorator.lineno, decorator.col_offset)
        # Back to the sign that begins its line; others may stand in comments before the decorator.
        while True:
            sign = self.text.rindex("@", 0, sign)
            line = self.text.rfind("\n", 0, sign) + 1
            if not self.text[line:sign].strip():
                return line

    def spans(self, starts: list[int], ends: list[int]) -> np.ndarray:
        """Line, column, end line, end column of each (start, end) pair of offsets; -1 for the offset -1."""
        spans = np.empty((len(starts), 4), dtype=np.int32)
        for column, offsets in ((0, np.array(starts)), (2, np.array(ends))):
            # Without the last entry: the end of a text without a last newline lies on its last line.
            line = np.searchsorted(self._line_starts[:-1], offsets, side="right")
            spans[:, column] = np.where(offsets < 0, -1, line)
            spans[:, column + 1] = np.where(offsets < 0, -1, offsets - self._line_starts[line - 1])
        return spans

    def parse(self, *, interactive: bool = False) -> ast.Module:
        """The syntax tree, at most MAX_DEPTH deep; raises SourceError where Python would not compile.

        Only `interactive` source, as in a notebook, may await outside of functions.
        """
        module = _or_refuse(self, lambda: ast.parse(self.text), newer=True)
        _check_depth(module, self)
        # What only the compiler sees: a `break` outside of loops, two parameters of one name, ...
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if interactive else 0
        _or_refuse(self, lambda: compile(module, "<source>", "exec", flags, dont_inherit=True))
        return module


def _decode(source: bytes, path: str | None) -> str:
    try:
        return decode(source, strict=True)[0]
    except SlowEncodingError as error:
        raise TooMuchSource(path, 1, str(error)) from None
    except SyntaxError as error:
        raise SourceError(path, 1, f"cannot decode the file: {error.msg}") from None
    except UnicodeDecodeError as error:
        line = 1 + source.count(b"\n", 0, error.start)
        got = f"the byte 0x{source[error.start]:02x} ({error.reason})"
        raise SourceError(path, line, f"cannot decode the file as {error.encoding}: {got}") from None
    except (LookupError, UnicodeError) as error:  # a codec that does not give text, such as base64
        raise SourceError(path, 1, f"cannot decode the file: {error}") from None


def _surrogate(text: str) -> list[tuple[str, str]]:
    """The first lone surrogate, which no encoding of Python source can hold, with its name."""
    if text.isascii():
        return []
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return [(text[error.start], f"the lone surrogate U+{ord(text[error.start]):04X}")]
    return []


def _columns_of_bytes(line: str) -> list[int]:
    columns: list[int] = []
    for column, character in enumerate(line):
        columns.extend([column] * len(character.encode()))
    columns.append(len(line))
    return columns


def _or_refuse(source: PythonSource, read: Callable[[], Result], *, newer: bool = False) -> Result:
    """What can be read, or a SourceError; `newer` syntax is named if parsing fails for it."""
    path = source.path
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except SyntaxError as error:
        too_much = error.msg.startswith(
            "too many"
        )  # nested parentheses, levels of indentation, nested blocks
        kind = TooMuchSource if too_much else SourceError
        named = _name_newer_syntax(source.text, error) if newer and not too_much else None
        raise kind(path, error.lineno, named or f"not valid Python 3: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise TooMuchSource(path, None, f"syntax nested more than {MAX_DEPTH} levels deep") from None
    except ValueError as error:  # for example an integer literal with more digits than Python converts
        raise SourceError(path, None, f"not valid Python 3: {error}") from None


def _check_depth(module: ast.Module, source: PythonSource) -> None:
    """Refuse deep trees, so that every later pass may recurse; goes level by level itself."""
    for depth, level in enumerate(levels(module.body)):
        if depth >= MAX_DEPTH:
            raise _too_deep(source, level[0])
        for node in level:
            if type(node) in _COMPREHENSIONS and len(node.generators) > MAX_DEPTH:
                raise _too_deep(source, node)  # its clauses are loops inside loops


def _too_deep(source: PythonSource, node: ast.AST) -> TooMuchSource:
    line = getattr(node, "lineno", None)
    return TooMuchSource(source.path, line, f"syntax nested more than {MAX_DEPTH} levels deep")


def _name_newer_syntax(text: str, error: SyntaxError) -> str | None:
    from hyperheat.pycode.syntax.newer_syntax import (
        name_newer_syntax,
    )  # many patterns, which valid code does not need

    return name_newer_syntax(text, error)
