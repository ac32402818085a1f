"""Jupyter notebooks: the code of their cells, one below the other, and edits of it as edits of the file.

    notebook = read_notebook(data)
    notebook.text                       # the code of all cells, each from a line of its own
    notebook.cells[0].number, .line     # which of all cells it is, from 1, and the line of `text` on which it begins

A cell is found by its place in the bytes, so that a repair changes single characters of the file and nothing else.
Outputs are passed over, however large they are.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from hyperheat.check.json_places import JsonError, PlacedString, read_places
from hyperheat.check.records import CellRecord
from hyperheat.pycode import SourceError, TooMuchSource
from hyperheat.report.finding import FileEdit
from hyperheat.report.source import SourceText

__all__ = ["Cell", "Notebook", "edits_in_notebook", "read_notebook"]

_FORMAT = 4
_WANTED = {
    "cells": [{"cell_type": True, "source": [True]}],
    "metadata": {"kernelspec": {"language": True}, "language_info": {"name": True}},
    "nbformat": True,
}
_MARK = "\ufeff".encode()
_LINE_END = re.compile(r"\r\n?|\n")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
"""What stands for one character in a string of JSON."""


@dataclass(frozen=True)
class Cell:
    """A cell of code: its number among all cells, the line on which it begins, and its text as in the file."""

    number: int
    line: int
    pieces: tuple[PlacedString, ...]

    @cached_property
    def text(self) -> str:
        """The code, which ends with a line end unless it is empty."""
        text = "".join(piece.text for piece in self.pieces)
        return text if not text or text.endswith(("\n", "\r")) else f"{text}\n"


@dataclass(frozen=True)
class Notebook:
    """The cells of code in a notebook, in order."""

    data: bytes
    cells: tuple[Cell, ...]

    @cached_property
    def text(self) -> str:
        """The code of all cells, one below the other."""
        return "".join(cell.text for cell in self.cells)

    def records(self) -> tuple[CellRecord, ...]:
        """Where the cells are, for the record of the file."""
        line_of = _Lines(self.data)
        return tuple(
            CellRecord(cell.number, cell.line, tuple(_file_lines(cell, line_of))) for cell in self.cells
        )


def read_notebook(data: bytes, *, max_characters: int | None = None) -> Notebook:
    """The cells of code of a notebook in Python; raises SourceError in one sentence if there is none."""
    try:
        data.decode()
        found = read_places(data, _WANTED)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise SourceError(None, None, f"not a notebook: expected UTF-8 in line {line}") from None
    except JsonError as error:
        raise SourceError(None, None, f"not a notebook: not valid JSON: {error}") from None
    if not isinstance(found, dict) or "nbformat" not in found:
        raise SourceError(None, None, "not a notebook: expected a JSON object with `nbformat` and `cells`")
    version = found["nbformat"]
    if not isinstance(version, bytes) or version != str(_FORMAT).encode():
        got = version.decode()[:20] if isinstance(version, bytes) else "another type"
        raise SourceError(
            None,
            None,
            f"expected a notebook of format {_FORMAT}, got {got}; convert it with `jupyter nbconvert --to notebook`",
        )
    if (language := _language(found.get("metadata"))) != "python":
        raise TooMuchSource(None, None, f"expected a notebook for Python, got one for {language:.50}")
    cells = tuple(_cells(found.get("cells")))
    if max_characters is not None and (size := sum(len(cell.text) for cell in cells)) > max_characters:
        raise TooMuchSource(None, None, f"expected at most {max_characters} characters of code, got {size}")
    return Notebook(data, cells)


def _language(metadata: object) -> str:
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        values = metadata.get(table) if isinstance(metadata, dict) else None
        name = values.get(key) if isinstance(values, dict) else None
        if isinstance(name, PlacedString):
            return name.text.lower()
    return "python"


def _cells(found: object) -> Iterator[Cell]:
    if not isinstance(found, list):
        raise SourceError(None, None, "not a notebook: expected a list of cells")
    line = 1
    for number, values in enumerate(found, 1):
        kind = values.get("cell_type") if isinstance(values, dict) else None
        if not isinstance(kind, PlacedString):
            raise SourceError(None, None, f"not a notebook: expected cell {number} to have a `cell_type`")
        if kind.text != "code":
            continue
        source = values.get("source")
        pieces = [source] if isinstance(source, PlacedString) else source
        if not isinstance(pieces, list) or not all(isinstance(piece, PlacedString) for piece in pieces):
            raise SourceError(
                None,
                None,
                f"not a notebook: expected the source of cell {number} to be text or a list of texts",
            )
        cell = Cell(number, line, tuple(pieces))
        yield cell
        line += len(_LINE_END.findall(cell.text))


class _Lines:
    """The numbers of the lines of a file, for places that are asked for in order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._line = data, 0, 1

    def of(self, place: int) -> int:
        self._line += self._data.count(b"\n", self._at, place)
        self._at = place
        return self._line


