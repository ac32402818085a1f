"""What a run logs: `metrics.jsonl` and TensorBoard, curves drawn from them, and progress on stderr."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, whole_file, write_whole_text
from hyperheat.progress import Progress, duration
from hyperheat.train.run import State, TrainSettings, seconds_left

__all__ = ["MetricsLog", "RunReport", "draw_curves", "read_metrics"]

_SECONDS_BETWEEN_LINES = 30.0


def read_metrics(path: str | Path) -> list[dict[str, Any]]:
    """The records of a `metrics.jsonl`, without a last line that a killed process left unfinished."""
    path = Path(path)
    records = []
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            record = parse_json(line)
            int(record["step"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path}: line {number}: expected a record with a step, got {line[:80]!r}"
            ) from None
        records.append(record)
    return records


class MetricsLog:
    """Appends records, after dropping those behind the checkpoint, which a resumed run writes again."""

    def __init__(self, run: Path, *, step: int, tensorboard: bool) -> None:
        self._board = _open_board(run / "tensorboard", step) if tensorboard else None
        path = run / "metrics.jsonl"
        kept = [record for record in read_metrics(path) if record["step"] <= step] if path.exists() else []
        write_whole_text(path, "".join(map(_line, kept)))
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record with a step."""
        self._file.write(_line(record))
        self._file.flush()
        if self._board is not None:
            for name, value in _scalars(record):
                self._board.add_scalar(name, value, record["step"])

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record) + "\n"


def _scalars(record: Mapping[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    found = []
    for name, value in record.items():
        found += _scalars(value, f"{name}/") if isinstance(value, Mapping) else [(prefix + name, value)]
    return [(name, value) for name, value in found if name not in ("step", "epoch")]


def _open_board(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ImportError(
            "tensorboard=true needs the package: pip install tensorboard", name=error.name
        ) from None
    return SummaryWriter(str(folder), purge_step=step + 1)


class RunReport:
    """Keeps the log, and shows the speed since it was made and the time left at that speed."""

    def __init__(self, settings: TrainSettings, run: Path, begin: State) -> None:
        self._settings = settings
        self._begin = replace(begin)
        self._log = MetricsLog(run, step=begin.step, tensorboard=settings.tensorboard)
        self._progress = Progress("training", every=_SECONDS_BETWEEN_LINES)

    def log(self, state: State, values: Mapping[str, object]) -> None:
        """Append a record to the log."""
        place = {"step": state.step, "epoch": state.epoch, "samples": state.samples}
        times = {"seconds": round(state.seconds, 3), "core_seconds": round(state.core_seconds, 3)}
        self._log.write({**place, **times, **values})

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


def draw_curves(runs: Mapping[str, Path | Sequence[Mapping[str, Any]]], quantity: str, out: Path) -> None:
    """Draw a quantity of each run (`loss`, or `valid.loss` for one of the validation) over the samples seen.

    `runs` gives the `metrics.jsonl` of each name, or its records; the ending of `out` decides the format, say .png or .svg.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("curves need matplotlib: pip install 'hyperheat[train]'", name=error.name) from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xlabel="samples seen", ylabel=quantity)
    for name, run in runs.items():
        records = read_metrics(run) if isinstance(run, Path) else run
        points = [
            (record["samples"], value)
            for record in records
            if (value := _look_up(record, quantity)) is not None
        ]
        if not points:
            place = run if isinstance(run, Path) else name
            raise ValueError(f"{place}: expected records with {quantity!r}, got {_names(records)}")
        axes.plot(*zip(*points, strict=True), label=name, marker="." if len(points) < 50 else None)
    axes.grid(alpha=0.3)
    axes.legend()
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=150, format=Path(out).suffix.lstrip(".") or "png")


def _look_up(record: Any, quantity: str) -> float | None:
    for key in quantity.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _names(records: Sequence[Mapping[str, Any]]) -> str:
    found = {key for record in records for key in record if key != "valid"}
    found |= {f"valid.{key}" for record in records for key in record.get("valid", {})}
    return ", ".join(sorted(found)) or "no records"
