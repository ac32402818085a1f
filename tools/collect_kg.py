"""Collect trained models of statements into docs/results: kg.json, kg-runs.json and a picture of the curves.

    python tools/collect_kg.py --heuristic RUNS/heuristic --run heat=RUNS/heat --run "no encoder=RUNS/no-encoder"

A run is a folder of `hyperheat kg train` with the output of `hyperheat kg eval --json` on its best/ for each protocol, saved as
eval-NAME.json. Runs with the same name become one row, their mean; they may differ in the seed only. The folder of the
heuristic holds its evaluations only. `--add` keeps the rows that were collected before, but for those with the names of these
runs. `--name kg-inductive-v1` writes kg-inductive-v1.json and so on instead, for runs on other
statements. Run `python tools/write_results.py` afterwards to write the page.
"""

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test runs this file

from training_runs import RESULTS, Run, find_recipe, named_folder, read_json, read_run, thin, write_json

from hyperheat.configuration import from_dict, to_dict
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.ranking import STARE
from hyperheat.train import draw_curves

HEURISTIC = "heuristic"
_OPTIONS = {"train_on": "train-on", "evaluate_on": "on", "filter_key": "filter"}
_IDENTITY = ("dataset", "sha256", "statements", "candidates")
Evaluations = dict[str, list[dict[str, Any]]]
"""By protocol, the evaluations of all seeds."""


def read_rows(runs: Sequence[tuple[str, Path]]) -> dict[str, list[Run[KgSettings]]]:
    """The runs by row; those of one row differ in the seed alone."""
    rows: dict[str, list[Run[KgSettings]]] = {}
    for row, folder in runs:
        run = read_run(KgSettings, row, folder, _names(folder))
        if run.settings.train.watch == "questions":  # set by training if nothing is held out
            train = replace(run.settings.train, watch="mrr")
            run = replace(run, settings=replace(run.settings, train=train))
        evaluations = {name: _named_as_now(found) for name, found in run.evaluations.items()}
        rows.setdefault(row, []).append(replace(run, evaluations=evaluations))
    for row, same in rows.items():
        seeds = [run.settings.train.seed for run in same]
        alike = all(_seedless(run.settings) == _seedless(same[0].settings) for run in same)
        if len(set(seeds)) < len(seeds) or not alike:
            raise ValueError(
                f"{row}: the runs of a row must differ in the seed only; their seeds are {seeds}"
            )
    return rows


def _seedless(settings: KgSettings) -> KgSettings:
    return replace(settings, train=replace(settings.train, seed=0))


def _names(folder: Path) -> list[str]:
    names = sorted(path.stem.removeprefix("eval-") for path in folder.glob("eval-*.json"))
    if not names:
        raise ValueError(f"{folder}: there are no evaluations such as eval-test.json")
    return names


def _named_as_now(evaluation: dict[str, Any]) -> dict[str, Any]:
    """An evaluation with StarE's candidates under that name, which earlier versions called main."""
    protocol = evaluation["protocol"]
    if protocol["candidates"] != "main" or evaluation["dataset"] == "jf17k":
        return evaluation
    return {**evaluation, "protocol": {**protocol, "candidates": STARE.candidates}}


def read_heuristic(folder: Path) -> Evaluations:
    """The evaluations of the heuristic by protocol."""
    found = [_named_as_now(read_json(folder / f"eval-{name}.json")) for name in _names(folder)]
    for evaluation in found:
        if evaluation["model"] != HEURISTIC:
            raise ValueError(f"{folder}: expected evaluations of the heuristic, got {evaluation['model']}")
    return by_protocol([found])


def by_protocol(seeds: Sequence[Sequence[dict[str, Any]]]) -> Evaluations:
    """The evaluations of each seed, put together by protocol; each seed has all of them."""
    found: Evaluations = {}
    for evaluations in seeds:
        for evaluation in evaluations:
            found.setdefault(protocol_name(evaluation["protocol"]), []).append(evaluation)
    for protocol, same in found.items():
        if len(same) != len(seeds):
            raise ValueError(
                f"protocol {protocol}: expected one evaluation of each of {len(seeds)} runs, got {len(same)}"
            )
    return found


