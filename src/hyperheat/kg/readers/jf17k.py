"""JF17K text: one n-ary fact `relation e0 e1 e2 ...` a line, between tabs; test lines start with `instance0` and so on.

The fact becomes `e0 relation1 e1` with the qualifiers `relation2=e2`, `relation3=e3` and so on: the places of a
relation are the roles of its entities.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from hyperheat.kg.readers.stream import Dropped, Item, ReadError, lines
from hyperheat.kg.statements import Statement

__all__ = ["read"]

_INSTANCE = re.compile(r"(instance)?\d+")


def read(path: Path) -> Iterator[Item]:
    """Yield the statements of a file; facts about a single entity are dropped."""
    numbered = None
    for number, line in lines(path):
        tokens = [token.strip() for token in line.split("\t")]
        is_instance = bool(_INSTANCE.fullmatch(tokens[0]))
        numbered = is_instance if numbered is None else numbered
        if numbered != is_instance:
            wanted = "the number of an instance" if numbered else "a relation"
            raise ReadError(path, number, f"expected {wanted} first, as on the first line, got {tokens[0]!r}")
        parts = tokens[1:] if numbered else tokens
        if len(parts) < 2 or not all(parts):
            raise ReadError(
                path, number, f"expected a relation and its entities between tabs, got {line[:60]!r}"
            )
        relation, *entities = parts
        if len(entities) == 1:
            yield Dropped("fact about one entity")
            continue
        roles = tuple((f"{relation}{place}", entity) for place, entity in enumerate(entities[2:], start=2))
        yield Statement(entities[0], f"{relation}1", entities[1], roles)
