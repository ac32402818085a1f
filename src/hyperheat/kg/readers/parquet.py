"""Parquet: the columns `subject`, `relation`, `object` and either `q:degree`, ... or a nested `qualifiers`.

`qualifiers` is a list of structs with two fields, the relation and the value. Needs pyarrow.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperheat.extras import require
from hyperheat.kg.readers.columns import Columns
from hyperheat.kg.readers.stream import Item, ReadError
from hyperheat.kg.statements import Statement

__all__ = ["read"]


def read(path: Path) -> Iterator[Item]:
    """Yield the statements of a file, holding one batch of rows at a time; errors name the row."""
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            nested = names.index("qualifiers") if "qualifiers" in names else None
            flat = [place for place in range(len(names)) if place != nested]
            columns = Columns.of([names[place] for place in flat])
            for batch in file.iter_batches():
                cells = zip(*(batch.column(place).to_pylist() for place in flat), strict=True)
                pairs = [None] * len(batch) if nested is None else batch.column(nested).to_pylist()
                for values, more in zip(cells, pairs, strict=True):
                    row += 1
                    yield _statement(columns, values, more)
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ReadError(path, row or None, f"{error!s:.300}") from None


def _statement(columns: Columns, cells: tuple[Any, ...], nested: list[dict[str, Any]] | None) -> Statement:
    for cell in cells:
        if cell is not None and not isinstance(cell, str):
            raise ValueError(f"expected columns of text, got {cell!r}")
    statement = columns.statement(cells)
    more = []
    for pair in nested or ():
        values = list(pair.values()) if isinstance(pair, dict) else []
        if len(values) != 2 or not all(isinstance(value, str) and value for value in values):
            raise ValueError(f"qualifiers: expected a relation and a value, got {pair!r}")
        more.append((values[0], values[1]))
    return Statement(statement.subject, statement.relation, statement.object, (*statement.qualifiers, *more))
