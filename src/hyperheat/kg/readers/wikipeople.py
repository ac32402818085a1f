"""WikiPeople JSON: one object a line, `{"P69_h": "Q1", "P69_t": "Q2", "P512": ["Q3"], "N": 3}`.

`P69_h` and `P69_t` are the main pair, every other key a qualifier with its values, `N` the number of entities.
Literals (times and numbers, which hold `http://`) are dropped: as object with their statement, as qualifier alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperheat.kg.readers.stream import Dropped, Item, ReadError, entity_name, lines, parse_object
from hyperheat.kg.statements import Statement

__all__ = ["read"]


def read(path: Path) -> Iterator[Item]:
    """Yield the statements of a file, and what was dropped."""
    for number, line in lines(path):
        record = parse_object(path, number, line)
        heads = [key for key in record if key.endswith("_h")]
        if len(heads) != 1 or f"{heads[0][:-2]}_t" not in record:
            raise ReadError(
                path, number, f"expected one pair of keys such as P69_h and P69_t, got {sorted(record)}"
            )
        relation = heads[0][:-2]
        subject = entity_name(path, number, heads[0], record.pop(f"{relation}_h"))
        obj = entity_name(path, number, f"{relation}_t", record.pop(f"{relation}_t"))
        record.pop("N", None)
        if _is_literal(subject) or _is_literal(obj):
            yield Dropped("literal as subject or object")
            continue
        pairs = list(_pairs(path, number, record))
        kept = tuple(pair for pair in pairs if not _is_literal(pair[1]))
        for _ in range(len(pairs) - len(kept)):
            yield Dropped("literal as qualifier value")
        yield Statement(subject, relation, obj, kept)


def _pairs(path: Path, number: int, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for qualifier, values in record.items():
        for value in values if isinstance(values, list) else [values]:
            yield qualifier, entity_name(path, number, qualifier, value)


def _is_literal(name: str) -> bool:
    return "http://" in name
