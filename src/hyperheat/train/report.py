"""What the first process reports: the log in the folder of the run, and the progress on stderr."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hyperheat.progress import Progress, duration
from hyperheat.train.metrics import MetricsLog
from hyperheat.train.settings import TrainSettings
from hyperheat.train.state import State, seconds_left

__all__ = ["Report"]

_SECONDS_BETWEEN_LINES = 30.0


class Report:
    """Keeps the log, and shows the speed since it was made and the time left at that speed."""

    def __init__(self, settings: TrainSettings, run: Path, begin: State) -> None:
        self._settings = settings
        self._begin = replace(begin)
        self._log = MetricsLog(run, step=begin.step, tensorboard=settings.tensorboard)
        self._progress = Progress("training", every=_SECONDS_BETWEEN_LINES)

    def log(self, state: State, values: Mapping[str, object]) -> None:
        """Append a record to the log."""
        place = {"step": state.step, "epoch": state.epoch, "samples": state.samples}
        self._log.write({**place, "seconds": round(state.seconds, 3), **values})

    def show(self, state: State, loss: float) -> None:
        """Show where the run stands, if it is time to."""
        elapsed = max(state.seconds - self._begin.seconds, 1e-9)
        left = seconds_left(self._settings, self._begin, state)
        rate = (state.samples - self._begin.samples) / elapsed
        self._progress.show(
            state.seconds / max(state.seconds + left, 1e-9),
            f"step {state.step:,}, epoch {state.epoch}, {rate:,.1f} samples/s, loss {loss:.4f}, {duration(left)} left",
        )

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._progress.say(text)

    def close(self) -> None:
        """Close the log and remove the bar."""
        self._progress.close()
        self._log.close()
