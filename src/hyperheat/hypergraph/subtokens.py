"""Names are split into subtokens, each of which has an embedding: `parName` -> par, name."""

import re
import unicodedata
from itertools import groupby, pairwise

__all__ = ["split", "split_any"]

_OPAQUE = re.compile(r"[PQL][1-9][0-9]*")
_ASCII_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\w\s]+")


def split(name: str) -> tuple[str, ...]:
    """Split at underscores, spaces, camel case, digits and punctuation; lower-case all.

    >>> split("parName"), split("foo_bar2"), split("HTTPServer2"), split("__init__")
    (('par', 'name'), ('foo', 'bar', '2'), ('http', 'server', '2'), ('init',))

    Opaque identifiers of knowledge bases (`P69`, `Q937`) are not split, because their parts mean nothing.
    Punctuation is kept, because it is the name of an operator. Only the empty string has no subtokens: a name
    that consists of underscores or spaces is its own subtoken.
    """
    if _OPAQUE.fullmatch(name):
        return (name,)
    parts = [part.lower() for part in _ASCII_PARTS.findall(name)] if name.isascii() else split_any(name)
    if not parts and name:
        return (name,)
    return tuple(parts)


def split_any(name: str) -> list[str]:
    """The parts of a name in any script; for names in ASCII a regular expression finds the same, faster."""
    parts: list[str] = []
    for kind, characters in groupby(name, _kind):
        text = "".join(characters)
        if kind == "letter":
            parts.extend(_split_case(text))
        elif kind != "separator":
            parts.append(text)
    return parts


def _kind(character: str) -> str:
    if character == "_" or character.isspace():
        return "separator"
    if character.isdecimal():
        return "digit"
    # Vowel signs of Indic scripts and combining accents are marks; they belong to the letter before them.
    if character.isalnum() or unicodedata.category(character)[0] == "M":
        return "letter"
    return "punctuation"


def _split_case(letters: str) -> list[str]:
    """Cut `HTTPServer` before an upper-case letter that follows a lower-case one or precedes one."""
    cuts = [0]
    for i in range(1, len(letters)):
        after_lower = not letters[i - 1].isupper() and letters[i].isupper()
        before_lower = (
            letters[i - 1].isupper()
            and letters[i].isupper()
            and i + 1 < len(letters)
            and not letters[i + 1].isupper()
        )
        if after_lower or before_lower:
            cuts.append(i)
    return [letters[a:b].lower() for a, b in pairwise([*cuts, len(letters)])]
