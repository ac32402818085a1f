"""A row of Table 1 or 2: the samples it learns from, its model, and its figures on validation and test packages."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.bugs.dataset import Dataset, draw_indices, read_manifest
from hyperheat.bugs.encoders import roles_of, view_of
from hyperheat.bugs.evaluation import evaluate
from hyperheat.bugs.mapped_samples import MappedSamples
from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.bugs.trained_detector import load_trained
from hyperheat.bugs.training import BugJob
from hyperheat.configuration import override, to_dict
from hyperheat.detector.sample import DENSE, REPAIRED
from hyperheat.progress import Progress
from hyperheat.reproduce.matching import row_settings
from hyperheat.reproduce.paper_tables import SIZES, TableRow
from hyperheat.reproduce.row_corpora import describe_corpus
from hyperheat.tensors import Vocabulary

__all__ = ["BugRowTask"]

_VALIDATION_SAMPLES = 5_000
_FEW_SAMPLES = 2_000


class BugRowTask:
    """What `running.run_row` needs of a row."""

    def __init__(
        self,
        row: TableRow,
        size: str,
        folder: Path,
        *,
        seed: int,
        changes: Sequence[str],
        real: Mapping[str, Path],
    ) -> None:
        self._row, self._size, self._folder = row, SIZES[size], folder
        self._seed, self._changes, self._real = seed, tuple(changes), real
        self.data = describe_corpus(folder)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the training samples, the same ones for all rows."""
        wanted = override(RECIPES[self._row.name](), [*self._row.set, *self._changes])
        samples = MappedSamples([self._folder], "train")
        return samples.vocabulary(
            min_count=wanted.min_count, max_size=wanted.labels, roles=roles_of(wanted.model)
        )

    @cached_property
    def settings(self) -> BugSettings:
        """What decides the model."""
        return row_settings(self._row, self._size, self.vocabulary, seed=self._seed, changes=self._changes)

    def describe_settings(self) -> dict[str, Any]:
        """The settings as plain values, without those of the training loop that are decided later."""
        return to_dict(self.settings)

    def make_job(self, run: Path) -> BugJob:
        """The training job; `run` is its folder."""
        view = view_of(self.settings.model, binarise=self.settings.binarise)
        if view.needs_pairs and not read_manifest(self._folder).get("settings", {}).get("pairs", True):
            raise ValueError(
                f"{self._folder}: made with --no-pairs, but {self._row.name} reads the graphs of pairs; make it without"
            )
        return BugJob(self.settings, self._folder, vocab=self.vocabulary)

    def measure(self, model: Path, *, briefly: bool) -> tuple[dict[str, Any], float, int]:
        """The figures on validation packages, samples per second of processor time, and the number of parameters."""
        limit = _FEW_SAMPLES if briefly else _VALIDATION_SAMPLES
        return self._measure(model, self._folder, "valid", limit=limit)

    def measure_finally(self, model: Path) -> dict[str, Any]:
        """The figures on test packages and on real bugs, by data set; they must not be looked at while choosing settings."""
        folders = {"held-out packages": self._folder, **self._real}
        return {name: self._measure(model, folder, "test")[0] for name, folder in folders.items()}

    def curve_point(self, valid: Mapping[str, float]) -> dict[str, float]:
        """What is drawn of a validation during training."""
        return {key: valid[key] for key in ("joint", "loss")}

    def _measure(
        self, model: Path, folder: Path, split: str, limit: int | None = None
    ) -> tuple[dict[str, Any], float, int]:
        detector = load_trained(model)
        mapped = MappedSamples([folder], split)
        wanted = ~mapped.having(DENSE) & ~mapped.having(REPAIRED)
        small = wanted & (mapped.sizes <= self._size.largest)
        indices = np.flatnonzero(small)
        if limit is not None:
            indices = indices[draw_indices(len(indices), limit)]
        samples = Dataset(folder, split, pairs=detector.view.needs_pairs)
        with Progress(f"measuring on {split}", every=10.0) as progress:
            began = time.process_time()
            evaluation = evaluate(
                detector,
                samples,
                indices.tolist(),
                lambda done, total: progress.show(done / total, f"{done:,} of {total:,} samples"),
            )
            rate = len(indices) / (time.process_time() - began)
        figures = {
            "all": asdict(evaluation.all),
            "by_kind": {
                kind: {key: asdict(found)[key] for key in ("samples", "joint", "loc", "repair")}
                for kind, found in evaluation.by_kind.items()
            },
            "by_package": _by_package(evaluation.answers.right, samples.projects(), indices),
            "too_large": int((wanted & ~small).sum()),
        }
        return figures, rate, evaluation.parameters


def _by_package(right: np.ndarray, projects: list[str], indices: np.ndarray) -> dict[str, Any]:
    """Joint in each package, so that rows can be compared package by package."""
    found: dict[str, list[bool]] = {}
    for index, is_right in zip(indices.tolist(), right.tolist(), strict=True):
        found.setdefault(projects[index], []).append(is_right)
    return {
        name: {"samples": len(rights), "joint": sum(rights) / len(rights)} for name, rights in found.items()
    }
