"""Pictures of training runs, from their logs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperheat.files import whole_file
from hyperheat.train.metrics import read_metrics

__all__ = ["draw_curves"]


def draw_curves(runs: Mapping[str, Path], quantity: str, out: Path) -> None:
    """Draw a quantity of each run (`loss`, or `valid.loss` for one of the validation) over the samples seen.

    `runs` gives the `metrics.jsonl` of each name; the ending of `out` decides the format, say .png or .svg.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("curves need matplotlib: pip install 'hyperheat[train]'", name=error.name) from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xlabel="samples seen", ylabel=quantity)
    for name, path in runs.items():
        records = read_metrics(path)
        points = [
            (record["samples"], value)
            for record in records
            if (value := _look_up(record, quantity)) is not None
        ]
        if not points:
            raise ValueError(f"{path}: expected records with {quantity!r}, got {_names(records)}")
        axes.plot(*zip(*points, strict=True), label=name, marker="." if len(points) < 50 else None)
    axes.grid(alpha=0.3)
    axes.legend()
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=150, format=Path(out).suffix.lstrip(".") or "png")


def _look_up(record: Any, quantity: str) -> float | None:
    for key in quantity.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _names(records: list[dict[str, Any]]) -> str:
    found = {key for record in records for key in record if key != "valid"}
    found |= {f"valid.{key}" for record in records for key in record.get("valid", {})}
    return ", ".join(sorted(found)) or "no records"