def protocol_name(protocol: Mapping[str, Any]) -> str:
    """How a protocol differs from StarE's, in words; evaluations of earlier versions lack the newer choices."""
    changed = {
        key: protocol[key] for key, value in asdict(STARE).items() if protocol.get(key, value) != value
    }
    words = (
        key.replace("_", " ") + (f" {value}" if value is not True else "") for key, value in changed.items()
    )
    return "; ".join(["StarE's", *words])


def protocol_options(protocol: Mapping[str, Any]) -> list[str]:
    """What `kg eval` is told to follow a protocol."""
    options = []
    for key, value in asdict(STARE).items():
        if protocol.get(key, value) != value:
            option = f"--{_OPTIONS.get(key, key).replace('_', '-')}"
            options.append(option if protocol[key] is True else f"{option} {protocol[key]}")
    return options


def check_comparable(
    rows: Mapping[str, Sequence[Run[KgSettings]]], evaluated: Mapping[str, Evaluations]
) -> None:
    """Refuse runs that were trained or evaluated on different statements under one protocol."""
    learned: dict[str, str] = {}
    for run in (run for same in rows.values() for run in same):
        digest = learned.setdefault(run.settings.train_on, run.job["statements"])
        if run.job["statements"] != digest:
            raise ValueError(f"{run.row}: the run was trained on other statements than the rest")
    asked: dict[str, dict[str, Any]] = {}
    for row, protocols in evaluated.items():
        for protocol, evaluations in protocols.items():
            for evaluation in evaluations:
                got = {key: evaluation[key] for key in _IDENTITY}
                expected = asked.setdefault(protocol, got)
                if got != expected:
                    raise ValueError(f"{row}: protocol {protocol}: expected {expected}, got {got}")


def make_rows(
    rows: Mapping[str, Sequence[Run[KgSettings]]], evaluated: Mapping[str, Evaluations]
) -> list[dict[str, Any]]:
    """What kg.json holds: one row for each row and protocol; minutes are those of the longest run."""
    protocols = dict.fromkeys(protocol for found in evaluated.values() for protocol in found)
    made = []
    for protocol in sorted(protocols, key=len):  # StarE's first
        for row, found in evaluated.items():
            if protocol in found:
                both = mean_metrics(found[protocol])["both"]
                made.append(
                    {
                        "row": row,
                        **{key: round(both[key], 4) for key in ("mrr", "h1", "h10")},
                        "protocol": protocol,
                        "minutes": max((run.minutes for run in rows.get(row, ())), default=0.0),
                        "seeds": len(rows.get(row, ())),
                    }
                )
    return made


