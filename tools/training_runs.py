"""Folders of training runs, with evaluations put into them: what the collectors of results share.

A run must have ended, and an evaluation must be one of the model in the run's best/: both are checked here.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from hyperheat.configuration import differences, from_dict, override, to_dict
from hyperheat.files import file_sha256, write_whole_text
from hyperheat.train import read_metrics
from hyperheat.train.checkpoint import latest
from hyperheat.train.run import State, ended_by

RESULTS = Path(__file__).parents[1] / "docs" / "results"
_POINTS = 60
"""Of a curve."""
_ALIKE = 1.1
"""The largest ratio of two parameter counts that are compared."""

S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class Run(Generic[S]):
    """A run: what was trained on what, how it went, and what the best model is worth by each evaluation."""

    row: str
    folder: Path
    settings: S
    job: dict[str, Any]
    """what the run was started with, beside its training settings"""
    log: list[dict[str, Any]]
    evaluations: dict[str, dict[str, Any]]
    """the content of eval-NAME.json by name"""

    @property
    def minutes(self) -> float:
        return round(self.log[-1]["seconds"] / 60, 1)


def read_run(kind: type[S], row: str, folder: Path, names: Sequence[str]) -> Run[S]:
    """Read the folder of a run with settings of a kind, and its evaluations of these names."""
    described = read_json(folder / "settings.json")
    known = {field.name for field in fields(kind)}  # pyright: ignore[reportArgumentType]
    plain = {key: value for key, value in described["job"].items() if key in known}
    settings: Any = from_dict(kind, {**plain, "train": described["train"]})
    _check_ended(folder, settings)
    weights = file_sha256(folder / "best" / "model.safetensors")
    return Run(
        row=row,
        folder=folder,
        settings=settings,
        job=described["job"],
        log=read_metrics(folder / "metrics.jsonl"),
        evaluations={name: _read_evaluation(folder / f"eval-{name}.json", weights) for name in names},
    )


def _check_ended(folder: Path, settings: Any) -> None:
    checkpoint = latest(folder)
    if checkpoint is None:
        raise ValueError(f"{folder}: expected a run that has ended, got one without a checkpoint")
    state = from_dict(State, read_json(checkpoint / "training.json")["state"])
    if ended_by(settings.train, state) is None or state.validated != state.step:
        raise ValueError(
            f"{folder}: expected a run that has ended, got one that stands at step {state.step:,}; "
            "the command that started it goes on with --resume"
        )


def _read_evaluation(path: Path, weights: str) -> dict[str, Any]:
    evaluation = read_json(path)
    if evaluation.get("weights_sha256") != weights:
        raise ValueError(
            f"{path}: expected an evaluation of the model in {path.parent / 'best'} (SHA-256 {weights[:12]}...), "
            f"got one of {str(evaluation.get('weights_sha256'))[:12]}...; evaluate it again"
        )
    return evaluation


def check_parameters(counts: Mapping[str, int]) -> None:
    """Refuse to compare models by row whose numbers of parameters differ by more than a tenth."""
    smallest, largest = (choose(counts, key=counts.__getitem__) for choose in (min, max))
    if counts[largest] > _ALIKE * counts[smallest]:
        raise ValueError(
            f"{largest}: expected at most 10 % more parameters than {smallest} has, {counts[smallest]:,}, "
            f"got {counts[largest]:,}; --extra takes rows that are not compared"
        )


def find_recipe(recipes: Mapping[str, Callable[[], S]], settings: S) -> tuple[str, list[str]]:
    """The recipe that settings are nearest to, and the assignments of `--set` that lead from it to them."""
    found = {}
    for name, make in recipes.items():
        changed = differences(_without_classes(to_dict(make())), _without_classes(to_dict(settings)))
        changes = [f"{key}={_text(value)}" for key, _, value in changed]
        try:
            if override(make(), changes) == settings:
                found[name] = changes
        except ValueError:
            continue  # its parts are of other classes, which have other settings
    if not found:
        raise ValueError(f"settings: expected a recipe with changes, got {to_dict(settings)}")
    return min(found.items(), key=lambda item: len(item[1]))


def _without_classes(plain: Any) -> Any:
    """Settings by dotted keys as `--set` names them: those of a part directly below it, without the name of its class."""
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1 and next(iter(plain))[0].isupper():
        (plain,) = plain.values()
    return {key: _without_classes(value) for key, value in plain.items()}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def thin(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most 60 of the records, evenly spaced, with the last."""
    step = max(1, -(-len(records) // _POINTS))
    return list(records[::-step][::-1])


def read_json(path: Path) -> Any:
    """The content of a file of a run."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a JSON file of a run, got none") from None
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error


def write_json(path: Path, values: Any) -> None:
    """Write a file, whole or not at all."""
    write_whole_text(path, json.dumps(values, indent=1) + "\n")


def named_folder(text: str) -> tuple[str, Path]:
    """NAME=DIR on a command line."""
    name, _, folder = text.partition("=")
    if not name or not folder:
        raise argparse.ArgumentTypeError(f"expected NAME=DIR, got {text!r}")
    return name, Path(folder)
