"""Files that were made to do harm by what they are or how they are called, rather than by what they hold."""

import os
import socket
from pathlib import Path

__all__ = ["NAMES", "write_strange_files"]

NAMES = (
    "new\nline.py",
    "carriage\rreturn.py",
    "escape\x1b[31m.py",
    "::error file=x,line=1::y.py",
    "##[command]x.py",
    "%0A::warning::z.py",
    "<script>alert(1)</script>.py".replace("/", "\u2215"),
    "quote'\".py",
    "back\\slash.py",
    " .py",
    "-rf.py",
    "turned\u202eyp.py",
    "a" * 240 + ".py",
    "\N{SNOWMAN}.py",
    os.fsdecode(b"not-\xff-text.py"),
)
"""Names of files that hold ordinary code."""


def write_strange_files(folder: Path) -> dict[str, str]:
    """Put strange files into a folder; give the reason, or a part of it, for which each is left out by its name.

    Sockets have short paths only, so theirs is left out where the folder has a long one.
    """
    os.mkfifo(folder / "pipe.py")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "one.py").symlink_to("two.py")
    (folder / "two.py").symlink_to("one.py")
    (folder / "nowhere.py").symlink_to("absent.py")
    (folder / "out.py").symlink_to("/etc/hostname")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "around").symlink_to(folder, target_is_directory=True)
    (folder / "folder.py").mkdir()
    (folder / "huge.py").write_bytes(b"")
    os.truncate(folder / "huge.py", 50_000_000_000)
    reasons = {
        "pipe.py": "got a pipe",
        "loop.py": "a link that leads",
        "one.py": "a link that leads",
        "two.py": "a link that leads",
        "nowhere.py": "a link that leads to nothing",
        "out.py": "a link that leads out of what is scanned",
        "zero.py": "a link that leads out of what is scanned",
        "huge.py": "expected at most 1000000 bytes, got 50000000000",
    }
    if len(os.fsencode(folder)) < 90:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "socket.py"))
        reasons["socket.py"] = "got a socket"
    return reasons
