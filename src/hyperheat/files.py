"""Reading and writing single files that may be anything: a pipe, a device, a link, too large, gone, half written.

Files are written whole or not at all. The data goes to a new file beside the target, which then takes its name. A process
that is killed, a full disk or a power cut leaves the old file or the new one. A link in the place of the target is
replaced, never followed.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = [
    "SkippedFile",
    "file_sha256",
    "kind_of_file",
    "parse_json",
    "read_regular",
    "refuse_links",
    "refuse_links_out",
    "remove_leftovers",
    "sync",
    "whole_file",
    "why",
    "write_whole",
    "write_whole_text",
]

_OPENING = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
    stat.S_IFREG: "a regular file",
}
_TEMPORARY_END = re.compile(r"\d+-[0-9a-f]{8}\.tmp")
_CREATING = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
)


class SkippedFile(ValueError):
    """A file that is not read. The message says why, without the name of the file."""


def read_regular(path: str | os.PathLike[str], *, max_bytes: int, follow: bool = True) -> bytes:
    """The contents of a regular file of at most so many bytes; never waits for a pipe or a device.

    What is opened is looked at again, since it may have changed after its folder was listed.
    """
    opening = _OPENING if follow else _OPENING | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, opening)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise SkippedFile(f"expected a regular file, got {kind_of_file(status.st_mode)}")
        with open(descriptor, "rb") as file:
            data = file.read(min(status.st_size, max_bytes) + 1)  # not more, which would be set aside at once
            if len(data) > status.st_size:
                data += file.read(max_bytes + 1 - len(data))
    except SkippedFile:
        raise
    except (OSError, ValueError) as error:
        raise SkippedFile(why(error)) from None
    if len(data) > max_bytes:
        raise SkippedFile(f"expected at most {max_bytes} bytes, got {max(status.st_size, len(data))}")
    return data


def kind_of_file(mode: int) -> str:
    """What a file is, in words, from its mode."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def why(error: OSError | ValueError) -> str:
    """The reason in an error of the operating system, without the path, which is told beside it."""
    text = getattr(error, "strerror", None) or str(error)
    return f"cannot be read: {text[:1].lower()}{text[1:]}"


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. Anything wrong with it raises ValueError, deep nesting too."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, mode: int | None = None, durable: bool = True
) -> Iterator[Path]:
    """Give the path of a new, empty file to write to; it is renamed to `path` at the end and deleted on an error.

    It gets the given mode, or that of the file it replaces, or the usual one, also if a writer puts a private file of its
    own in its place. A `durable` file survives a power cut after this returns.
    Raises OSError, also if `path` is neither a regular file nor a link and would be lost.
    """
    target = Path(path)
    before = target.lstat().st_mode if os.path.lexists(target) else None
    if before is not None and not (stat.S_ISREG(before) or stat.S_ISLNK(before)):
        raise OSError(f"{target}: expected a regular file or nothing, got {kind_of_file(before)}")
    if mode is None and before is not None and stat.S_ISREG(before):
        mode = stat.S_IMODE(before)
    temporary = target.with_name(f"{_temporary_start(target)}{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        created = _create(temporary, mode)
        yield temporary
        if stat.S_IMODE(temporary.stat().st_mode) != created:
            temporary.chmod(created)
        if durable:
            sync(temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    if durable:
        sync(target.parent)


def write_whole(
    path: str | os.PathLike[str], data: bytes, *, mode: int | None = None, durable: bool = True
) -> None:
    """Put a file in place with all of the data, or leave what was there."""
    with whole_file(path, mode=mode, durable=durable) as temporary:
        temporary.write_bytes(data)


def write_whole_text(path: str | os.PathLike[str], text: str) -> None:
    """Put a file in place with all of the text, or leave what was there."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Delete the temporary files of killed processes beside a file; no other process may be writing it."""
    target = Path(path)
    start = _temporary_start(target)
    for name in os.listdir(target.parent):
        if name.startswith(start) and _TEMPORARY_END.fullmatch(name, len(start)):
            (target.parent / name).unlink(missing_ok=True)


def refuse_links(path: Path, folder: Path) -> None:
    """Raise OSError if a file to be written is a link, or lies in the folder only by name."""
    if path.is_symlink():
        raise OSError(f"{path}: not written: it is a link; name the file that it leads to")
    try:
        refuse_links_out(path, folder)
    except OSError as error:
        raise OSError(f"{path}: not written: {error}") from None


def refuse_links_out(path: Path, folder: Path) -> None:
    """Raise OSError if a path is a link, or lies in the folder by its name, and leads out of the folder."""
    path = Path(os.path.abspath(path))
    real, real_folder = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    inside = path.is_relative_to(os.path.abspath(folder)) or path.is_relative_to(real_folder)
    if (inside or path.is_symlink()) and not real.is_relative_to(real_folder):
        raise OSError(f"expected a file in {real_folder}, got a link to {real}")


def _temporary_start(target: Path) -> str:
    return f".{target.name[:40]}."  # a name has at most 255 bytes, and a character up to four


def _create(path: Path, mode: int | None) -> int:
    """Make an empty file, and return its mode."""
    descriptor = os.open(path, _CREATING, 0o666 if mode is None else mode & 0o600)
    os.close(descriptor)
    if mode is not None:  # before anything is written, so that it is never readable by others
        path.chmod(mode)
    return stat.S_IMODE(path.stat().st_mode)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, survive a power cut. Where folders cannot be opened, names do so anyway."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
