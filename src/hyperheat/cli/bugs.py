"""`hyperheat bugs train|eval`: training a detector of bugs, and how good it is."""

import json as json_module
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail
from hyperheat.files import file_sha256
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.bugs.evaluation import Evaluation
    from hyperheat.bugs.folder import TrainedDetector
    from hyperheat.bugs.metrics import Metrics
    from hyperheat.detector.calibration import Calibration
    from hyperheat.detector.scorer import Scorer

__all__ = ["evaluate", "train"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def train(
    *,
    data: Path,
    out: Path,
    recipe: str = "heat",
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    real: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    start: Path | None = None,
    resume: bool = False,
    kernel: bool | None = None,
) -> None:
    """Train a detector; under torchrun in several processes.

    Parameters
    ----------
    data
        A folder of samples that bugs corpus wrote.
    out
        The folder of the run: best/ is the model, metrics.jsonl the log, checkpoints/ what --resume needs.
    recipe
        heat, gnn, great, allset, binarised, smallest, or a variant of HEAT such as no-qualifiers.
    set
        Settings that differ from the recipe, such as model.dim=64 train.max_minutes=30.
    real
        Folders of real bugs that bugs mine or bugs realise wrote, to train on among samples of --data.
    start
        The folder of a trained detector, such as best/ of a run, to begin with its weights and vocabulary.
    resume
        Go on with the run in the folder.
    kernel
        Use the compiled attention kernel; by default if there is a C compiler.
    """
    from hyperheat.bugs.recipes import RECIPES
    from hyperheat.bugs.training import train_detector
    from hyperheat.configuration import cook
    from hyperheat.nn.fast import kernel as attention

    try:
        settings = cook(RECIPES, recipe, set)
        attention.use(kernel)
        outcome = train_detector(settings, data, out, real=real, start=start, resume=resume)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        fail(error)
    if outcome.ended_by == "signal":
        raise SystemExit(130)


def evaluate(
    *,
    model: Path,
    data: Path,
    split: Literal["train", "valid", "test"] = "test",
    tag: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    without: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    limit: _Positive | None = None,
    threads: _Positive | None = None,
    png: Path | None = None,
    json: bool = False,
) -> None:
    """Measure a detector: joint accuracy, location, repair, false alarms, by kind, and calibration.

    Parameters
    ----------
    model
        The folder of a model, such as best/ of a run, or of an exported detector.
    data
        A folder of samples that bugs corpus, bugs mine or bugs realise wrote.
    split
        The part of the data.
    tag
        Only samples with these tags, such as fix for real fixes whose message says so.
    without
        No samples with these tags, such as test for those in test files.
    limit
        At most so many samples, drawn at random but always the same ones.
    threads
        Threads of torch; as many as it chooses unless given.
    png
        Draw precision over recall, and calibration, into this file.
    json
        Print one JSON object.
    """
    import torch

    from hyperheat.bugs.dataset import Dataset, draw_indices
    from hyperheat.bugs.evaluation import count_tiers, draw, select
    from hyperheat.bugs.evaluation import evaluate as evaluate_detector
    from hyperheat.detector.scorer import Scorer

    if threads is not None:
        torch.set_num_threads(threads)
    try:
        detector, weights, calibration = _load(model)
        needs_pairs = not isinstance(detector, Scorer) and detector.view.needs_pairs
        samples = Dataset(data, split, pairs=needs_pairs)
        chosen = select(samples, tag, without) if tag or without else list(range(len(samples)))
        if limit is not None:
            chosen = [chosen[index] for index in draw_indices(len(chosen), limit)]
        with Progress("evaluating", every=None) as progress:
            evaluation = evaluate_detector(
                detector,
                samples,
                chosen,
                lambda done, total: progress.show(done / total, f"{done:,} of {total:,} samples"),
            )
        tiers = {}
        if calibration is not None:
            tiers = count_tiers(evaluation.answers, [samples[index] for index in chosen], calibration)
        if png is not None:
            draw({model.resolve().parent.name: evaluation}, png)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        options = {"split": split, "tag": list(tag), "without": list(without), "limit": limit}
        facts = {"weights_sha256": weights, **({"tiers": tiers} if tiers else {})}
        content = {"model": str(model), **facts, "data": str(data), **options, **evaluation.to_json()}
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write("\n".join([_table(evaluation), *_tiers(tiers)]) + "\n")


def _load(folder: Path) -> "tuple[TrainedDetector | Scorer, str, Calibration | None]":
    """A detector as torch runs it, or as the checker does if it was exported or calibrated; its hash and calibration."""
    from hyperheat.bugs.folder import MODEL_CARD, load_trained
    from hyperheat.detector.calibration import Calibration
    from hyperheat.detector.manifest import CALIBRATION, WEIGHTS
    from hyperheat.detector.scorer import Scorer

    path = folder / CALIBRATION
    if not path.exists() and not (folder / MODEL_CARD).exists():
        return load_trained(folder), file_sha256(folder / WEIGHTS), None
    scorer = Scorer.load(folder)
    return scorer, scorer.fingerprint, Calibration.parse(path.read_bytes()) if path.exists() else None


def _tiers(tiers: dict[str, dict[str, int]]) -> list[str]:
    if not tiers:
        return []
    rows = ["", f"{'tier':<8} {'bugs found':>12} {'wrong findings':>15} {'false alarms':>14}"]
    for tier, count in tiers.items():
        name = tier if tier == "A" else f"A and {tier}"
        found, alarms = f"{count['right']} of {count['bugs']}", f"{count['alarms']} of {count['clean']}"
        rows.append(f"{name:<8} {found:>12} {count['wrong']:>15} {alarms:>14}")
    return rows


_COLUMNS = ("joint", "loc", "repair", "false_alarms", "ece")


def _table(evaluation: "Evaluation") -> str:
    rows = [
        f"{evaluation.all.samples:,} samples, {evaluation.all.buggy:,} with a bug, {evaluation.all.unread:,} "
        f"that the model could not read; {evaluation.parameters:,} parameters",
        "",
        f"{'':<22} {'samples':>8} " + " ".join(f"{name.replace('_', ' '):>12}" for name in _COLUMNS),
        _row("all", evaluation.all),
        *(_row(kind, metrics) for kind, metrics in evaluation.by_kind.items()),
        "",
        "findings at least as sure as the threshold",
        f"{'threshold':>10} {'precision':>10} {'recall':>10} {'shown':>8}",
    ]
    curve = evaluation.curve
    for threshold in (0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5):
        shown = int((curve.threshold >= threshold).sum())
        if shown:
            last = shown - 1
            rows.append(
                f"{threshold:>10.2f} {curve.precision[last]:>10.1%} {curve.recall[last]:>10.1%} "
                f"{curve.shown[last]:>8,}"
            )
    return "\n".join(rows)


def _row(name: str, metrics: "Metrics") -> str:
    values = asdict(metrics)
    shares = ("-" if values[column] is None else f"{values[column]:.1%}" for column in _COLUMNS)
    return f"{name:<22} {metrics.samples:>8,} " + " ".join(f"{share:>12}" for share in shares)
