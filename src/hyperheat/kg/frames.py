"""Data frames of any library: statements and questions from their rows, and answers as a frame of the same library.

A frame has a row per statement and columns as in a table (readers/tables.py):

    head, relation, tail, q:degree, q:major          or with one column `qualifiers` of pairs

A frame is read through the Arrow PyCapsule interface (`__arrow_c_stream__`: pandas, polars, pyarrow and others) or the
data-frame interchange protocol (`__dataframe__`) if pyarrow is installed, else column by column. A mapping from names to
lists is a frame as well. `q:degree.1` beside `q:degree` is another column of that name, as pandas reads a file with two.
No library of frames is imported that the caller did not import.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hyperheat.kg.questions import Questions, join_questions
from hyperheat.kg.readers.tables import StatementColumns
from hyperheat.kg.statements import Statement

if TYPE_CHECKING:  # which itself needs this module
    from hyperheat.kg.completion import Completer

__all__ = ["is_frame", "predict", "questions_of", "statements_of"]

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
_NESTED = "qualifiers"
_BLANK = "?"
_REPEATED = re.compile(r"(?<=.)\.\d+$")
_Row = tuple[list[str | None], list[tuple[str, str]]]


def is_frame(value: object) -> bool:
    """Whether a value is read as a data frame."""
    return isinstance(value, Mapping) or any(
        hasattr(value, name) for name in ("__arrow_c_stream__", "__dataframe__", "columns")
    )


def statements_of(frame: Any) -> Iterator[Statement]:
    """The statements of a frame; an error names the row, counted from 0."""
    for number, (main, qualifiers) in enumerate(_rows(frame)):
        if None in main:
            raise ValueError(f"row {number}: expected a subject, a relation and an object, got {main}")
        subject, relation, obj = main
        yield Statement(subject or "", relation or "", obj or "", tuple(qualifiers))


def questions_of(frame: Any) -> Questions:
    """The questions of a frame: the blank is an empty cell or `?`, or a main column that the frame lacks."""
    questions = []
    for number, (main, qualifiers) in enumerate(_rows(frame, lacking=None)):
        subject, relation, obj = (None if name == _BLANK else name for name in main)
        pairs = [(name, None if value == _BLANK else value) for name, value in qualifiers]
        try:
            questions.append(Questions.of(subject, relation, obj, pairs))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None
    return join_questions(questions)


def predict(completer: "Completer", frame: Any, *, k: int = 1, exclude_known: bool = False) -> Any:
    """The k best answers to the question in each row of a frame, as a frame of the same library.

    Its columns are row (counted from 0), rank, answer, label, probability, score and known.
    """
    found: dict[str, list[Any]] = {name: [] for name in ("row", "rank", "answer", "label")}
    found |= {name: [] for name in ("probability", "score", "known")}
    questions = questions_of(frame)
    for row, completion in enumerate(completer.ask_all(questions, k=k, exclude_known=exclude_known)):
        for answer in completion:
            values = (
                row,
                answer.rank,
                answer.id,
                answer.label,
                answer.probability,
                answer.score,
                answer.known,
            )
            for column, value in zip(found.values(), values, strict=True):
                column.append(value)
    library = type(frame).__module__.partition(".")[0]
    maker = _MAKERS.get(library)
    return found if maker is None else getattr(sys.modules[library], maker)(found)


def _rows(frame: Any, *, lacking: Any = ...) -> Iterator[_Row]:
    """The main parts and the qualifiers of each row; `lacking` takes the place of one main column that is not there."""
    names, columns = _columns(frame)
    if lacking is None and (part := StatementColumns.lacking(names)) is not None:
        names, columns = [*names, part], [*columns, [None] * len(columns[0])]
    names = [base if (base := _REPEATED.sub("", name)) in names else name for name in names]
    nested = names.index(_NESTED) if _NESTED in names else None
    flat = [place for place in range(len(names)) if place != nested]
    where = StatementColumns.of([names[place] for place in flat])
    for number, cells in enumerate(zip(*columns, strict=True)):
        values = [cells[place] for place in flat]
        main = [_text(values[place], number, names[flat[place]]) for place in where.main]
        pairs = [
            (name, text)
            for name, place in where.qualifiers
            for cell in (values[place] if _is_list(values[place]) else [values[place]])
            if (text := _text(cell, number, f"q:{name}")) is not None
        ]
        if nested is not None:
            pairs += _nested_pairs(cells[nested], number)
        yield main, pairs


def _columns(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns and their cells, as values of Python."""
    if isinstance(frame, Mapping):
        names, columns = [str(name) for name in frame], [list(column) for column in frame.values()]
    elif find_spec("pyarrow") is not None and hasattr(frame, "__arrow_c_stream__"):
        import pyarrow

        names, columns = _arrow_columns(pyarrow.RecordBatchReader.from_stream(frame).read_all())
    elif find_spec("pyarrow") is not None and hasattr(frame, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        names, columns = _arrow_columns(from_dataframe(frame))
    elif hasattr(frame, "columns"):
        names = [str(name) for name in frame.columns]
        columns = [list(frame[name]) for name in frame.columns]
    else:
        raise ValueError(f"expected a data frame, got {type(frame).__name__}")
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"expected columns of one length, got {[len(column) for column in columns]}")
    return names, columns


def _arrow_columns(table: Any) -> tuple[list[str], list[list[Any]]]:
    return table.column_names, [column.to_pylist() for column in table.columns]


def _text(cell: Any, row: int, column: str) -> str | None:
    """The text of a cell, None if it is missing; whole numbers become text, other values are refused."""
    if cell is None or cell != cell or type(cell).__name__ == "NAType":  # NaN is not equal to itself
        return None
    if isinstance(cell, str):
        return cell.strip() or None
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    raise ValueError(f"row {row}, column {column}: expected text, got {cell!r}")


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list | tuple) or type(cell).__name__ in ("ndarray", "Series")


def _nested_pairs(cell: Any, row: int) -> Iterator[tuple[str, str]]:
    """The qualifiers of a cell: a mapping, or a list of pairs, each a pair or a mapping with two values."""
    for pair in cell.items() if isinstance(cell, Mapping) else cell if _is_list(cell) else ():
        parts = list(pair.values()) if isinstance(pair, Mapping) else list(pair) if _is_list(pair) else []
        texts = [_text(part, row, _NESTED) for part in parts]
        if len(texts) != 2 or texts[0] is None or texts[1] is None:
            raise ValueError(
                f"row {row}, column {_NESTED}: expected pairs of relation and value, got {pair!r}"
            )
        yield texts[0], texts[1]
