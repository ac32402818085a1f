"""Where a report goes: standard output in one format, and any number of files in others."""

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, TextIO

__all__ = [
    "Format",
    "Output",
    "check_output",
    "colourful",
    "flush_output",
    "parse_outputs",
    "put",
    "put_bytes",
    "write_output",
]

Format = Literal["text", "json", "jsonl", "sarif", "github", "junit", "html"]
"""The formats by name, written here too so that help needs none of them; a test compares."""

_SUFFIXES: dict[str, str] = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "jsonl",
    ".sarif": "sarif",
    ".xml": "junit",
    ".html": "html",
}


class Output(NamedTuple):
    """A file for the report, and the format of it."""

    format: str
    path: Path


def parse_outputs(texts: Iterable[str], formats: Iterable[str]) -> list[Output]:
    """Read FORMAT:FILE, or FILE whose ending says the format; raises ValueError in one sentence."""
    formats = tuple(formats)
    found: list[Output] = []
    for text in texts:
        format, colon, path = text.partition(":")
        if not colon or format not in formats:
            format, path = _SUFFIXES.get(Path(text).suffix, ""), text
        if not format or not path:
            raise ValueError(
                f"--output: expected FORMAT:FILE with a format of {', '.join(formats)}, "
                f"or FILE with an ending of {', '.join(_SUFFIXES)}, got {text!r}"
            )
        if any(path == str(other.path) for other in found):
            raise ValueError(f"--output: expected different files, got {path!r} twice")
        found.append(Output(format, Path(path)))
    return found


def check_output(path: Path) -> None:
    """Raise OSError in one sentence if a file cannot be written: better before a scan than after it."""
    from hyperheat.files import kind_of_file, refuse_links

    if _is_stream(path):
        return
    refuse_links(path, Path.cwd())
    folder = path.parent
    if not folder.is_dir():
        there = "is not a folder" if os.path.lexists(folder) else "does not exist"
        raise OSError(f"{path}: cannot be written: the folder {folder} {there}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(f"{path}: cannot be written: the folder {folder} is read-only")
    if path.exists() and not path.is_file():
        raise OSError(f"{path}: cannot be written: it is {kind_of_file(path.stat().st_mode)}")


def write_output(path: Path, text: str) -> None:
    """Write a file atomically, never through a link; write to a pipe or a device directly. Raises OSError."""
    from hyperheat.files import refuse_links, write_whole

    data = text.encode("utf-8", "backslashreplace")
    if _is_stream(path):
        path.write_bytes(data)
        return
    refuse_links(path, Path.cwd())
    try:
        write_whole(path, data)
    except OSError as error:
        raise OSError(f"{path}: cannot be written: {error.strerror or error}") from None


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device itself, or one that the system has a link to, such as /dev/stdout."""
    if Path(os.path.abspath(path)).is_relative_to("/dev"):
        return path.exists() and not path.is_dir()
    return os.path.lexists(path) and stat.S_IFMT(path.lstat().st_mode) in (stat.S_IFIFO, stat.S_IFCHR)


def put(text: str, stream: TextIO) -> None:
    """Write UTF-8, whatever the encoding of the stream; a closed pipe is not an error.

    Raises OSError if standard output cannot be written, for example on a full disk.
    """
    put_bytes(text.encode("utf-8", "backslashreplace"), stream)


def put_bytes(data: bytes, stream: TextIO) -> None:
    """Write bytes as they are, with the same errors as `put`."""
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.flush()
    except OSError as error:
        _silence(stream)
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise OSError(f"standard output: cannot be written: {error.strerror}") from None


def flush_output() -> None:
    """Write what commands have left in standard output. Raises OSError if that is not possible."""
    put("", sys.stdout)


def _silence(stream: TextIO) -> None:
    """Send what is left in a stream nowhere, so that nothing is said about it when the program ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def colourful(stream: TextIO) -> bool:
    """Whether to use colours: on a terminal, unless NO_COLOR is set; elsewhere if FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
