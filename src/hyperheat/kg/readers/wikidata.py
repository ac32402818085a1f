"""Wikidata's JSON: a dump with one entity per line inside `[` and `]`, streamed, or a document `{"entities": {...}}`.

Documents are what `Special:EntityData` and the API return; they are read whole, so their size is limited.

Every claim whose value is an entity becomes a statement, with the qualifiers whose values are entities, in the order of
the dump. Dropped and counted: deprecated claims, unknown values (`somevalue`), explicitly missing values (`novalue`), and
literals; a literal as qualifier drops the qualifier only. English labels are kept.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from hyperheat.kg.readers.items import MAX_LINE, Dropped, Item, Label, ReadError, lines, parse_object
from hyperheat.kg.statements import Statement

__all__ = ["opens_document", "read_wikidata"]

_LANGUAGE = "en"
_DOCUMENT = re.compile(r'\s*\{\s*("entities"\s*:.*)?')


def opens_document(line: str) -> bool:
    """Whether the first line of a file begins a document of entities, on one line or on several."""
    return _DOCUMENT.fullmatch(line) is not None


def read_wikidata(path: Path) -> Iterator[Item]:
    """Yield the statements and labels of a dump or a document, and what was dropped."""
    numbered = lines(path)
    first = next(numbered, None)
    if first is None:
        return
    if opens_document(first[1]):
        for entity in _document(path, (line for _, line in chain([first], numbered))):
            yield from _checked_items(path, first[0], entity)
        return
    for number, line in chain([first], numbered):
        text = line.strip().rstrip(",")
        if text not in ("[", "]", ""):
            yield from _checked_items(path, number, parse_object(path, number, text))


def _document(path: Path, parts: Iterator[str]) -> Iterator[Any]:
    """The entities of a document."""
    texts, size = [], 0
    for part in parts:
        texts.append(part)
        size += len(part)
        if size > MAX_LINE:
            raise ReadError(path, 1, f"the document is longer than {MAX_LINE} characters; use a dump instead")
    entities = parse_object(path, 1, "\n".join(texts)).get("entities")
    if not isinstance(entities, dict | list):
        raise ReadError(path, 1, "expected entities of Wikidata under the key 'entities'")
    yield from entities.values() if isinstance(entities, dict) else entities


def _checked_items(path: Path, number: int, entity: Any) -> Iterator[Item]:
    try:
        yield from _items(entity)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReadError(
            path,
            number,
            f"expected an entity of Wikidata, got {json.dumps(entity)[:60]!r} ({type(error).__name__}: {error})",
        ) from None


def _items(entity: dict[str, Any]) -> Iterator[Item]:
    if "missing" in entity:  # the answer to a request for an id that does not exist
        yield Dropped("missing entity")
        return
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
