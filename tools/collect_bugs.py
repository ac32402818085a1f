"""Collect trained detectors into docs/results: bugs.json, bugs-runs.json and pictures of the curves.

    python tools/collect_bugs.py --run heat=RUNS/heat --run gnn=RUNS/gnn --heldout CORPUS --realbugs REALBUGS

A run is a folder of `hyperheat bugs train`, into which the output of `hyperheat bugs eval --json` has been put: as
eval-heldout.json on the test split of the corpus, and as eval-realbugs.json on real bugs, if these are given.
Afterwards `python tools/write_results.py` writes the page.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus import Settings as CorpusSettings
from hyperheat.bugs.dataset import read_manifest
from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.hypergraph.files import whole_file
from hyperheat.train import draw_curves, from_dict, override, read_metrics, to_dict
from hyperheat.train.override import differences

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PICTURES = {"bugs-curves.png": "valid.joint", "bugs-loss.png": "valid.loss"}
_POINTS = 60
"""Of a curve in bugs-runs.json."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A row of the comparison: what was trained, how it went, and what it is worth on each data set."""

    row: str
    settings: BugSettings
    shards: list[str]
    log: list[dict[str, Any]]
    evaluations: dict[str, dict[str, Any]]

    @property
    def validations(self) -> list[dict[str, Any]]:
        """The records of the log that have figures of the validation split."""
        return [record for record in self.log if "valid" in record]


def read_run(row: str, folder: Path, data: Sequence[str]) -> Run:
    """Read the folder of a run, with its evaluations on the given data."""
    described = _read(folder / "settings.json")
    names = {field.name for field in fields(BugSettings)}
    plain = {key: value for key, value in described["job"].items() if key in names}
    run = Run(
        row=row,
        settings=from_dict(BugSettings, {**plain, "train": described["train"]}),
        shards=described["job"]["shards"],
        log=read_metrics(folder / "metrics.jsonl"),
        evaluations={name: _read(folder / f"eval-{name}.json") for name in data},
    )
    if not run.validations:
        raise ValueError(f"{folder / 'metrics.jsonl'}: expected a validation, got none")
    return run


def check_comparable(runs: Sequence[Run], manifests: Mapping[str, dict[str, Any]]) -> None:
    """Refuse runs that have learned from other data, or were asked about other samples."""
    shards = [shard["sha256"] for shard in manifests["heldout"]["shards"] if shard["split"] == "train"]
    for run in runs:
        if run.shards != shards:
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


def make_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What bugs.json holds: one row for each run and data set."""
    return [
        {
            "row": run.row,
            "data": data,
            **{key: run.evaluations[data]["all"][key] for key in ("joint", "loc", "repair", "false_alarms")},
            "samples_seen": int(run.log[-1]["samples"]),
            "parameters": run.evaluations[data]["parameters"],
            "minutes": round(run.log[-1]["seconds"] / 60, 1),
        }
        for data in runs[0].evaluations
        for run in runs
    ]


def make_details(
    runs: Sequence[Run], manifests: Mapping[str, dict[str, Any]], corpus_seconds: float | None
) -> dict[str, Any]:
    """What bugs-runs.json holds: the data, and of each run its configuration, curve and figures by kind."""
    return {
        "corpus": _describe_corpus(manifests["heldout"], corpus_seconds),
        "realbugs": _describe_fixes(manifests["realbugs"]) if "realbugs" in manifests else None,
        "runs": [_describe_run(run) for run in runs],
    }


def _describe_run(run: Run) -> dict[str, Any]:
    recipe, changes = find_recipe(run.settings)
    train, last = run.settings.train, run.log[-1]
    best = (min if train.mode == "min" else max)(run.validations, key=lambda r: r["valid"][train.watch])
    step = -(-len(run.validations) // _POINTS)
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
            for record in run.validations[::-step][::-1]
        ],
        "evaluations": {
            data: {key: evaluation[key] for key in ("all", "by_kind")} | {"options": _options(evaluation)}
            for data, evaluation in run.evaluations.items()
        },
    }


def find_recipe(settings: BugSettings) -> tuple[str, list[str]]:
    """The recipe that settings are nearest to, and the assignments of `--set` that lead from it to them."""
    plain = to_dict(settings)
    distances = {
        name: differences(_without_class(to_dict(make())), _without_class(plain))
        for name, make in RECIPES.items()
        if type(make().model) is type(settings.model)
    }
    name = min(distances, key=lambda name: len(distances[name]))
    changes = [f"{key}={_text(value)}" for key, _, value in distances[name]]
    if override(RECIPES[name](), changes) != settings:
        raise ValueError(f"settings: expected a recipe with changes, got {plain}")
    return name, changes


def _without_class(plain: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of the model directly below `model`, as `--set` names them."""
    (inner,) = plain["model"].values()
    return {**plain, "model": inner}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _describe_corpus(manifest: dict[str, Any], seconds: float | None) -> dict[str, Any]:
    counts = manifest["counts"]
    defaults = {field.name: field.default for field in fields(CorpusSettings)}
    settings = {key: manifest["settings"][key] for key in defaults}
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


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a JSON file of a run, got none") from None
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error


def _write(path: Path, values: Any) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def _named(text: str) -> tuple[str, Path]:
    name, _, folder = text.partition("=")
    if not name or not folder:
        raise argparse.ArgumentTypeError(f"expected NAME=DIR, got {text!r}")
    return name, Path(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="append", required=True, type=_named, metavar="NAME=DIR")
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
    folders = dict(given.run)
    if len(folders) < len(given.run):
        raise ValueError(f"run: expected every name once, got {', '.join(name for name, _ in given.run)}")
    manifests = {"heldout": read_manifest(given.heldout)}
    if given.realbugs is not None:
        manifests["realbugs"] = read_manifest(given.realbugs)
    runs = [read_run(name, folder, list(manifests)) for name, folder in folders.items()]
    check_comparable(runs, manifests)
    details = make_details(runs, manifests, given.corpus_seconds)
    _write(given.out / "bugs.json", make_rows(runs))
    _write(given.out / "bugs-runs.json", details)
    logs = {row: folder / "metrics.jsonl" for row, folder in folders.items()}
    for name, quantity in PICTURES.items():
        draw_curves(logs, quantity, given.out / name)


if __name__ == "__main__":
    main()
