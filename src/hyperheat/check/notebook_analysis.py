"""What a worker does with a notebook: the same as with a file, cell by cell.

Each cell must be valid Python by itself, once IPython's commands are left out; one that is not is reported, and the others
are checked. The code of all cells is then read as one module, so that functions see the names of other cells. Functions
that hold commands are listed, but not judged.
"""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from hyperheat.check.analysis import Detail, Score, analyse_edited, check_lines, error_record
from hyperheat.check.magics import PlainCell, without_commands
from hyperheat.check.notebook import Cell, Notebook, read_notebook
from hyperheat.check.records import ErrorRecord, PartialRecord
from hyperheat.detector.calibration import Calibration
from hyperheat.pycode import SourceError
from hyperheat.pycode.syntax.python_source import MAX_CHARACTERS, PythonSource
from hyperheat.report.source import SourceText

__all__ = ["JoinedCells", "analyse_notebook", "find_cell_error", "join_cells"]


def analyse_notebook(
    data: bytes,
    known: Collection[str],
    score: Score,
    calibration: Calibration,
    *,
    max_characters: int = MAX_CHARACTERS,
    detail: Detail | None = None,
) -> Iterator[PartialRecord | None]:
    """The record of a notebook in parts, as `analyse_parts` gives that of a file; lines are those of the joined code."""
    try:
        notebook = read_notebook(data, max_characters=max_characters)
    except SourceError as error:
        yield PartialRecord(errors=(error_record(error),))
        return
    code = join_cells(notebook)
    yield PartialRecord(errors=code.errors, cells=notebook.records())
    yield from analyse_edited(
        code.text,
        {},
        known,
        score,
        calibration,
        max_characters=max_characters,
        interactive=True,
        unjudged=code.commands,
        detail=detail,
    )


@dataclass(frozen=True, slots=True)
class JoinedCells:
    """The code of all cells as one text, its lines that hold commands, and what is wrong with cells that are no Python."""

    text: str
    commands: frozenset[int]
    errors: tuple[ErrorRecord, ...]


def join_cells(notebook: Notebook) -> JoinedCells:
    """The code of a notebook as it is read: without commands, and without cells that are not Python."""
    texts: list[str] = []
    errors: list[ErrorRecord] = []
    commands: set[int] = set()
    for cell in notebook.cells:
        plain, error = _read(cell)
        if error is not None:
            errors.append(error._replace(line=cell.line + (error.line or 1) - 1))
        texts.append(plain.text)
        commands.update(cell.line + line - 1 for line in plain.commands)
    return JoinedCells("".join(texts), frozenset(commands), tuple(errors))


def find_cell_error(data: bytes, numbers: Collection[int]) -> str | None:
    """Why one of some cells is not Python, or the file no notebook; None if all is well."""
    try:
        notebook = read_notebook(data)
    except SourceError as error:
        return error.problem
    for cell in notebook.cells:
        if cell.number in numbers and (error := _read(cell)[1]) is not None:
            return f"cell {cell.number}: {error.reason}"
    return None


def _read(cell: Cell) -> tuple[PlainCell, ErrorRecord | None]:
    """The cell as plain Python, or only its line ends and what is wrong with it."""
    problem = None
    for plain in (PlainCell(cell.text, frozenset()), without_commands(cell.text)):
        try:
            check_lines(plain.text)
            source = PythonSource.read(plain.text)
            tree = source.parse(interactive=True)
        except SourceError as error:
            problem = error_record(error)
        else:
            return replace(plain, text=_without_future(plain.text, tree)), None
    return PlainCell("".join(_line_ends(cell.text)), frozenset()), problem


def _line_ends(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        yield "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


def _without_future(text: str, tree: ast.Module) -> str:
    """The cell with `pass` in place of imports from `__future__`, which a module may have only at its beginning."""
    source = SourceText(text)
    for node in reversed(tree.body):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and node.end_col_offset is not None
        ):
            start = source.offset(node.lineno, node.col_offset + 1)
            end = source.offset(node.end_lineno or node.lineno, node.end_col_offset + 1)
            ends = "".join(_line_ends(text[start:end]))
            text = f"{text[:start]}pass{ends}{text[end:]}"
    return text
