"""What readers yield and what they read from: items, errors with file and line, and guarded access to files."""

import bz2
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hyperheat.files import parse_json
from hyperheat.kg.statements import Statement

__all__ = [
    "Dropped",
    "Item",
    "Label",
    "ReadError",
    "entity_name",
    "lines",
    "open_bytes",
    "parse_object",
    "raw_lines",
]


@dataclass(frozen=True, slots=True)
class Label:
    """The readable name of an entity or a relation."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something in a file that statements cannot hold, with the reason."""

    reason: str


Item = Statement | Label | Dropped


class ReadError(ValueError):
    """A file that does not follow its format; the message names the file and the line."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, problem: str) -> None:
        where = os.fspath(path) if line is None else f"{os.fspath(path)}:{line}"
        super().__init__(f"{where}: {problem}")


MAX_LINE = 16_000_000
"""Bytes of the longest line that is read; every entity of Wikidata is shorter."""
MAX_RATIO = 200
"""The largest ratio of unpacked to packed bytes, in files that unpack to more than MIN_RATIO_BYTES."""
MIN_RATIO_BYTES = 64_000_000

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open}


class _Unpacked(io.RawIOBase):
    """The content of a compressed file, up to a limit that guards against decompression bombs."""

    def __init__(self, path: Path) -> None:
        self._file = _OPENERS[path.suffix.lower()](path, "rb")
        self._most = max(MIN_RATIO_BYTES, MAX_RATIO * path.stat().st_size)
        self._got = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read1(len(buffer))  # pyright: ignore[reportAttributeAccessIssue]
        self._got += len(data)
        if self._got > self._most:
            raise ValueError(f"the file unpacks to more than {MAX_RATIO} times its size")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, unpacking gzip and bzip2; reading raises ValueError if it unpacks to too much."""
    if path.suffix.lower() in _OPENERS:
        return io.BufferedReader(_Unpacked(path), 1 << 18)
    return path.open("rb")


def raw_lines(path: Path) -> Iterator[str]:
    """All lines with their ends."""
    number = 0
    with open_bytes(path) as file:
        try:
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    raise ReadError(path, number, f"the line is longer than {MAX_LINE} bytes")
                yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ReadError(path, number, f"not UTF-8 text: {error}") from None
        except ReadError:
            raise
        except (EOFError, OSError, ValueError, zlib.error) as error:
            raise ReadError(path, number + 1, f"cannot unpack the file: {error}") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, without their ends, numbered from 1."""
    for number, line in enumerate(raw_lines(path), start=1):
        if line.strip():
            yield number, line.rstrip("\r\n")


def parse_object(path: Path, number: int, text: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        record = parse_json(text)
        if "\\ud" in text.lower():  # may be half a pair of surrogates, which no file can hold
            json.dumps(record, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ReadError(path, number, f"expected a JSON object, got {text[:40]!r}: {error}") from None
    if not isinstance(record, dict):
        raise ReadError(path, number, f"expected a JSON object, got {text[:40]!r}")
    return record


def entity_name(path: Path, number: int, what: str, value: object) -> str:
    """The value as the name of an entity or relation; anything but a non-empty string is refused."""
    if not isinstance(value, str) or not value.strip():
        raise ReadError(path, number, f"expected a name as {what}, got {value!r}")
    return value
