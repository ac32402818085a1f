"""CSV and TSV with a header: `head,relation,tail,q:degree,q:major`; `subject` and `object` are other spellings.

An empty cell is no qualifier; a qualifier that may stand several times has several columns of its name.
"""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from hyperheat.kg.readers.columns import Columns
from hyperheat.kg.readers.stream import Item, ReadError, raw_lines

__all__ = ["read"]


def read(path: Path) -> Iterator[Item]:
    """Yield the statements of a file."""
    text = raw_lines(path)
    header = next(text, "")
    rows = csv.reader(chain([header], text), delimiter="\t" if "\t" in header else ",", strict=True)
    try:
        columns = Columns.of(next(rows))
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield columns.statement(cells)
    except ReadError:
        raise
    except (csv.Error, ValueError) as error:
        raise ReadError(path, rows.line_num, str(error)) from None
