"""What is known of a finished run: one JSON file each in the folder `rows`, whole or not there at all."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, write_whole_text

__all__ = ["RowRecord", "find_record", "read_records", "run_name", "write_record"]

_FORMAT = "hyperheat-row"


@dataclass(frozen=True, kw_only=True)
class RowRecord:
    """One run of one row."""

    format: str = _FORMAT
    task: str
    """bugs or kg"""
    row: str
    size: str
    seed: int
    set: list[str]
    """Settings that differ from those of the row, as the command was given them."""
    samples: int
    """That the run was to see."""
    whole: int
    """That a complete run sees; if there are more of them, this run was cut."""
    samples_seen: int
    steps: int
    data: dict[str, Any]
    settings: dict[str, Any]
    parameters: int
    minutes: float
    processor_seconds: float
    training_samples_per_second: float
    """Of processor time."""
    inference_samples_per_second: float
    peak_mb: int
    valid: dict[str, Any]
    final: dict[str, Any] = field(default_factory=dict)
    """By data set."""
    curve: list[dict[str, float]]
    command: str
    hyperheat: str
    python: str
    torch: str

    @property
    def cut(self) -> bool:
        """Whether the run saw fewer samples than a complete one."""
        return self.samples < self.whole


def run_name(
    *, task: str, row: str, size: str, seed: int, set: Sequence[str], data: str, samples: int
) -> str:
    """The name of a run's file and folder; `data` is the hash of what it learns from."""
    other = hashlib.sha256("\0".join([data, *sorted(set)]).encode()).hexdigest()[:8]
    return f"{task}-{size}-{row}-seed{seed}-{samples}-{other}"


def write_record(work: Path, name: str, record: RowRecord) -> Path:
    """Write the file of a run."""
    path = work / "rows" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole_text(path, json.dumps(asdict(record), indent=1) + "\n")
    return path


def read_records(work: Path) -> list[RowRecord]:
    """All runs that have ended in a folder, by name."""
    return [read_record(path) for path in sorted((work / "rows").glob("*.json"))]


def read_record(path: Path) -> RowRecord:
    """The run in a file."""
    try:
        return record_of(parse_json(path.read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:
        raise ValueError(
            f"{path}: not the record of a run ({error}); delete it to run the row again"
        ) from None


def record_of(values: Any) -> RowRecord:
    """A record from plain values."""
    if not isinstance(values, dict) or values.get("format") != _FORMAT:
        raise ValueError(f'expected "format": "{_FORMAT}", got another kind of file')
    known = {f.name: f for f in fields(RowRecord)}
    wrong = sorted(values.keys() ^ known.keys())
    if wrong:
        raise ValueError(f"expected exactly the values of a run, got a difference in {', '.join(wrong)}")
    kinds = {"int": int, "str": str, "float": (int, float)}
    for name, f in known.items():
        kind = kinds.get(str(getattr(f.type, "__name__", f.type)), object)
        if not isinstance(values[name], kind):
            raise ValueError(f"{name}: expected {getattr(f.type, '__name__', f.type)}, got {values[name]!r}")
    return RowRecord(**values)


def find_record(
    records: Iterable[RowRecord],
    *,
    task: str,
    row: str,
    size: str,
    seed: int,
    set: Sequence[str],
    data: str,
    samples: int,
) -> RowRecord | None:
    """The run of a row on some data that saw at least so many samples, the longest."""
    asked = (task, row, size, seed, sorted(set), data)
    found = [
        record
        for record in records
        if (record.task, record.row, record.size, record.seed, sorted(record.set), record.data["sha256"])
        == asked
        and record.samples >= samples
    ]
    return max(found, key=lambda record: record.samples, default=None)
