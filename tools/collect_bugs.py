"""Collect trained detectors into docs/results: bugs.json, bugs-runs.json and pictures of the curves.

    python tools/collect_bugs.py --run heat=RUNS/heat --run gnn=RUNS/gnn --heldout CORPUS --realbugs REALBUGS

A run is a folder of `hyperheat bugs train`, into which the output of `hyperheat bugs eval --json` has been put: as
eval-heldout.json on the test split of the corpus, and as eval-realbugs.json on real bugs, if these are given. The numbers of
parameters may differ by a tenth; `--extra NAME=DIR` adds a run that is not compared.
Afterwards `python tools/write_results.py` writes the page.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from training_runs import (
    RESULTS,
    Run,
    check_parameters,
    find_recipe,
    named_folder,
    read_run,
    thin,
    write_json,
)

from hyperheat.bugs.corpus import CorpusSettings
from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.configuration import to_dict
from hyperheat.train import draw_curves

PICTURES = {"bugs-curves.png": "valid.joint", "bugs-loss.png": "valid.loss"}


def check_comparable(runs: Sequence[Run[BugSettings]], manifests: Mapping[str, dict[str, Any]]) -> None:
    """Refuse runs that have learned from other data, or were asked about other samples."""
    shards = [shard["sha256"] for shard in manifests["heldout"]["shards"] if shard["split"] == "train"]
    for run in runs:
        if run.job["shards"] != shards:
            raise ValueError(f"{run.row}: expected a run on the corpus of --heldout, got one on other shards")
        for data, evaluation in run.evaluations.items():
            asked, expected = (
                {key: e.get(key) for key in ("split", "tag", "without", "limit")} | _numbers(e)
                for e in (evaluation, runs[0].evaluations[data])
            )
            if asked != expected or asked["split"] != "test":
                raise ValueError(
                    f"{run.row}: eval-{data}.json: expected the test samples of {expected}, got {asked}"
                )


def make_rows(runs: Sequence[Run[BugSettings]]) -> list[dict[str, Any]]:
    """What bugs.json holds: one row for each run and data set."""
    return [
        {
            "row": run.row,
            "data": data,
            **{key: run.evaluations[data]["all"][key] for key in ("joint", "loc", "repair", "false_alarms")},
            "samples_seen": int(run.log[-1]["samples"]),
            "parameters": run.evaluations[data]["parameters"],
            "minutes": run.minutes,
        }
        for data in runs[0].evaluations
        for run in runs
    ]


def make_details(
    runs: Sequence[Run[BugSettings]],
    compared: Mapping[str, Path],
    manifests: Mapping[str, dict[str, Any]],
    corpus_seconds: float | None,
) -> dict[str, Any]:
    """What bugs-runs.json holds: the data, and of each run its configuration, curve and figures by kind."""
    return {
        "corpus": _describe_corpus(manifests["heldout"], corpus_seconds),
        "realbugs": _describe_fixes(manifests["realbugs"]) if "realbugs" in manifests else None,
        "runs": [{**_describe_run(run), "extra": run.row not in compared} for run in runs],
    }


def _describe_run(run: Run[BugSettings]) -> dict[str, Any]:
    recipe, changes = find_recipe(RECIPES, run.settings)
    train, last = run.settings.train, run.log[-1]
    validations = [record for record in run.log if "valid" in record]
    best = (min if train.mode == "min" else max)(validations, key=lambda r: r["valid"][train.watch])
    return {
        "row": run.row,
        "recipe": recipe,
        "set": changes,
        "settings": to_dict(run.settings),
        "steps": last["step"],
        "epochs": last["epoch"],
        "best": {"step": best["step"], "samples": int(best["samples"])},
        "curve": [
            {"samples": int(record["samples"]), **{key: record["valid"][key] for key in ("joint", "loss")}}
            for record in thin(validations)
        ],
        "evaluations": {
            data: {key: evaluation[key] for key in ("all", "by_kind")} | {"options": _options(evaluation)}
            for data, evaluation in run.evaluations.items()
        },
    }


def _describe_corpus(manifest: dict[str, Any], seconds: float | None) -> dict[str, Any]:
    counts = manifest["counts"]
    defaults = {field.name: field.default for field in fields(CorpusSettings)}
    settings = {key: manifest["settings"][key] for key in defaults if key in manifest["settings"]}
    return {
        "settings": settings,
        "options": [_flag(key, value) for key, value in settings.items() if value != defaults[key]],
        "samples_per_second": seconds and round(sum(counts["samples"].values()) / seconds, 1),
        "packages_failed": len(manifest["failed"]),
        **{key: counts[key] for key in ("packages", "files", "functions", "samples", "kinds", "dropped")},
    }


def _flag(name: str, value: Any) -> str:
    """A setting as an option of a command."""
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option} {value}"


def _describe_fixes(manifest: dict[str, Any]) -> dict[str, Any]:
    shards = manifest["shards"]
    return {
        "settings": manifest["settings"],
        "repositories": len(shards),
        "samples": sum(shard["samples"] for shard in shards),
        "kinds": sum((Counter(shard["kinds"]) for shard in shards), Counter()),
    }


def _options(evaluation: dict[str, Any]) -> list[str]:
    """What `bugs eval` was told beside the model and the data."""
    chosen = [_flag(key, value) for key in ("tag", "without") for value in evaluation.get(key) or ()]
    return [*chosen, _flag("limit", evaluation["limit"])] if evaluation.get("limit") else chosen


def _numbers(evaluation: dict[str, Any]) -> dict[str, int]:
    return {kind: metrics["samples"] for kind, metrics in evaluation["by_kind"].items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="append", required=True, type=named_folder, metavar="NAME=DIR")
    parser.add_argument(
        "--extra",
        action="append",
        default=[],
        type=named_folder,
        metavar="NAME=DIR",
        help="a run with more or fewer parameters, which is shown beside those that are compared",
    )
    parser.add_argument("--heldout", type=Path, required=True, metavar="DIR", help="the corpus of all runs")
    parser.add_argument("--realbugs", type=Path, metavar="DIR", help="a folder of real bugs")
    parser.add_argument(
        "--corpus-seconds", type=float, help="how long samples were made, as bugs corpus printed"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    given = parser.parse_args(arguments)
    try:
        collect(given)
    except (ValueError, OSError) as error:
        parser.error(str(error))


def collect(given: argparse.Namespace) -> None:
    """Read all that was given before anything is written."""
    named = [*given.run, *given.extra]
    folders = dict(named)
    if len(folders) < len(named):
        raise ValueError(f"run: expected every name once, got {', '.join(name for name, _ in named)}")
    manifests = {"heldout": read_manifest(given.heldout)}
    if given.realbugs is not None:
        manifests["realbugs"] = read_manifest(given.realbugs)
    runs = [read_run(BugSettings, name, folder, list(manifests)) for name, folder in folders.items()]
    check_comparable(runs, manifests)
    compared = dict(given.run)
    check_parameters(
        {run.row: run.evaluations["heldout"]["parameters"] for run in runs if run.row in compared}
    )
    details = make_details(runs, compared, manifests, given.corpus_seconds)
    write_json(given.out / "bugs.json", make_rows(runs))
    write_json(given.out / "bugs-runs.json", details)
    logs = {row: folder / "metrics.jsonl" for row, folder in folders.items()}
    for name, quantity in PICTURES.items():
        draw_curves(logs, quantity, given.out / name)


if __name__ == "__main__":
    main()
