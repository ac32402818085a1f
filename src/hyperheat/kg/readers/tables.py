"""Tables with a row per statement: CSV and TSV with a header line, and Parquet.

    head,relation,tail,q:degree,q:major

The main columns may also be called subject, predicate and object, or h, r and t. An empty cell means that the statement
lacks the qualifier; a qualifier with several values takes several columns of the same name. In Parquet the qualifiers may
also be one column `qualifiers`: a list of structs with two fields, relation and value. Parquet needs pyarrow.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from hyperheat.extras import require
from hyperheat.kg.readers.items import Item, ReadError, raw_lines
from hyperheat.kg.statements import Statement

__all__ = ["StatementColumns", "is_header", "read_csv", "read_parquet"]

_MAIN = {
    "subject": ("subject", "head", "s", "h"),
    "relation": ("relation", "predicate", "property", "r", "p"),
    "object": ("object", "tail", "o", "t"),
}


def is_header(line: str) -> bool:
    """Whether a line names the columns of a table: two of the three main ones by a word, or all by a letter."""
    names = {name.strip().strip('"').lower() for name in line.replace("\t", ",").split(",")}
    found = [names & set(spellings) for spellings in _MAIN.values()]
    words = [part for part in found if any(len(name) > 1 for name in part)]
    return all(found) or len(words) > 1


def read_csv(path: Path) -> Iterator[Item]:
    """Yield the statements of a CSV or TSV file; the header line decides between the two."""
    text = raw_lines(path)
    header = next(text, "")
    rows = csv.reader(chain([header], text), delimiter="\t" if "\t" in header else ",", strict=True)
    try:
        parts = StatementColumns.of(next(rows))
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield parts.statement(cells)
    except ReadError:
        raise
    except (csv.Error, ValueError) as error:
        raise ReadError(path, rows.line_num, str(error)) from None


def read_parquet(path: Path) -> Iterator[Item]:
    """Yield the statements of a Parquet file, one batch of rows in memory at a time; errors name the row."""
    arrow, parquet = require("pyarrow", extra="train"), require("pyarrow.parquet", extra="train")
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            nested = names.index("qualifiers") if "qualifiers" in names else None
            flat = [place for place in range(len(names)) if place != nested]
            parts = StatementColumns.of([names[place] for place in flat])
            for batch in file.iter_batches():
                cells = zip(*(batch.column(place).to_pylist() for place in flat), strict=True)
                pairs = [None] * len(batch) if nested is None else batch.column(nested).to_pylist()
                for values, more in zip(cells, pairs, strict=True):
                    row += 1
                    yield _with_nested(parts, values, more)
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ReadError(path, row or None, f"{error!s:.300}") from None


@dataclass(frozen=True, slots=True)
class StatementColumns:
    """Where a table holds the parts of a statement."""

    width: int
    main: tuple[int, int, int]
    qualifiers: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, header: Sequence[str]) -> "StatementColumns":
        """Find the columns by name; unknown names are refused."""
        names = [name.strip() for name in header]
        main = []
        for part, spellings in _MAIN.items():
            places = [index for index, name in enumerate(names) if name.lower() in spellings]
            if len(places) != 1:
                raise ValueError(
                    f"expected one column {' or '.join(spellings)} for the {part}, got the columns {names}"
                )
            main.extend(places)
        others = [(name, index) for index, name in enumerate(names) if index not in main]
        for name, _ in others:
            if not name.startswith("q:") or not name[2:]:
                raise ValueError(f"expected head, relation, tail and columns such as q:degree, got {name!r}")
        qualifiers = tuple((name[2:], index) for name, index in others)
        return cls(len(names), (main[0], main[1], main[2]), qualifiers)

    @staticmethod
    def lacking(header: Sequence[str]) -> str | None:
        """The main column that a table lacks, if it has the two others."""
        names = {name.strip().lower() for name in header}
        lacking = [part for part, spellings in _MAIN.items() if names.isdisjoint(spellings)]
        return lacking[0] if len(lacking) == 1 else None

    def statement(self, cells: Sequence[str | None]) -> Statement:
        """The statement of a row."""
        if len(cells) != self.width:
            raise ValueError(f"expected {self.width} cells, as in the header, got {len(cells)}")
        texts = [(cell or "").strip() for cell in cells]
        subject, relation, obj = (texts[index] for index in self.main)
        if not (subject and relation and obj):
            raise ValueError(f"expected a subject, a relation and an object, got {texts}")
        pairs = tuple((name, texts[index]) for name, index in self.qualifiers if texts[index])
        return Statement(subject, relation, obj, pairs)


def _with_nested(
    parts: StatementColumns, cells: tuple[Any, ...], nested: list[dict[str, Any]] | None
) -> Statement:
    """The statement of a row of Parquet, whose `qualifiers` may hold more pairs."""
    for cell in cells:
        if cell is not None and not isinstance(cell, str):
            raise ValueError(f"expected columns of text, got {cell!r}")
    statement = parts.statement(cells)
    more = []
    for pair in nested or ():
        values = list(pair.values()) if isinstance(pair, dict) else []
        if len(values) != 2 or not all(isinstance(value, str) and value for value in values):
            raise ValueError(f"qualifiers: expected a relation and a value, got {pair!r}")
        more.append((values[0], values[1]))
    return Statement(statement.subject, statement.relation, statement.object, (*statement.qualifiers, *more))
