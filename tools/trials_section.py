"""What was tried on the way to a better detector: a section of a page, from trials.json.

    python tools/trials_section.py --name "bugs drawn by habit" --run RUNS/habit [--recall recall.json]

adds a trial: a run of `hyperheat bugs train --real` that ended, at the validation with the lowest loss on real bugs, and
perhaps the output of `hyperheat bugs eval --clean CORPUS --json` on released bugs of validation packages.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from tables import number, percent, table
from training_runs import RESULTS, read_json, write_json

from hyperheat.train import read_metrics

LOG = RESULTS / "trials.json"
_FIGURES = ("real_loss", "real_found", "real_false_alarms", "real_repair", "joint", "false_alarms", "quiet")
_RATES = ("100", "30", "10", "3")


def read_trial(name: str, run: Path, recall: Path | None) -> dict[str, Any]:
    """What a run reached on validation packages."""
    log, described = read_metrics(run / "metrics.jsonl"), read_json(run / "settings.json")
    validated = [record for record in log if "valid" in record and "real_loss" in record["valid"]]
    if not validated:
        raise ValueError(f"{run}: expected a run that validates on real bugs, got another one")
    best = min(validated, key=lambda record: record["valid"]["real_loss"])["valid"]
    found = {} if recall is None else _recall(read_json(recall))
    return {
        "name": name,
        "samples": round(log[-1]["samples"]),
        "seed": described["train"]["seed"],
        "lr": described["train"]["lr"],
        **{key: described["job"][key] for key in ("clean_per_real", "planted_per_real")},
        **{key: round(best[key], 4) for key in _FIGURES},
        **found,
    }


def _recall(evaluation: dict[str, Any]) -> dict[str, Any]:
    if evaluation["split"] != "valid":
        raise ValueError(f"recall: expected figures of the split valid, got {evaluation['split']}")
    return {
        "bugs": evaluation["all"]["buggy"],
        "functions": evaluation["clean_functions"],
        "recall_at_alarms": {rate: evaluation["recall_at_alarms"][rate] for rate in _RATES},
    }


def trials_section(trials: Sequence[dict[str, Any]]) -> list[str]:
    """A table of what was tried."""
    rows = [
        [
            trial["name"],
            number(trial["samples"]),
            f"{trial['real_loss']:.3f}",
            *(percent(trial[key]) for key in ("real_found", "real_false_alarms", "joint", "quiet")),
            *(_share(trial, rate) for rate in _RATES),
        ]
        for trial in trials
    ]
    bugs, functions = (max(trial.get(key, 0) for trial in trials) for key in ("bugs", "functions"))
    heads = [
        "trial",
        "samples",
        "real: loss",
        "real: found",
        "real: false alarms",
        "planted: joint",
        "planted: quiet",
    ]
    return [
        "## Trials",
        "",
        "Second phases that were compared, one run each; those after the first go on from its state. None of these is the detector of the",
        "package. All figures are of validation packages: real bugs, released and committed, with their fixed functions, and planted bugs.",
        f"The last columns are the share of {number(bugs)} released bugs that is found at so many alarms per 1,000 of "
        f"{number(functions)} functions without a bug:",
        "few cases, so differences of one or two points mean little. The state with the lowest loss on real bugs was kept.",
        "",
        *table([*heads, *(f"at {rate} alarms" for rate in _RATES)], rows),
        "",
    ]


def _share(trial: dict[str, Any], rate: str) -> str:
    share = trial.get("recall_at_alarms", {}).get(rate)
    return "" if share is None else percent(share)


def main() -> None:
    """Add a trial to the log."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--recall", type=Path)
    given = parser.parse_args()
    trials = json.loads(LOG.read_text(encoding="utf-8")) if LOG.exists() else []
    try:
        trials.append(read_trial(given.name, given.run, given.recall))
    except (ValueError, KeyError, OSError) as error:
        parser.error(str(error))
    write_json(LOG, trials)


if __name__ == "__main__":
    main()