def mean_metrics(evaluations: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The mean over seeds of every figure of every group of questions."""
    return {
        group: {key: statistics.fmean(e["metrics"][group][key] for e in evaluations) for key in first}
        for group, first in evaluations[0]["metrics"].items()
    }


def make_details(
    rows: Mapping[str, Sequence[Run[KgSettings]]], evaluated: Mapping[str, Evaluations]
) -> dict[str, Any]:
    """What kg-runs.json holds: the protocols, and of each row its figures, configuration and curve."""
    protocols = {}
    for found in evaluated.values():
        for name, (first, *_) in found.items():
            protocol = dict(first["protocol"])
            protocol["candidate_set"] = protocol.pop("candidates")  # beside their number
            protocol["options"] = protocol_options(first["protocol"])
            protocols.setdefault(name, {**protocol, **{key: first[key] for key in _IDENTITY}})
    return {
        "protocols": protocols,
        "evaluations": {
            row: {name: _describe_evaluations(same) for name, same in found.items()}
            for row, found in evaluated.items()
        },
        "runs": [_describe_run(same) for same in rows.values()],
    }


def _describe_evaluations(evaluations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    mrr = [evaluation["metrics"]["both"]["mrr"] for evaluation in evaluations]
    return {
        "metrics": mean_metrics(evaluations),
        "mrr_deviation": statistics.stdev(mrr) if len(mrr) > 1 else None,
        "tied": max(evaluation["tied"] for evaluation in evaluations),
        "parameters": evaluations[0]["parameters"],
    }


def _describe_run(same: Sequence[Run[KgSettings]]) -> dict[str, Any]:
    first = same[0]
    recipe, changes = find_recipe(RECIPES, _seedless(first.settings))
    losses = [record for record in first.log if "loss" in record]
    return {
        "row": first.row,
        "recipe": recipe,
        "set": changes,
        "seeds": [run.settings.train.seed for run in same],
        "settings": to_dict(_seedless(first.settings)),
        "steps": first.log[-1]["step"],
        "epochs": first.log[-1]["epoch"],
        "curve": [{"samples": int(record["samples"]), "loss": record["loss"]} for record in thin(losses)],
        "files": {
            protocol_name(evaluation["protocol"]): name for name, evaluation in first.evaluations.items()
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="append", required=True, type=named_folder, metavar="NAME=DIR")
    parser.add_argument("--heuristic", type=Path, metavar="DIR", help="a folder with its evaluations")
    parser.add_argument("--add", action="store_true", help="keep the other rows that were collected before")
    parser.add_argument("--name", default="kg", help="how the names of the files begin")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR")
    given = parser.parse_args(arguments)
    try:
        collect(given.run, given.heuristic, given.out, given.name, add=given.add)
    except (ValueError, OSError) as error:
        parser.error(str(error))


def collect(
    runs: Sequence[tuple[str, Path]],
    heuristic: Path | None,
    out: Path,
    name: str = "kg",
    *,
    add: bool = False,
) -> None:
    """Read all that was given before anything is written."""
    rows = read_rows(runs)
    if HEURISTIC in rows:
        raise ValueError(f"run: the name {HEURISTIC} is taken")
    evaluated = {} if heuristic is None else {HEURISTIC: read_heuristic(heuristic)}
    evaluated |= {
        row: by_protocol([list(run.evaluations.values()) for run in same]) for row, same in rows.items()
    }
    check_comparable(rows, evaluated)
    made, details = make_rows(rows, evaluated), make_details(rows, evaluated)
    if add:
        before = read_json(out / f"{name}.json"), read_json(out / f"{name}-runs.json")
        made, details = add_rows(*before, made, details)
    write_json(out / f"{name}.json", made)
    write_json(out / f"{name}-runs.json", details)
    curves = {run["row"]: run["curve"] for run in details["runs"]}
    draw_curves(curves, "loss", out / f"{name}-loss.png")


def add_rows(
    rows: list[dict[str, Any]],
    details: dict[str, Any],
    new_rows: list[dict[str, Any]],
    new_details: dict[str, Any],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What was collected before, with new rows in place of those of the same names, or behind the others."""
    for protocol, asked in new_details["protocols"].items():
        before = details["protocols"].setdefault(protocol, asked)
        if any(before[key] != asked[key] for key in _IDENTITY):
            raise ValueError(f"protocol {protocol}: the other rows were evaluated on other statements")
    names = {row["row"] for row in new_rows}
    kept = [row for row in rows if row["row"] not in names]
    joined = [
        row
        for protocol in sorted(details["protocols"], key=len)  # StarE's first
        for row in (*kept, *new_rows)
        if row["protocol"] == protocol
    ]
    runs = [_with_new_settings(run) for run in details["runs"] if run["row"] not in names]
    evaluations = {row: found for row, found in details["evaluations"].items() if row not in names}
    found = evaluations | new_details["evaluations"]
    return joined, {
        "protocols": details["protocols"],
        "evaluations": found,
        "runs": runs + new_details["runs"],
    }


def _with_new_settings(run: dict[str, Any]) -> dict[str, Any]:
    """A run that was collected before some settings existed, with these as they are by default."""
    return {**run, "settings": to_dict(from_dict(KgSettings, run["settings"]))}


if __name__ == "__main__":
    main()
