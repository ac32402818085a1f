"""The one progress display: a bar on a terminal, a plain line now and then anywhere else.

    with Progress("Checking", total=len(files), unit="files", counted="functions") as progress:
        for file in files:
            progress.advance(len(check(file)))

Everything goes to standard error. A log gets no control characters, and work that ends within half a second draws
nothing at all, so `rich` is imported only when a bar appears. A stream that is closed or full never stops the work.
"""

import io
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress", "duration"]

_DELAY = 0.5
"""Seconds before a bar appears."""
_REFRESH = 0.1
"""Seconds between two drawings of a bar."""


class Progress:
    """How much is done, how fast it goes and how long it will take.

    Each call of `advance` says that one more `unit` of `total` is done, with so many `counted` things in it. A unit that
    takes long can say with `advance_part` how much of it is done. Where the work has its own measure, call `show`
    instead. `every` is the number of seconds between lines in a log; None
    writes none. `quiet` hides the progress, but not what `say` says.
    """

    def __init__(
        self,
        title: str,
        *,
        total: int | None = None,
        unit: str = "",
        counted: str = "",
        every: float | None = 10.0,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._total, self._unit, self._counted = title, total, unit, counted
        self._every, self._quiet = every, quiet
        self._output = _Output(stream or sys.stderr)
        self._clock = clock
        self._start = self._shown = clock()
        self._done = self._count = 0
        self._parts: dict[object, tuple[int, int]] = {}
        self._bar: Bar | None = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def advance(self, count: int = 0, *, of: object = None) -> None:
        """One more is done, with `count` of what is counted; `of` is what it was called while parts of it were done."""
        self._parts.pop(of, None)
        self._done += 1
        self._count += count
        self._show_counts(last=self._done == self._total)

    def advance_part(self, of: object, done: int, total: int) -> None:
        """Of a unit that is not yet done, so many of the counted things in it are, out of a total."""
        self._parts[of] = done, total
        self._show_counts()

    def _show_counts(self, *, last: bool = False) -> None:
        if self._is_due(last=last):
            self._put(self._units() / self._total if self._total else None, self._state())

    def _units(self) -> float:
        """The units that are done, those that were begun in part."""
        return self._done + sum(done / total for done, total in self._parts.values() if total)

    def show(self, fraction: float | None, state: str) -> None:
        """Show a state in words, and the fraction that is done if it is known."""
        if self._is_due():
            self._put(fraction, state)

    def say(self, message: str) -> None:
        """Write a line above the bar."""
        from hyperheat.visible_text import visible_line

        if self._bar is None:
            self._output.write(f"{visible_line(message)}\n")
        else:
            self._bar.console.print(visible_line(message), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _is_due(self, *, last: bool = False) -> bool:
        """Whether it is time to show something; the last state is always shown in a log."""
        if self._quiet or (self._every is None and not self._output.is_terminal):
            return False
        now = self._clock()
        wait = self._every if not self._output.is_terminal else _REFRESH if self._bar else _DELAY
        if now - self._shown < (wait or 0) and not (last and not self._output.is_terminal):
            return False
        self._shown = now
        return True

    def _put(self, fraction: float | None, state: str) -> None:
        if not self._output.is_terminal:
            self._output.write(f"{self._title}: {state}\n")
            return
        if self._bar is None:
            self._bar = _draw_bar(self._output, self._title, has_end=fraction is not None)
        self._bar.update(self._bar.task_ids[0], completed=fraction or 0.0, state=state, refresh=True)

    def _state(self) -> str:
        """What is done, the rate, and the time left at that rate."""
        seconds = max(self._clock() - self._start, 1e-6)
        of_all = "" if self._total is None else f" of {self._total:,}"
        parts = [f"{self._done:,}{of_all} {self._unit}"]
        count = self._count + sum(done for done, _ in self._parts.values())
        if self._counted:
            parts.append(f"{count:,} {self._counted}")
        number, name = (count, self._counted) if self._counted else (self._done, self._unit)
        parts.append(f"{number / seconds:,.{0 if number / seconds >= 10 else 1}f} {name}/s")
        if self._total is not None and (units := self._units()):
            parts.append(f"{duration(seconds / units * (self._total - units))} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """`59 s`, `3:20 min` or `2:05 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


class _Output(io.TextIOBase):
    """A stream that drops what cannot be written."""

    def __init__(self, stream: TextIO) -> None:  # None where Python has no standard error
        self._stream = stream
        try:
            self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        except (AttributeError, ValueError):  # there is no stream, or it is closed
            self.is_terminal = False

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str, /) -> int:
        try:
            self._stream.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
            self._stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
        return len(text)


def _draw_bar(output: _Output, title: str, *, has_end: bool) -> "Bar":
    """A bar that is drawn only on request, without a thread, and that disappears when it stops."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    class Screen(Console):
        def show_cursor(self, show: bool = True) -> bool:
            return False  # a process that is killed must not leave the terminal without a cursor

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        *([BarColumn(bar_width=30)] if has_end else []),
        TextColumn("{task.fields[state]}", markup=False),
        console=Screen(file=cast(TextIO, output), force_terminal=True, force_jupyter=False),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar.add_task(title, total=1.0, state="")
    bar.start()
    return bar
