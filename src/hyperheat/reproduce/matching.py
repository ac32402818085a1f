"""Settings of the rows of Tables 1 and 2, with as many parameters as HEAT has.

HEAT and its variants have the width and layers of the size; the others have the layers of their recipes. Where that leaves a
row more than 6 % away from HEAT, its width is changed, then its feed-forward part. The tables of words count too.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.bugs.trained_detector import DetectorConfig, new_detector
from hyperheat.configuration import override
from hyperheat.nn import GreatConfig, HeatConfig, RoleConfig
from hyperheat.nn.update import NoFeedForward
from hyperheat.reproduce.paper_tables import ModelSize, TableRow
from hyperheat.tensors import Vocabulary
from hyperheat.train import TrainSettings

__all__ = ["count_parameters", "row_settings"]

_NEAR = 0.06
_HEADS = 8
_WIDEST = 512
_PLANNED = {
    *(f"train.{name}" for name in ("max_steps", "max_epochs", "max_samples", "max_minutes")),
    *("train.max_core_minutes", "train.seed"),
    *(f"train.{name}" for name in ("warmup", "validate_every", "threads")),
    *("largest", "validation_largest", "binarise"),
}
"""Settings that the size, the seed and the number of samples decide."""


def row_settings(
    row: TableRow, size: ModelSize, vocab: Vocabulary, *, seed: int = 0, changes: Sequence[str] = ()
) -> BugSettings:
    """The settings of a row, with changes as `--set` gives them.

    Steps and warm-up are for whoever trains it to choose. A row whose width or feed-forward part is set keeps it.
    """
    keys = [change.partition("=")[0].strip() for change in changes]
    for key in keys:
        if key in _PLANNED:
            raise ValueError(
                f"--set: {key} cannot be set, since the size, the samples and the seed decide it"
            )
    settings = override(_unmatched(row, size, seed), [*row.set, *changes])
    if {"model.dim", "model.ff"} & {*keys}:
        return settings
    heat = TableRow(name="heat", title="HEAT", rate=1.0)
    wanted = count_parameters(_unmatched(heat, size, seed), vocab)
    return _matched(settings, wanted, vocab)


def count_parameters(settings: BugSettings, vocab: Vocabulary) -> int:
    """The number of weights of a detector, without making them."""
    with torch.device("meta"):
        config = DetectorConfig(model=settings.model, binarise=settings.binarise)
        return new_detector(config, vocab).parameters


def _unmatched(row: TableRow, size: ModelSize, seed: int) -> BugSettings:
    settings = RECIPES[row.name]()
    model: Any = settings.model
    if isinstance(model, HeatConfig):
        model = replace(model, dim=size.dim, layers=size.layers, ff=size.ff)
    elif isinstance(model, RoleConfig):
        model = replace(model, dim=size.dim, layers=size.layers, ff=2 * size.dim)
    elif isinstance(model, GreatConfig):
        model = replace(model, max_tokens=max(512, size.largest))
    return replace(
        settings,
        model=model,
        largest=size.largest,
        validation_largest=size.largest,
        train=TrainSettings(
            seed=seed,
            lr=settings.train.lr,
            warmup=50,
            schedule="linear",
            max_steps=1_000,
            clip=settings.train.clip,
            watch="loss",
            checkpoint_minutes=1.0,
            threads=1,
        ),
    )


def _matched(settings: BugSettings, wanted: int, vocab: Vocabulary) -> BugSettings:
    """Settings whose model has about the wanted number of parameters."""

    def closest(make: Callable[[int], BugSettings], sizes: Sequence[int]) -> BugSettings:
        """Of settings whose parameters grow with a size, those with the number that is nearest to the wanted one."""
        at = bisect_left(sizes, wanted, key=lambda size: count_parameters(make(size), vocab))
        options = [make(size) for size in sizes[max(0, at - 1) : at + 1]]
        return min(options, key=lambda option: abs(count_parameters(option, vocab) - wanted))

    model: Any = settings.model
    has_ff = hasattr(model, "ff") and getattr(model, "feed_forward", None) is not NoFeedForward
    if not _is_near(settings, wanted, vocab) and not (isinstance(model, HeatConfig) and has_ff):
        step = _HEADS if hasattr(model, "heads") else 2 if isinstance(model, RoleConfig) else 1
        settings = closest(lambda dim: _widened(settings, dim), range(step, _WIDEST, step))
    if not _is_near(settings, wanted, vocab) and has_ff:
        model = settings.model
        settings = closest(
            lambda ff: replace(settings, model=replace(model, ff=ff)), range(8, 16 * model.dim, 8)
        )
    return settings


def _widened(settings: BugSettings, dim: int) -> BugSettings:
    model: Any = settings.model
    ff = {"ff": model.ff * dim // model.dim} if hasattr(model, "ff") else {}
    return replace(settings, model=replace(model, dim=dim, **ff))


def _is_near(settings: BugSettings, wanted: int, vocab: Vocabulary) -> bool:
    return abs(count_parameters(settings, vocab) - wanted) <= _NEAR * wanted
