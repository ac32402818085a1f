"""The folder of a run. Killing the process at any moment leaves no half-written file in it.

    run/settings.json                  what the run was started with
    run/metrics.jsonl                  the log
    run/best/                          the best model so far, as the task saves it
    run/checkpoints/step-000000120/    the model as the task saves it, training.json and training.safetensors

A checkpoint is written under a hidden name and renamed; then the older one is deleted. So the one with the highest number
is always complete.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from hyperheat.configuration import differences, from_dict, to_dict
from hyperheat.files import parse_json, sync, whole_file, write_whole_text
from hyperheat.train.run import State, TrainSettings

__all__ = ["latest", "prepare", "read_checkpoint", "whole_folder", "write_checkpoint"]


def prepare(folder: Path, settings: TrainSettings, job: Mapping[str, Any], *, resume: bool) -> None:
    """Make the folder of a new run, or check that an old one is the same run."""
    path = folder / "settings.json"
    given = json.loads(json.dumps({"train": to_dict(settings), "job": dict(job)}))
    if path.exists() and resume:
        try:
            before = parse_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: not the settings of a training run: {error}") from error
        free = {f"train.{name}" for name in settings.may_change()}
        for key, old, new in differences(before, given):
            if key not in free:
                raise ValueError(
                    f"{key}: the run in {folder} was started with {old!r} and cannot be resumed with {new!r}"
                )
    elif folder.exists() and any(folder.iterdir()):
        if resume:
            raise ValueError(f"{folder}: no settings.json here, so this is not the folder of a training run")
        raise ValueError(f"{folder}: the folder is not empty; resume the run in it, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole_text(path, json.dumps(given, indent=2) + "\n")
    _clean(folder)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to write to; at the end it becomes `path`.

    If the folder exists, the new files replace the old ones one by one, each in a single step.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    yield temporary
    for file in temporary.iterdir():
        sync(file)
    if path.exists():
        for file in temporary.iterdir():
            file.replace(path / file.name)
        temporary.rmdir()
        sync(path)
    else:
        sync(temporary)
        temporary.rename(path)
        sync(path.parent)


def write_checkpoint(
    run: Path,
    state: State,
    *,
    save: Callable[[Path], None],
    tensors: Mapping[str, Tensor],
    scale: Mapping[str, Any],
) -> None:
    """Write a checkpoint and delete the older ones."""
    with whole_folder(run / "checkpoints" / f"step-{state.step:09d}") as folder:
        save(folder)
        with whole_file(folder / "training.safetensors", durable=False) as temporary:
            save_file(dict(tensors), temporary)
        text = json.dumps({"state": asdict(state), "scale": dict(scale)}, indent=2)
        (folder / "training.json").write_text(text + "\n", encoding="utf-8")
    _clean(run)


def latest(run: Path) -> Path | None:
    """The newest checkpoint of a run."""
    return max((run / "checkpoints").glob("step-*"), default=None)


def _clean(run: Path) -> None:
    """Delete all checkpoints but the newest, and half-written ones of a killed process."""
    for path in [*(run / "checkpoints").glob("*"), run / ".best.tmp"]:
        if path != latest(run):
            shutil.rmtree(path, ignore_errors=True)


def read_checkpoint(folder: Path) -> tuple[State, dict[str, Tensor], dict[str, Any]]:
    """State, tensors and scale as they were written; errors name the damaged file."""
    path = folder / "training.json"
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
        state, scale = from_dict(State, values["state"]), values["scale"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not the state of a training run: {error}") from error
    path = folder / "training.safetensors"
    try:
        return state, load_file(path), scale
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path}: not the tensors of a training run: {error}") from error
