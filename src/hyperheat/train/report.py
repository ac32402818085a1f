"""What the first process tells: the log, and on stderr one refreshed line (on a terminal) or a line now and then."""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hyperheat.train.metrics import MetricsLog
from hyperheat.train.settings import TrainSettings
from hyperheat.train.state import State, seconds_left

__all__ = ["Report", "duration"]

_REFRESH = 0.2  # seconds between two writings on a terminal
_PLAIN = 30.0  # and elsewhere


class Report:
    """Keeps the log, and shows the speed since it was made and the time left at that speed."""

    def __init__(self, settings: TrainSettings, run: Path, begin: State) -> None:
        self._settings = settings
        self._begin = replace(begin)
        self._log = MetricsLog(run, step=begin.step, tensorboard=settings.tensorboard)
        self._terminal = sys.stderr.isatty()
        self._shown = time.monotonic()

    def log(self, state: State, values: Mapping[str, object]) -> None:
        """Append a record to the log."""
        place = {"step": state.step, "epoch": state.epoch, "samples": state.samples}
        self._log.write({**place, "seconds": round(state.seconds, 3), **values})

    def show(self, state: State, loss: float) -> None:
        """Show where the run stands, if it is time to."""
        now = time.monotonic()
        if now - self._shown < (_REFRESH if self._terminal else _PLAIN):
            return
        self._shown = now
        rate = (state.samples - self._begin.samples) / max(state.seconds - self._begin.seconds, 1e-9)
        left = duration(seconds_left(self._settings, self._begin, state))
        text = (
            f"step {state.step:,}  epoch {state.epoch}  {rate:,.1f} samples/s  loss {loss:.4f}  {left} left"
        )
        sys.stderr.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        sys.stderr.write(f"\r\x1b[K{text}\n" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        self._log.close()


def duration(seconds: float) -> str:
    """`59 s`, `3:20 min` or `2:05 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
