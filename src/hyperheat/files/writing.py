"""Writing a file whole or not at all, and only where it was asked for.

The data goes to a new file beside the target, which then takes its name. A process that is killed, a full disk or a
power cut leaves the old file or the new one. A link in the place of the target is replaced, never followed.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from hyperheat.files.reading import kind_of_file

__all__ = ["refuse_links", "refuse_links_out", "remove_leftovers", "sync", "whole_file", "write_whole"]

_TEMPORARY_END = re.compile(r"\d+-[0-9a-f]{8}\.tmp")
_CREATING = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
)


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, mode: int | None = None, durable: bool = True
) -> Iterator[Path]:
    """Give the path of a new, empty file to write to; at the end it takes the name `path`, on an error it is deleted.

    It has the given mode, or else that of the file before it. Unless it need not be `durable`, it survives a power cut
    once this is done. Raises OSError, also for anything but a regular file or a link, which would be lost.
    """
    target = Path(path)
    before = target.lstat().st_mode if os.path.lexists(target) else None
    if before is not None and not (stat.S_ISREG(before) or stat.S_ISLNK(before)):
        raise OSError(f"{target}: expected a regular file or nothing, got {kind_of_file(before)}")
    if mode is None and before is not None and stat.S_ISREG(before):
        mode = stat.S_IMODE(before)
    temporary = target.with_name(f"{_temporary_start(target)}{os.getpid()}-{token_hex(4)}.tmp")
    try:
        _create(temporary, mode)
        yield temporary
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


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Delete what processes that were killed while they wrote a file left beside it; nobody may be writing it now."""
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


def _create(path: Path, mode: int | None) -> None:
    descriptor = os.open(path, _CREATING, 0o666 if mode is None else mode & 0o600)
    os.close(descriptor)
    if mode is not None:  # before anything is written, so that nobody reads who may not
        path.chmod(mode)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, survive a power cut. Where folders cannot be opened, names do so anyway."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
