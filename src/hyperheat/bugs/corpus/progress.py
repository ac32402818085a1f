"""How far a build is: one line that changes on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Progress"]

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Packages, or whatever is worked on, done of all, the rate of what is counted, and the time left at that rate."""

    def __init__(
        self,
        title: str,
        total: int,
        unit: str,
        *,
        what: str = "packages",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._total, self._unit, self._what = title, total, unit, what
        self._stream = stream or sys.stderr
        self._clock = clock
        self._start = self._shown = clock()
        self._done = self._count = 0

    def add(self, count: int) -> None:
        """One more is done, with so many of what is counted."""
        self._done += 1
        self._count += count
        now = self._clock()
        if self._stream.isatty():
            self._stream.write(f"\r\x1b[K{self.line(now)}")
            self._stream.flush()
        elif now - self._shown >= _SECONDS_BETWEEN_LINES or self._done == self._total:
            self._shown = now
            self._stream.write(self.line(now) + "\n")
            self._stream.flush()

    def say(self, message: str) -> None:
        """Show a line of its own."""
        start = "\r\x1b[K" if self._stream.isatty() else ""
        self._stream.write(f"{start}{message}\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line."""
        if self._stream.isatty() and self._done:
            self._stream.write("\n")

    def line(self, now: float) -> str:
        """The state in words."""
        elapsed = max(now - self._start, 1e-6)
        left = elapsed / self._done * (self._total - self._done) if self._done else 0.0
        minutes, seconds = divmod(round(left), 60)
        return (
            f"{self._title}: {self._done:,} of {self._total:,} {self._what}, {self._count:,} {self._unit}, "
            f"{self._count / elapsed:,.0f} {self._unit}/s, {minutes}:{seconds:02d} left"
        )
