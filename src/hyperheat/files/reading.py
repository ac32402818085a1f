"""Reading a file that may be anything: a pipe, a device, a link, too large, gone."""

import os
import stat

__all__ = ["SkippedFile", "kind_of_file", "read_regular", "why"]

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
