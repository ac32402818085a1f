r"""The parts of a JSON text that are asked for, each with its place in the bytes, so that it can be changed alone.

    wanted = {"cells": [{"source": [True]}]}
    read_places(b'{"cells": [{"source": ["x = 1\\n"]}], "more": 1}', wanted)
    # -> {"cells": [{"source": [PlacedString(start=23, end=32, ...)]}]}

Everything else is checked and passed over without being kept, however large it is.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["JsonError", "PlacedString", "read_places"]

_DEEPEST = 200
_MARK = "\ufeff".encode()
_BLANK = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_OTHER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
_TOKEN = re.compile(
    rb"%b(?:(?P<sign>[{}\[\],:])|(?P<string>%b)|(?P<other>%b)|(?P<end>\Z))" % (_BLANK, _STRING, _OTHER)
)
_PLAIN_ITEMS = re.compile(rb"(?:%b(?:%b|%b)%b,)*+" % (_BLANK, _STRING, _OTHER, _BLANK))
"""Numbers and strings before the last of a list: there may be millions, that no one wants."""


class JsonError(ValueError):
    """A text that is not JSON, in one sentence with the line."""


@dataclass(frozen=True, slots=True)
class PlacedString:
    """A string of a JSON text: the place of its first byte and of the byte after its end, quotes included."""

    start: int
    end: int
    text: str


def read_places(data: bytes, wanted: Any) -> Any:
    """What a JSON text has at the wanted places: a dict asks for members, `[x]` for x of all items, True for a value.

    Strings come with their places, and numbers as their bytes. What is not there, or of another type, is None or missing.
    """
    reader = _Reader(data, len(_MARK) if data.startswith(_MARK) else 0)
    value = reader.value(wanted, 0)
    reader.expect(b"", "the end")
    return value


class _Reader:
    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._at = data, start

    def value(self, wanted: Any, depth: int) -> Any:
        kind, start, text = self._token()
        if depth > _DEEPEST:
            raise self._error(start, f"at most {_DEEPEST} levels of nesting")
        if text == b"{":
            return self._members(wanted if isinstance(wanted, dict) else None, depth)
        if text == b"[":
            return self._items(wanted if isinstance(wanted, list) else None, depth)
        if kind == "string":
            return None if wanted is None else PlacedString(start, self._at, self._decode(start))
        if kind == "other":
            return None if wanted is None else text
        raise self._error(start, "a value")

    def _members(self, wanted: dict[str, Any] | None, depth: int) -> dict[str, Any] | None:
        found: dict[str, Any] = {}
        kind, start, text = self._token()
        while text != b"}":
            if kind != "string":
                raise self._error(start, "a name in quotes")
            name = None if wanted is None else self._decode(start)
            self.expect(b":", "`:`")
            value = self.value(None if wanted is None or name is None else wanted.get(name), depth + 1)
            if wanted is not None and name in wanted:
                found[name] = value
            text = self._next_item(b"}")
            if text == b",":
                kind, start, text = self._token()
                if text == b"}":
                    raise self._error(start, "a name in quotes")
        return None if wanted is None else found

    def _items(self, wanted: list[Any] | None, depth: int) -> list[Any] | None:
        found: list[Any] = []
        before = self._at
        if self._token()[2] == b"]":
            return None if wanted is None else found
        self._at = before
        while True:
            if wanted is None and (skipped := _PLAIN_ITEMS.match(self._data, self._at)):
                self._at = skipped.end()
            value = self.value(None if wanted is None else wanted[0], depth + 1)
            if wanted is not None:
                found.append(value)
            if self._next_item(b"]") == b"]":
                return None if wanted is None else found

    def _next_item(self, end: bytes) -> bytes:
        _, start, text = self._token()
        if text not in (b",", end):
            raise self._error(start, f"`,` or `{end.decode()}`")
        return text

    def expect(self, sign: bytes, name: str) -> None:
        _, start, text = self._token()
        if text != sign:
            raise self._error(start, name)

    def _token(self) -> tuple[str, int, bytes]:
        """The kind, the start and, unless it is a string, the bytes of the next token."""
        match = _TOKEN.match(self._data, self._at)
        if match is None or match.lastgroup is None:
            blank = re.match(_BLANK, self._data[self._at :])
            raise self._error(self._at + (blank.end() if blank else 0), "JSON")
        self._at, kind = match.end(), match.lastgroup
        return kind, match.start(kind), b'"' if kind == "string" else match[kind]

    def _decode(self, start: int) -> str:
        try:
            return json.loads(self._data[start : self._at])
        except UnicodeDecodeError:
            raise self._error(start, "UTF-8") from None

    def _error(self, at: int, expected: str) -> JsonError:
        line = 1 + self._data.count(b"\n", 0, at)
        got = repr(self._data[at : at + 20].decode("utf-8", "replace")) if at < len(self._data) else "the end"
        return JsonError(f"expected {expected} in line {line}, got {got}")
