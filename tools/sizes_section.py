"""Sizes of the detector at equal computing: a section of a page, from sizes.json.

    python tools/sizes_section.py --run RUNS/64x3-300 --run RUNS/128x4-600 ...

writes sizes.json and its picture anew from runs of `hyperheat bugs train` on one corpus, each with the same
`train.max_core_minutes`.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table
from training_runs import RESULTS, read_json, thin, write_json

from hyperheat.files import whole_file
from hyperheat.train import read_metrics

LOG, PICTURE = RESULTS / "sizes.json", "sizes.png"
_SETTINGS = ("dim", "layers", "heads", "ff", "dropout")


def read_sizes(runs: Sequence[Path]) -> list[dict[str, Any]]:
    """What each run reached; they must have learnt from the same samples and be validated on the same ones."""
    described = [read_json(run / "settings.json") for run in runs]
    data = [(one["job"]["shards"], one["job"]["valid"], one["job"]["validation"]) for one in described]
    for run, one in zip(runs, data, strict=True):
        if one != data[0]:
            raise ValueError(f"{run}: expected a run on the data of {runs[0]}, got one on other data")
    return [_read(run, one) for run, one in zip(runs, described, strict=True)]


def _read(run: Path, described: dict[str, Any]) -> dict[str, Any]:
    log = read_metrics(run / "metrics.jsonl")
    curve = [
        {
            "core_hours": round(record["core_seconds"] / 3600, 4),
            "samples": round(record["samples"]),
            **{key: round(record["valid"][key], 4) for key in ("loss", "joint", "loc", "repair")},
        }
        for record in thin([record for record in log if "valid" in record])
    ]
    if not curve:
        raise ValueError(f"{run}: expected a run with validations, got one without")
    (model,) = described["job"]["model"].values()
    train = {key: described["train"][key] for key in ("lr", "schedule", "seed")}
    size = {key: model[key] for key in _SETTINGS}
    return {**size, "largest": described["job"]["largest"], **train, "curve": curve}


def sizes_section(sizes: Sequence[dict[str, Any]]) -> list[str]:
    """A table of what each size reached, and the picture of how."""
    rows = [
        [
            _name(size),
            number(size["largest"]) if size["largest"] else "all",
            f"{size['lr']:g}",
            f"{size['dropout']:g}",
            number(size["curve"][-1]["samples"]),
            f"{size['curve'][-1]['core_hours']:.2f}",
            f"{size['curve'][-1]['loss']:.3f}",
            *(percent(size["curve"][-1][key]) for key in ("joint", "loc", "repair")),
        ]
        for size in sizes
    ]
    heads = ["size", "largest function", "lr", "dropout", "samples", "core-hours"]
    return [
        "## Sizes at equal computing",
        "",
        "One bug in a function or none, from new weights, the same corpus for all; width x layers, and the most nodes that a function to learn from has.",
        "The figures are of the last validation of each run, on functions of all sizes from validation packages; one run each.",
        "",
        *table([*heads, "loss", "joint", "loc", "repair"], rows),
        "",
        f"![loss and joint accuracy on validation packages over core-hours, by size]({PICTURE})",
        "",
    ]


def _name(size: dict[str, Any]) -> str:
    return f"{size['dim']}x{size['layers']}"


def draw(sizes: Sequence[dict[str, Any]], out: Path) -> None:
    """Loss and joint accuracy over core-hours."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for place, key in enumerate(("loss", "joint"), 1):
        axes = figure.add_subplot(1, 2, place, xlabel="core-hours", ylabel=key)
        for size in sizes:
            label = f"{_name(size)}, at most {size['largest'] or 'any number of'} nodes, lr {size['lr']:g}"
            curve = size["curve"]
            axes.plot(
                [point["core_hours"] for point in curve],
                [point[key] for point in curve],
                marker=".",
                label=label,
            )
        axes.grid(alpha=0.3)
    figure.axes[0].legend(fontsize=7)
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=150, format="png")


def main() -> None:
    """Write the log of all sizes and its picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", type=Path, action="append", required=True)
    try:
        sizes = read_sizes(parser.parse_args().run)
    except (ValueError, KeyError, OSError) as error:
        parser.error(str(error))
    write_json(LOG, sizes)
    draw(sizes, LOG.with_name(PICTURE))


if __name__ == "__main__":
    main()
