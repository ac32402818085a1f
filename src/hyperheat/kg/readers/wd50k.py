"""WD50K text: one statement `s,r,o[,qr,qv]*` a line, separated by commas or, if the first line has one, by tabs.

A token is an entity or a relation by its place alone. A token that stands in both places of one file is a sign
of a shifted line, and refused.
"""

from collections.abc import Iterator
from pathlib import Path

from hyperheat.kg.readers.stream import Item, ReadError, lines
from hyperheat.kg.statements import Statement

__all__ = ["read"]


def read(path: Path) -> Iterator[Item]:
    """Yield the statements of a file."""
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
                raise ReadError(path, number, f"expected {kind} as token {index + 1}, got nothing")
            first_kind, first_line = place.setdefault(token, (kind, number))
            if first_kind != kind:
                raise ReadError(
                    path,
                    number,
                    f"expected {kind}, got {token!r}, which is {first_kind} on line {first_line}",
                )
        subject, relation, obj = tokens[:3]
        yield Statement(subject, relation, obj, tuple(zip(tokens[3::2], tokens[4::2], strict=True)))
