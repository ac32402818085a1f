"""A row of Table 3: statements, a model of them, and its ranks on validation or test statements."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperheat import kg
from hyperheat.configuration import override, to_dict
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.neural.trained_model import load_model
from hyperheat.kg.neural.training import KgJob
from hyperheat.kg.ranking import Protocol
from hyperheat.reproduce.paper_tables import TableRow
from hyperheat.train.checkpoint import latest

__all__ = ["KgRowTask"]

_PLANNED = {
    f"train.{name}"
    for name in (
        "max_steps",
        "max_epochs",
        "max_samples",
        "max_minutes",
        "max_core_minutes",
        "seed",
        "threads",
    )
} | {"train_on"}
"""Settings that the row, the samples and `--final` decide."""


class KgRowTask:
    """What `running.run_row` needs of a row.

    For choosing settings, a model learns from train and is asked about valid. The paper's figures are of models that
    learn from both and are asked about test; `final` makes those.
    """

    def __init__(
        self, row: TableRow, data: StatementDataset, *, seed: int, changes: Sequence[str], final: bool
    ) -> None:
        self._row, self._dataset, self._final = row, data, final
        self._seed, self._changes = seed, tuple(changes)
        statements = data.training("train+valid" if final else "train")
        self.data: dict[str, Any] = {
            "name": data.identify() or "given",
            "sha256": statements.digest(),
            "statements": {name: len(split) for name, split in data.splits.items()},
        }

    @cached_property
    def settings(self) -> KgSettings:
        """What decides the model."""
        for change in self._changes:
            key = change.partition("=")[0].strip()
            if key in _PLANNED:
                raise ValueError(
                    f"--set: {key} cannot be set, since the row, the samples and --final decide it"
                )
        recipe = RECIPES[self._row.name]()
        changed = override(
            replace(recipe, train_on="train+valid" if self._final else "train"),
            [*self._row.set, *self._changes],
        )
        train = replace(
            changed.train,
            max_steps=10_000,
            max_epochs=None,
            seed=self._seed,
            threads=1,
            checkpoint_minutes=1.0,
        )
        watched = {"watch": "questions", "mode": "max"} if self._final else {}
        return replace(changed, train=replace(train, **watched))

    def describe_settings(self) -> dict[str, Any]:
        """The settings as plain values."""
        return to_dict(self.settings)

    def make_job(self, run: Path) -> KgJob:
        """The training job; `run` is its folder, where a stopped run has left its tokenizer."""
        kept = latest(run)
        path = None if kept is None else kept / "tokenizer.json"
        text = path.read_text(encoding="utf-8").rstrip("\n") if path is not None and path.exists() else None
        return KgJob(self.settings, self._dataset, text)

    def measure(self, model: Path, *, briefly: bool) -> tuple[dict[str, Any], float, int]:
        """Ranks on validation statements, none of which is known from training; for a final model on the test statements."""
        protocol = (
            Protocol()
            if self._final
            else Protocol(train_on="train", evaluate_on="valid", candidates="training", without_leaks=True)
        )
        trained = load_model(model)
        began = time.process_time()
        evaluation = kg.evaluate(trained, self._dataset, protocol)
        rate = 2 * evaluation.statements / (time.process_time() - began)
        figures = {"all": asdict(evaluation.ranking.metrics()["both"]), "tied": evaluation.ranking.tied}
        return figures, rate, trained.parameters

    def measure_finally(self, model: Path) -> dict[str, Any]:
        """The figures of a final model."""
        return {"WD50K(100), test": self.measure(model, briefly=False)[0]}

    def curve_point(self, valid: Mapping[str, float]) -> dict[str, float]:
        """What is drawn of a validation during training."""
        return {key: valid[key] for key in ("mrr",) if key in valid}
