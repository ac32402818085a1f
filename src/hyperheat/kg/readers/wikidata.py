"""Wikidata's JSON dump: one entity per line inside `[` and `]`, streamed, compressed or not.

Every claim whose value is an entity becomes a statement, with the qualifiers whose values are entities, in the order of
the dump. Dropped and counted: deprecated claims, unknown values (`somevalue`), explicitly missing values (`novalue`), and
literals; a literal as qualifier drops the qualifier only. English labels are kept.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperheat.kg.readers.items import Dropped, Item, Label, ReadError, lines, parse_object
from hyperheat.kg.statements import Statement

__all__ = ["read_wikidata"]

_LANGUAGE = "en"


def read_wikidata(path: Path) -> Iterator[Item]:
    """Yield the statements and labels of a dump, and what was dropped."""
    for number, line in lines(path):
        text = line.strip().rstrip(",")
        if text in ("[", "]", ""):
            continue
        entity = parse_object(path, number, text)
        try:
            yield from _items(entity)
        except (KeyError, TypeError, AttributeError) as error:
            raise ReadError(
                path,
                number,
                f"expected an entity of Wikidata, got {text[:60]!r} ({type(error).__name__}: {error})",
            ) from None


def _items(entity: dict[str, Any]) -> Iterator[Item]:
    subject = _text(entity["id"])
    label = (entity.get("labels") or {}).get(_LANGUAGE)
    if label is not None:
        yield Label(subject, _text(label["value"]))
    claims = entity.get("claims") or {}  # an entity without claims has a list here
    for relation, group in claims.items():
        for claim in group:
            if claim.get("rank") == "deprecated":
                yield Dropped("deprecated")
                continue
            value = _entity(claim["mainsnak"])
            if isinstance(value, Dropped):
                yield Dropped(f"{value.reason} as object")
                continue
            pairs = []
            for qualifier, found in _qualifiers(claim):
                if isinstance(found, Dropped):
                    yield Dropped(f"{found.reason} as qualifier value")
                else:
                    pairs.append((qualifier, found))
            yield Statement(subject, relation, value, tuple(pairs))


def _qualifiers(claim: dict[str, Any]) -> Iterator[tuple[str, str | Dropped]]:
    qualifiers = claim.get("qualifiers") or {}
    for qualifier in claim.get("qualifiers-order") or qualifiers:
        for snak in qualifiers[qualifier]:
            yield qualifier, _entity(snak)


def _entity(snak: dict[str, Any]) -> str | Dropped:
    """The entity that a snak names."""
    if snak["snaktype"] != "value":
        return Dropped(_text(snak["snaktype"]))
    data = snak["datavalue"]
    if data["type"] != "wikibase-entityid":
        return Dropped("literal")
    value = data["value"]
    if "id" in value:
        return _text(value["id"])
    letter = {"item": "Q", "property": "P"}[value["entity-type"]]  # dumps before 2017 have the number alone
    return f"{letter}{value['numeric-id']}"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"expected text, got {value!r}")
    return value
