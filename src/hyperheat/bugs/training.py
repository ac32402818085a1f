"""Training a detector on a folder of samples."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.bugs.answers import answer_all
from hyperheat.bugs.dataset import Dataset, draw_indices
from hyperheat.bugs.encoders import view_of
from hyperheat.bugs.folder import DetectorConfig, TrainedDetector, load_trained, new_detector, save_trained
from hyperheat.bugs.metrics import Answers, measure
from hyperheat.bugs.model import losses
from hyperheat.bugs.recipes import BugSettings
from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.views import Hyperedges, View
from hyperheat.options import to_dict
from hyperheat.tensors import BudgetSampler, Vocabulary
from hyperheat.train import TrainOutcome, fit
from hyperheat.train.checkpoint import latest

__all__ = ["BugJob", "train_detector"]


_FIGURES = ("loss", "joint", "loc", "repair", "false_alarms", "ece")


class BugJob:
    """Samples in batches, the loss, and figures on the validation split; see `hyperheat.train.Job`."""

    model: nn.Module

    def __init__(
        self,
        settings: BugSettings,
        data: str | Path,
        *,
        vocab: Vocabulary | None = None,
        start: TrainedDetector | None = None,
    ) -> None:
        view = view_of(settings.model, binarise=settings.binarise)
        self._settings, self._view = settings, view
        self._samples = Dataset(data, "train", pairs=view.needs_pairs)
        self._held_out = Dataset(data, "valid", pairs=view.needs_pairs)
        self._sizes, self._readable = self._samples.sizes(), _readable(self._samples, view)
        self._validation = draw_indices(len(self._held_out), settings.validation)
        torch.manual_seed(settings.train.seed)
        self.detector = start or new_detector(
            _config(settings), vocab or _vocabulary(self._samples, view, settings)
        )
        self.model = self.detector.model

    def describe(self) -> Mapping[str, Any]:
        """What a resumed run must agree with."""
        settings = to_dict(self._settings)
        del settings["train"]
        return {
            **settings,
            "vocabulary": self.detector.vocab.fingerprint,
            "shards": self._samples.hashes,
            "valid": self._held_out.hashes,
        }

    def batches(self, epoch: int) -> Sequence[list[int]]:
        """Every sample that can be read once, in batches that do not depend on the encoder."""
        sampler = BudgetSampler(
            sizes=self._sizes, budget=self._settings.budget, seed=self._settings.train.seed
        )
        read = ([index for index in batch if self._readable[index]] for batch in sampler.batches(epoch))
        return [batch for batch in read if batch]

    def weight(self, batch: list[int]) -> float:
        """The number of samples."""
        return len(batch)

    def load(self, batch: list[int]) -> BugBatch[Tensor]:
        """The tensors of a batch."""
        samples = [self._samples[index] for index in batch]
        return collate_samples(samples, self._view, self.detector.vocab).to_torch()

    def loss(self, tensors: BugBatch[Tensor]) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of locations and of rewrites, summed."""
        device = next(self.model.parameters()).device
        batch = tensors.to_torch(device)
        location, repair = losses(self.model(batch), batch)
        total = location + self._settings.repair_weight * repair
        return total, {"location": float(location.detach()), "repair": float(repair.detach())}

    def validate(self) -> Mapping[str, float]:
        """The figures of the paper on the validation split, or a part of it."""
        samples = [self._held_out[index] for index in self._validation]
        sizes = [sample.graph.num_nodes for sample in samples]
        answers = Answers.join(answers for _, answers in answer_all(self.detector, samples, sizes))
        figures = asdict(measure(answers))
        return {name: figures[name] for name in _FIGURES if figures[name] is not None}

    def save(self, folder: Path) -> None:
        """Write the detector."""
        save_trained(self.detector, folder)


def train_detector(
    settings: BugSettings,
    data: str | Path,
    folder: str | Path,
    *,
    start: str | Path | None = None,
    resume: bool = False,
) -> TrainOutcome:
    """Train a detector in a folder, or go on with one; it begins with fresh weights, or those of the detector in `start`."""
    kept = latest(Path(folder)) if resume else None
    if kept is not None:
        job = BugJob(settings, data, vocab=Vocabulary.load(kept / "vocab.json"))
    else:
        job = BugJob(settings, data, start=None if start is None else _load_start(start, settings))
    return fit(job, settings.train, folder, resume=resume)


def _config(settings: BugSettings) -> DetectorConfig:
    return DetectorConfig(model=settings.model, binarise=settings.binarise)


def _load_start(folder: str | Path, settings: BugSettings) -> TrainedDetector:
    detector = load_trained(folder)
    if detector.config != _config(settings):
        raise ValueError(
            f"{folder}: expected a detector of {_config(settings).model}, got one of {detector.config.model}"
        )
    detector.model.train()
    return detector


def _readable(samples: Dataset, view: View) -> np.ndarray:
    if isinstance(
        view, Hyperedges
    ):  # it and its heirs read everything, which need not be asked 200,000 times
        return np.ones(len(samples), dtype=bool)
    return np.array([view.problem(sample) is None for sample in samples])


def _vocabulary(samples: Dataset, view: View, settings: BugSettings) -> Vocabulary:
    chosen = draw_indices(len(samples), 50_000)
    graphs = (view.graph(samples[index]) for index in chosen)
    return Vocabulary.build(graphs, min_count=settings.min_count, max_size=settings.labels)
