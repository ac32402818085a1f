"""The text formats in which benchmarks are published: WD50K, JF17K and WikiPeople."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperheat.kg.readers.items import Dropped, Item, ReadError, entity_name, lines, parse_object
from hyperheat.kg.statements import Statement

__all__ = ["is_instance", "read_jf17k", "read_wd50k", "read_wikipeople"]

_INSTANCE = re.compile(r"(instance)?\d+")


def is_instance(token: str) -> bool:
    """Whether a line that starts with this token is one of JF17K's test file, whose facts are numbered."""
    return _INSTANCE.fullmatch(token) is not None


def read_wd50k(path: Path) -> Iterator[Item]:
    """Yield the statements of WD50K text: lines `s,r,o[,qr,qv]*`, separated by commas, or by tabs if the first line has one.

    The position of a token decides whether it is an entity or a relation. A token that occurs as both is a sign of a
    shifted line, and refused.
    """
    separator = None
    place: dict[str, tuple[str, int]] = {}
    for number, line in lines(path):
        separator = separator or ("\t" if "\t" in line else ",")
        tokens = [token.strip() for token in line.split(separator)]
        if len(tokens) < 3 or len(tokens) % 2 == 0:
            raise ReadError(
                path,
                number,
                f"expected subject, relation, object and pairs of qualifiers, got {len(tokens)} tokens: {line[:60]!r}",
            )
        for index, token in enumerate(tokens):
            kind = "a relation" if index % 2 else "an entity"
            if not token:
                raise ReadError(path, number, f"token {index + 1} is empty; expected {kind}")
            first_kind, first_line = place.setdefault(token, (kind, number))
            if first_kind != kind:
                raise ReadError(
                    path,
                    number,
                    f"expected {kind}, got {token!r}, which is {first_kind} on line {first_line}",
                )
        subject, relation, obj = tokens[:3]
        yield Statement(subject, relation, obj, tuple(zip(tokens[3::2], tokens[4::2], strict=True)))


def read_jf17k(path: Path) -> Iterator[Item]:
    """Yield the statements of JF17K text: lines `relation e0 e1 e2 ...` separated by tabs.

    A fact becomes `e0 relation1 e1` with the qualifiers `relation2=e2`, `relation3=e3` and so on: the place of an entity is
    its role. Facts about one entity are dropped. Lines of test files start with
    an instance number, such as `instance0`.
    """
    numbered = None
    for number, line in lines(path):
        tokens = [token.strip() for token in line.split("\t")]
        has_number = is_instance(tokens[0])
        numbered = has_number if numbered is None else numbered
        if numbered != has_number:
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


def read_wikipeople(path: Path) -> Iterator[Item]:
    """Yield the statements of WikiPeople JSON lines: `{"P69_h": "Q1", "P69_t": "Q2", "P512": ["Q3"], "N": 3}`.

    `P69_h` and `P69_t` are the main pair, every other key is a qualifier with its values, and `N` is the number of entities.
    Literals (times and numbers, which contain `http://`) are dropped: as object with their statement, as qualifier alone.
    """
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
        pairs = list(_qualifier_values(path, number, record))
        kept = tuple(pair for pair in pairs if not _is_literal(pair[1]))
        for _ in range(len(pairs) - len(kept)):
            yield Dropped("literal as qualifier value")
        yield Statement(subject, relation, obj, kept)


def _qualifier_values(path: Path, number: int, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for qualifier, values in record.items():
        for value in values if isinstance(values, list) else [values]:
            yield qualifier, entity_name(path, number, qualifier, value)


def _is_literal(name: str) -> bool:
    return "http://" in name
