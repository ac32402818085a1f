"""`hyperheat kg tune`: a search for better settings of a recipe."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hyperheat import kg
from hyperheat.cli.refusal import fail

__all__ = ["tune"]


def tune(
    *,
    data: str,
    out: Path,
    recipe: str = "heat",
    minutes: float | None = None,
    steps: int | None = None,
    trials: int = 9,
    vary: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    labels: Path | None = None,
    seed: int = 0,
    resume: bool = False,
) -> None:
    """Search for better settings of a recipe by successive halving: many short runs, a third of them longer, and so on.

    Runs are compared on the validation split, or on a tenth of train if there is none; the test split is not looked at.

    Parameters
    ----------
    data
        A folder of statements, such as one written by kg import, or the name of a published data set.
    out
        The folder of the search: trials.jsonl and the runs.
    recipe
        The recipe to start from, which is the first trial.
    minutes
        The time that all runs together may take.
    steps
        The steps that all runs together may take, instead of minutes; the search is then repeatable.
    trials
        The number of settings to try.
    vary
        Settings with the values to try, such as train.lr=1e-3,2e-3 model.skip=none,0.1; by default the learning rate, the
        dropout of entities and decoder, and the smoothing.
    set
        Settings for all runs.
    labels
        A file with an id, a tab and a label on each line.
    seed
        Another seed tries other points of the grid.
    resume
        Continue the search in the folder.
    """
    from hyperheat.train import TrainingError

    try:
        from hyperheat.kg.neural.tuning import GRID, Budget
        from hyperheat.kg.neural.tuning import tune as search

        found = search(
            kg.read(data, labels=labels),
            out,
            Budget(minutes=minutes, steps=steps),
            recipe=recipe,
            fixed=set,
            vary=_grid(vary) if vary else GRID,
            trials=trials,
            seed=seed,
            resume=resume,
        )
    except (ValueError, OSError, TrainingError) as error:
        fail(error)
    chosen = shlex.join([*set, *found.best.settings])
    settings = f" --set {chosen}" if chosen else ""
    sys.stdout.write(
        f"{found}\n\nbest: MRR {found.best.mrr:.3f} on validation statements. To train with these settings:\n"
        f"  hyperheat kg train --data {shlex.quote(data)} --out RUN --recipe {recipe}{settings}\n"
    )


def _grid(vary: tuple[str, ...]) -> dict[str, list[str]]:
    grid = {}
    for text in vary:
        name, equals, values = text.partition("=")
        if not equals or not all(part.strip() for part in (name, *values.split(","))):
            raise ValueError(
                f"--vary: expected a setting and its values, such as train.lr=1e-3,2e-3, got {text!r}"
            )
        grid[name.strip()] = [value.strip() for value in values.split(",")]
    return grid
