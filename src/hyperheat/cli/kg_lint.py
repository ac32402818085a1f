"""`hyperheat kg lint`: statements of a data set that look wrong."""

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

import hyperheat
from hyperheat import kg
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    from hyperheat.kg import StatementDataset, Statements
    from hyperheat.kg.completion import CompletionModel
    from hyperheat.kg.lint import LintSettings, SuspectValue

__all__ = ["lint"]


def lint(
    data: str,
    *,
    model: str = "heuristic",
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    folds: int = 5,
    confidence: float = 0.5,
    lowest_rank: int = 10,
    top: int = 100,
    plant: int = 0,
    labels: Path | None = None,
    output_format: Literal["text", "json", "jsonl", "sarif", "github"] = "text",
    output: Path | None = None,
    exit_zero: bool = False,
) -> None:
    """List the statements that look wrong: a model of the others ranks a value low and is sure of another one.

    The exit code is 1 if there are any.

    Parameters
    ----------
    data
        A file or folder of statements, or the name of a published data set.
    model
        heuristic: co-occurrence, without torch; or a recipe, such as no-encoder, which is trained once for each fold.
    set
        Settings of the recipe, such as train.max_minutes=5.
    folds
        The number of parts that the statements are divided into; each is judged by a model of the others.
    confidence
        The least probability of the other value.
    lowest_rank
        Values that rank below this are suspect.
    top
        The number of suspects that are shown, the most suspect first.
    plant
        Measure instead: replace so many objects by wrong ones, and count how many of them are found.
    labels
        A file with an id, a tab and a label on each line.
    output_format
        text, json, jsonl, sarif or github.
    output
        A file to write to instead of standard output.
    exit_zero
        Exit with 0 even if there are suspects.
    """
    from hyperheat.train import TrainingError

    try:
        from hyperheat.kg.lint import LintSettings
        from hyperheat.kg.lint import lint as find

        dataset = kg.read(data, labels=labels)
        settings = LintSettings(folds=folds, confidence=confidence, lowest_rank=lowest_rank)
        if top < 1 or plant < 0:
            raise ValueError(f"expected --top of at least 1 and --plant of at least 0, got {top} and {plant}")
        with TemporaryDirectory(prefix="hyperheat-") as folder:
            make = _maker(model, set, dataset, Path(folder))
            if plant:
                sys.stdout.write(_measured(dataset.every(), make, settings, plant, top))
                return
            suspects = find(dataset.every(), make, settings, most=top)
        _write(dataset, suspects, model, output_format, output)
    except (ValueError, OSError, TrainingError) as error:
        fail(error)
    if suspects and not exit_zero:
        raise SystemExit(1)


def _maker(
    model: str, settings: tuple[str, ...], dataset: "StatementDataset", folder: Path
) -> "Callable[[Statements], CompletionModel]":
    """What makes the model of a fold."""
    if model == "heuristic":
        from hyperheat.kg.heuristic import Heuristic

        return Heuristic
    from dataclasses import replace

    from hyperheat.kg.neural.trained_model import ModelScorer, load_model

    numbers = count()

    def train(statements: "Statements") -> "CompletionModel":
        nothing = statements[:0]
        out = folder / str(next(numbers))
        data = replace(dataset, train=statements, valid=nothing, test=nothing)
        kg.train(data, out, recipe=model, set=[*settings, "train_on=train+valid"])
        return ModelScorer(load_model(out / "best"))

    return train


def _write(
    dataset: "StatementDataset", suspects: "list[SuspectValue]", model: str, format: str, output: Path | None
) -> None:
    from hyperheat.cli.outputs import put, write_output
    from hyperheat.cli.suspect_formats import SUSPECT_FORMATS, SuspectReport

    checked = len(dataset.every())
    report = SuspectReport(
        source=dataset.source,
        suspects=suspects,
        places=[_place(dataset, suspect.number) for suspect in suspects],
        labels=dataset.labels,
        checked=checked,
        model=model,
        version=hyperheat.__version__,
    )
    text = SUSPECT_FORMATS[format](report)
    if output is None:
        put(text, sys.stdout)
    else:
        write_output(output, text)
    put(f"{len(suspects):,} suspect values shown, of {checked:,} statements\n", sys.stderr)


def _place(dataset: "StatementDataset", number: int) -> str:
    """The split of a statement, and its number there."""
    for split, statements in dataset.splits.items():
        if number <= len(statements):
            return f"{split}:{number}"
        number -= len(statements)
    raise ValueError(f"expected the number of a statement, got {number}")


def _measured(
    statements: "Statements",
    make: "Callable[[Statements], CompletionModel]",
    settings: "LintSettings",
    planted: int,
    top: int,
) -> str:
    from dataclasses import replace

    from hyperheat.kg.lint import lint as find
    from hyperheat.kg.lint import measure
    from hyperheat.kg.lint import plant as plant_wrong

    changed, is_wrong = plant_wrong(statements, planted)
    found = measure(find(changed, make, replace(settings, evidence=0)), is_wrong, first=top)
    return (
        f"{found.planted:,} wrong objects planted in {len(statements):,} statements; {found.reported:,} suspects\n"
        f"precision of the first {found.first:,}: {found.precision:.3f}\n"
        f"recall of all: {found.recall:.3f}\n"
    )
