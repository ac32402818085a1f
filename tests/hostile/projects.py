"""Projects made to do harm to whoever checks them, and the command as a user runs it on them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["GOOD", "Ran", "hyperheat"]

GOOD = "def area(width, height):\n    return width * width + height\n"


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def hyperheat(
    *words: str, cwd: Path, seconds: float = 60, before: Sequence[str] = (), **environment: str
) -> Ran:
    """Run `hyperheat` with these words, after others such as `bash -c`; a hang is an error."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "hyperheat", *words],
        cwd=cwd,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        env={**os.environ, **environment},
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
