"""JSON lines: `{"subject": "Q937", "relation": "P69", "object": "Q11942", "qualifiers": [["P512", "Q849697"]]}`.

`qualifiers` may be left out, or be an object `{"P512": "Q849697", "P812": ["Q413", "Q395"]}`. In the files of GRAN and its
successors, which have a key `N`, every other key is a qualifier with its values.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hyperheat.files import whole_file
from hyperheat.kg.readers.items import Item, ReadError, entity_name, lines, parse_object
from hyperheat.kg.statements import Statement

__all__ = ["read_json_lines", "write_json_lines"]

_MAIN = ("subject", "relation", "object")


def read_json_lines(path: Path) -> Iterator[Item]:
    """Yield the statements of a file."""
    for number, line in lines(path):
        record = parse_object(path, number, line)
        if any(part not in record for part in _MAIN):
            raise ReadError(path, number, f"expected subject, relation and object, got {sorted(record)}")
        subject, relation, obj = (entity_name(path, number, part, record.pop(part)) for part in _MAIN)
        if "N" in record:
            record = {"qualifiers": {key: value for key, value in record.items() if key != "N"}}
        qualifiers = tuple(_pairs(path, number, record.pop("qualifiers", [])))
        if record:
            raise ReadError(
                path,
                number,
                f"unknown keys {sorted(record)} beside subject, relation, object and qualifiers",
            )
        yield Statement(subject, relation, obj, qualifiers)


def write_json_lines(statements: Iterable[Statement], path: Path) -> None:
    """Write one object per line; the file appears only when it is complete."""
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for s in statements:
            record: dict[str, Any] = {"subject": s.subject, "relation": s.relation, "object": s.object}
            if s.qualifiers:
                record["qualifiers"] = s.qualifiers
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _pairs(path: Path, number: int, qualifiers: Any) -> Iterator[tuple[str, str]]:
    if isinstance(qualifiers, dict):
        qualifiers = [
            (name, value)
            for name, values in qualifiers.items()
            for value in (values if isinstance(values, list) else [values])
        ]
    if not isinstance(qualifiers, list):
        raise ReadError(path, number, f"qualifiers: expected a list or an object, got {qualifiers!r}")
    for pair in qualifiers:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ReadError(path, number, f"qualifiers: expected pairs of relation and value, got {pair!r}")
        relation = entity_name(path, number, "qualifier", pair[0])
        yield relation, entity_name(path, number, relation, pair[1])
