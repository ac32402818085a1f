"""How the detector that comes with the package was trained, step by step: a section of a page, from detector.json.

    python tools/detector_page.py --name "bugs by habit" --run RUNS/habit --planted planted.json --released released.json

adds a step: a run of `hyperheat bugs train` that began with the weights of the step before, or several that were averaged,
and the outputs of `hyperheat bugs eval --json` on planted bugs and of `--clean CORPUS --json` on released bugs with their
repaired functions, all of validation packages. Without `--run`, only the evaluations of a detector are added, for comparison.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table
from training_runs import RESULTS, read_json, thin, write_json

from hyperheat.files import whole_file
from hyperheat.train import read_metrics

LOG, PICTURE = RESULTS / "detector.json", "detector.png"
_FIGURES = ("joint", "repair", "false_alarms", "found", "quiet")
_RATES = ("100", "30", "10", "3")


def read_step(name: str, runs: Sequence[Path], planted: Path, released: Path) -> dict[str, Any]:
    """What one run did, or several that were averaged, and what was reached."""
    evaluations = {"planted": read_json(planted), "released": read_json(released)}
    for data, evaluation in evaluations.items():
        if evaluation["split"] != "valid":
            raise ValueError(f"{data}: expected figures of the split valid, got {evaluation['split']}")
    step: dict[str, Any] = {"name": name, "samples": 0, "core_minutes": 0.0, "settings": {}, "curve": []}
    if runs:
        logs = [read_metrics(run / "metrics.jsonl") for run in runs]
        settings = [_settings(read_json(run / "settings.json")) for run in runs]
        step["settings"] = settings[0] if len(runs) == 1 else settings
        step["samples"] = round(sum(log[-1]["samples"] for log in logs))
        step["core_minutes"] = round(sum(log[-1]["core_seconds"] for log in logs) / 60, 1)
        validated = [[record for record in log if "valid" in record] for log in logs]
        step["curve"] = thin([_together(records) for records in zip(*validated, strict=False)])
    figures = {
        data: {key: evaluation["all"][key] for key in ("samples", "buggy", *_FIGURES)}
        for data, evaluation in evaluations.items()
    }
    quiet = {key: evaluations["released"][key] for key in ("clean_functions", "recall_at_alarms")}
    return {**step, "weights_sha256": evaluations["planted"]["weights_sha256"], **figures, **quiet}


def _settings(described: dict[str, Any]) -> dict[str, Any]:
    """What a run was made with."""
    chosen = ("largest", "dense_steps", "clean_per_real", "planted_per_real", "forget")
    trained = ("lr", "schedule", "precision", "seed", "batches_per_step")
    return {
        **{key: described["job"][key] for key in chosen},
        **{key: described["train"][key] for key in trained},
        "shards": len(described["job"]["shards"]),
    }


def _together(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """One point of the curve: the mean figures of runs that go on side by side, after all that they have seen."""
    figures = {key: [record["valid"][key] for record in records] for key in records[0]["valid"]}
    return {
        "samples": round(sum(record["samples"] for record in records)),
        "minutes": sum(record["core_seconds"] for record in records) / 60,
        **{key: sum(values) / len(values) for key, values in figures.items()},
    }


def detector_section(steps: Sequence[dict[str, Any]]) -> list[str]:
    """A table of what each step brought."""
    hours = sum(step["core_minutes"] for step in steps) / 60
    rows = [
        [
            step["name"],
            number(step["samples"]) if step["samples"] else "",
            f"{step['core_minutes']:.0f}" if step["core_minutes"] else "",
            *(percent(step[data][key]) for data in ("planted", "released") for key in _COLUMNS[data]),
            *(percent(step["recall_at_alarms"][rate]) for rate in _RATES),
        ]
        for step in steps
    ]
    last = steps[-1]
    return [
        "## The built-in detector, step by step",
        "",
        f"Each step begins with the weights of the one before; together they took {hours:.1f} hours of a core. All figures",
        "are of validation packages and for comparing steps only: planted bugs, drawn evenly "
        f"({number(last['planted']['samples'])} samples), and {number(last['released']['buggy'])} released",
        "bugs with as many fixed functions. *found*: the best finding is right, even where no bug is more probable. *quiet*: found by findings",
        "surer than those of all but one in a hundred functions without a bug. The last columns are the share of released bugs that is found at so",
        f"many alarms per 1,000 of {number(last['clean_functions'])} functions without a bug.",
        "",
        *table(
            [
                "step",
                "samples",
                "core minutes",
                *(f"{data}: {key.replace('_', ' ')}" for data in _COLUMNS for key in _COLUMNS[data]),
                *(f"at {rate} alarms" for rate in _RATES),
            ],
            rows,
        ),
        "",
        f"![figures on validation packages over hours of a core]({PICTURE})",
        "",
        "The curve is measured during training, on functions of at most 600 nodes of the validation packages of the corpus.",
        "",
        *(line for step in steps if step.get("note") for line in (step["note"], "")),
        "The log of all runs is `detector.json`; its last step has the weights of the package.",
        "",
    ]


_COLUMNS = {
    "planted": ("joint", "repair", "false_alarms", "quiet"),
    "released": ("found", "false_alarms"),
}


def draw(steps: Sequence[dict[str, Any]], out: Path) -> None:
    """Figures during training over the hours of a core that runs took, with a line where a step begins."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(
        xlabel="hours of a core", ylabel="share", title="planted bugs of validation packages"
    )
    begun, points = 0.0, []
    for step in steps:
        if step["core_minutes"]:
            axes.axvline(begun, color="grey", alpha=0.4, linewidth=0.8)
            axes.annotate(
                step["name"], (begun, 0.02), rotation=90, fontsize=8, xycoords=("data", "axes fraction")
            )
        planted = [
            point for point in step["curve"] if "joint" in point
        ]  # a run may validate on real bugs alone
        points += [(begun + point["minutes"] / 60, point) for point in planted]
        begun += step["core_minutes"] / 60
    for key in ("joint", "repair"):
        axes.plot([x for x, _ in points], [point[key] for _, point in points], marker=".", label=key)
    axes.grid(alpha=0.3)
    axes.legend()
    with whole_file(out) as temporary:
        figure.savefig(temporary, dpi=150, format="png")


def main() -> None:
    """Add a step to the log, and draw the curves anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", required=True)
    parser.add_argument("--run", type=Path, nargs="+", default=[])
    parser.add_argument("--planted", type=Path, required=True)
    parser.add_argument("--released", type=Path, required=True)
    parser.add_argument("--note", help="a paragraph about how the step was chosen")
    arguments = parser.parse_args()
    steps = json.loads(LOG.read_text(encoding="utf-8")) if LOG.exists() else []
    try:
        step = read_step(arguments.name, arguments.run, arguments.planted, arguments.released)
        steps.append(step if arguments.note is None else {**step, "note": arguments.note})
    except ValueError as error:
        parser.error(str(error))
    write_json(LOG, steps)
    draw(steps, LOG.with_name(PICTURE))


if __name__ == "__main__":
    main()
