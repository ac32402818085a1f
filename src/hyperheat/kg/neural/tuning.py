"""A search for better settings of a recipe by successive halving, within a budget of time or of steps.

    rung 0    n trials, each with 1/n of the rung's budget           rung i    the best third of those before, three times
    as long

All rungs have the same budget. A trial is a complete run whose schedule ends with its budget, so a short one is not a
long one cut off. The first trial is the recipe as it is; the others are drawn from a grid without repetition. Trials are
compared by their MRR on validation statements that training never saw. Test statements are not looked at.
"""

import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.configuration import override
from hyperheat.files import parse_json
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.neural.training import train_model
from hyperheat.kg.splitting import hold_out

__all__ = ["GRID", "Budget", "Trial", "Tuning", "tune"]

GRID: Mapping[str, Sequence[str]] = {
    "train.lr": ("1e-3", "2e-3", "4e-3"),
    "model.entity_dropout": ("0.1", "0.3", "0.5"),
    "model.decoder.dropout": ("0.1", "0.2", "0.3"),
    "loss.smoothing": ("0.0", "0.1", "0.2"),
}
"""The settings that are varied unless others are named."""
_BUDGETS = ("max_steps", "max_epochs", "max_samples", "max_minutes", "max_core_minutes")
_KEPT = 3  # of so many trials one goes on
_HELD_OUT = 0.1  # of the training data, where there is no validation split


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What all trials together may take: minutes or steps."""

    minutes: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.minutes, self.steps) if value is not None]
        if len(given) != 1 or given[0] <= 0:
            raise ValueError(
                f"expected a budget of minutes or of steps above 0, got minutes={self.minutes}, steps={self.steps}"
            )


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A finished run: its settings beside the recipe's, and the MRR that it reached."""

    rung: int
    settings: tuple[str, ...]
    mrr: float
    steps: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """All trials in the order in which they ran; printing it gives a table."""

    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        """The best trial of the last rung."""
        last = max(trial.rung for trial in self.trials)
        return max((trial for trial in self.trials if trial.rung == last), key=lambda trial: trial.mrr)

    def __str__(self) -> str:
        rows = [f"{'rung':>4} {'steps':>6} {'MRR':>6}  settings"]
        for trial in sorted(self.trials, key=lambda trial: (trial.rung, -trial.mrr)):
            settings = " ".join(trial.settings) or "the recipe as it is"
            rows.append(f"{trial.rung:>4} {trial.steps:>6,} {trial.mrr:>6.3f}  {settings}")
        return "\n".join(rows)


def tune(
    data: StatementDataset,
    folder: str | Path,
    budget: Budget,
    *,
    recipe: str = "heat",
    fixed: Sequence[str] = (),
    vary: Mapping[str, Sequence[str]] = GRID,
    trials: int = 9,
    seed: int = 0,
    resume: bool = False,
) -> Tuning:
    """Search the grid `vary` for settings that are best on the validation split; `fixed` settings hold for all trials.

    The folder keeps `trials.jsonl` and the runs; with `resume` trials that it lists are not run again.
    """
    folder, path = Path(folder), Path(folder) / "trials.jsonl"
    if recipe not in RECIPES:
        raise ValueError(f"recipe: expected one of {', '.join(RECIPES)}, got {recipe!r}")
    base = replace(override(RECIPES[recipe](), fixed), train_on="train")
    data = _with_validation(data)
    chosen = _choose(vary, trials, np.random.default_rng(seed))
    for settings in chosen:
        override(base, settings)  # refuses what is wrong before anything runs
    if path.exists() and not resume:
        raise ValueError(f"{folder}: holds the trials of another search; resume it, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    done = {(trial.rung, trial.settings): trial for trial in _read(path)}
    sizes = _sizes(len(chosen))
    found: list[Trial] = []
    for rung, size in enumerate(sizes):
        share = len(sizes) * size
        ran = []
        for number, settings in enumerate(chosen):
            run = folder / f"rung-{rung}" / f"trial-{number}"
            trial = done.get((rung, settings))
            if trial is None:
                trial = _run(rung, settings, _shaped(override(base, settings), budget, share), data, run)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(trial)) + "\n")
            ran.append(trial)
        found += ran
        ran.sort(key=lambda trial: -trial.mrr)
        chosen = [trial.settings for trial in ran[: [*sizes, 1][rung + 1]]]
    return Tuning(trials=tuple(found))


def _run(
    rung: int, settings: tuple[str, ...], shaped: KgSettings, data: StatementDataset, run: Path
) -> Trial:
    shutil.rmtree(run, ignore_errors=True)  # of a search that was killed in its midst
    outcome = train_model(shaped, data, run)
    if outcome.ended_by == "signal":
        raise KeyboardInterrupt
    shutil.rmtree(run / "checkpoints", ignore_errors=True)
    mrr = -math.inf if outcome.best is None else outcome.best
    return Trial(rung=rung, settings=settings, mrr=mrr, steps=outcome.step, seconds=outcome.seconds)


def _shaped(settings: KgSettings, budget: Budget, share: int) -> KgSettings:
    """The settings with a share of the budget, at the end of which alone the model is measured."""
    limits: dict[str, Any] = dict.fromkeys(_BUDGETS)
    warmup = settings.train.warmup
    if budget.steps is not None:
        steps = max(2, budget.steps // share)
        limits["max_steps"] = steps
        warmup = min(warmup, steps // 10)
    elif budget.minutes is not None:
        limits["max_minutes"] = budget.minutes / share
    train = replace(
        settings.train,
        **limits,
        warmup=warmup,
        validate_every=1_000_000_000,
        watch="mrr",
        mode="max",
        patience=None,
    )
    return replace(settings, train=train)


def _sizes(trials: int) -> list[int]:
    """How many trials each rung has: a third of those before, until one is left."""
    sizes = [trials]
    while sizes[-1] > 1:
        sizes.append(max(1, sizes[-1] // _KEPT))
    return sizes


def _choose(
    vary: Mapping[str, Sequence[str]], trials: int, random: np.random.Generator
) -> list[tuple[str, ...]]:
    """The recipe as it is, and other points of the grid, each once."""
    if trials < 2:
        raise ValueError(f"trials: expected at least 2, got {trials}")
    if not vary or not all(vary.values()):
        raise ValueError("vary: expected settings with their values, such as train.lr=1e-3,2e-3")
    counts = [len(values) for values in vary.values()]
    every = math.prod(counts)
    places = random.choice(every, size=min(trials - 1, every), replace=False)
    points = zip(*np.unravel_index(places, counts), strict=True)
    return [
        (),
        *(
            tuple(f"{name}={values[int(i)]}" for (name, values), i in zip(vary.items(), point, strict=True))
            for point in points
        ),
    ]


def _with_validation(data: StatementDataset) -> StatementDataset:
    """The data with a validation split, taken from train where there is none; without its test split."""
    nothing = data.train[:0]
    if data.valid:
        return replace(data, test=nothing)
    split = hold_out(replace(data, test=nothing), _HELD_OUT)
    return replace(split, valid=split.test, test=nothing)


def _read(path: Path) -> Iterator[Trial]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = parse_json(line)
            yield Trial(**{**record, "settings": tuple(record["settings"])})