def _file_lines(cell: Cell, lines: _Lines) -> Iterator[int]:
    """The line of the file on which each line of a cell begins."""
    begun = False
    for piece in cell.pieces:
        line = lines.of(piece.start)
        count = len(_LINE_END.findall(piece.text))
        ends = piece.text.endswith(("\n", "\r"))
        starts = count + (not ends and piece.text != "") - begun
        yield from [line] * starts
        begun = begun if piece.text == "" else not ends


def edits_in_notebook(notebook: Notebook, number: int, edits: Iterable[FileEdit]) -> tuple[FileEdit, ...]:
    """Edits of a cell, given by its number, as edits of the notebook's file.

    Only the changed characters of the cell's strings change. A line end in a new text begins a new string, as in files that
    Jupyter writes, wherever the edit spans several strings.
    """
    cell = next(cell for cell in notebook.cells if cell.number == number)
    source, file = SourceText(cell.text), SourceText(notebook.data.removeprefix(_MARK).decode())
    places = _Places(notebook.data, cell)
    made = []
    for edit in edits:
        start, end = source.offset(edit.line, edit.column), source.offset(edit.end_line, edit.end_column)
        (line, column), (end_line, end_column) = (file.place(place) for place in places.of(start, end))
        text = places.encode(edit.text, start, end)
        made.append(FileEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=text))
    return tuple(made)


class _Places:
    """Where the characters of a cell are in its file, in characters."""

    def __init__(self, data: bytes, cell: Cell) -> None:
        self._data, self._pieces = data, cell.pieces
        self._ends = list(accumulate(len(piece.text) for piece in cell.pieces))

    def of(self, start: int, end: int) -> tuple[int, int]:
        """The places in the file of a span of the cell's text."""
        first, last = self._piece(start), self._last(start, end)
        return self._place(first, start), self._place(last, end)

    def encode(self, text: str, start: int, end: int) -> str:
        """A text as it stands in the file in place of a span."""
        first, last = self._piece(start), self._last(start, end)
        escaped = "\\u" in self._raw(self._pieces[first])
        lines = [text] if first == last else text.splitlines(keepends=True)
        written = [json.dumps(line, ensure_ascii=escaped)[1:-1] for line in lines]
        between = self._data[self._pieces[first].end : self._pieces[min(first + 1, last)].start].decode()
        return f'"{between}"'.join(written)

    def _piece(self, offset: int) -> int:
        """The string that holds the character at an offset."""
        return min(_first_above(self._ends, offset), len(self._ends) - 1)

    def _last(self, start: int, end: int) -> int:
        """The string that holds the last character of a span."""
        return self._piece(max(end - 1, start))

    def _place(self, piece: int, offset: int) -> int:
        found = self._pieces[piece]
        within = offset - (self._ends[piece] - len(found.text))
        shift = len(_MARK) if self._data.startswith(_MARK) else 0
        begin = len(self._data[shift : found.start + 1].decode())
        characters = _CHARACTER.findall(self._raw(found))
        return begin + sum(map(len, characters[:within]))

    def _raw(self, piece: PlacedString) -> str:
        return self._data[piece.start + 1 : piece.end - 1].decode()


def _first_above(ends: Sequence[int], offset: int) -> int:
    return next((index for index, end in enumerate(ends) if end > offset), len(ends))
