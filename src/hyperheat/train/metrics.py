"""The log of a run: `metrics.jsonl`, and TensorBoard beside it if asked for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, whole_file

__all__ = ["MetricsLog", "read_metrics"]


def read_metrics(path: str | Path) -> list[dict[str, Any]]:
    """The records of a `metrics.jsonl`; a last line that a killed process left unfinished is left out."""
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
    """Appends records; what a resumed run will write again, the steps after its checkpoint, is cut off first."""

    def __init__(self, run: Path, *, step: int, tensorboard: bool) -> None:
        self._board = _open_board(run / "tensorboard", step) if tensorboard else None
        path = run / "metrics.jsonl"
        kept = [record for record in read_metrics(path) if record["step"] <= step] if path.exists() else []
        with whole_file(path) as temporary:
            temporary.write_text("".join(map(_line, kept)), encoding="utf-8")
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
