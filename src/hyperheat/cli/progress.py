"""How far a scan is: one line on a terminal, nothing elsewhere."""

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from hyperheat.check.records import ScannedFile

__all__ = ["Progress"]

_QUIET_SECONDS = 0.5  # a scan that is over sooner shows nothing
_SECONDS_BETWEEN = 0.1
_CLEAR = "\x1b[K"  # to the end of the line


class Progress:
    """The files that are done of all, rewritten a few times a second, and gone at the end."""

    def __init__(
        self,
        total: int,
        *,
        quiet: bool,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._clock = clock
        self._next = clock() + _QUIET_SECONDS
        self._files = self._functions = 0
        self._visible = False
        self._on = not quiet and self._stream.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible:
            self._stream.write(f"\r{_CLEAR}")
            self._stream.flush()

    def tell(self, file: ScannedFile) -> None:
        """One more file is done."""
        self._files += 1
        self._functions += len(file.functions)
        now = self._clock()
        if self._on and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._visible = True
            self._stream.write(
                f"\rChecking: {self._files} of {self._total} files, {self._functions} functions{_CLEAR}"
            )
            self._stream.flush()
