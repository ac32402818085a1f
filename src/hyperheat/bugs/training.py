"""Training a detector on a folder of samples."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.bugs.answers import answer, answer_batch
from hyperheat.bugs.dataset import Dataset, draw_indices
from hyperheat.bugs.encoders import view_of
from hyperheat.bugs.folder import DetectorConfig, TrainedDetector, load_trained, new_detector, save_trained
from hyperheat.bugs.mapped import EncodedStrings, MappedSamples
from hyperheat.bugs.metrics import Answers, measure
from hyperheat.bugs.model import dense_losses, losses
from hyperheat.bugs.recipes import BugSettings
from hyperheat.configuration import to_dict
from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.sample import DENSE
from hyperheat.detector.views import Hyperedges, View
from hyperheat.tensors import BudgetSampler, Vocabulary
from hyperheat.train import TrainOutcome, fit
from hyperheat.train.checkpoint import latest

__all__ = ["BugJob", "train_detector"]


_FIGURES = ("loss", "joint", "loc", "repair", "false_alarms", "ece")


class _Samples(Protocol):
    """A split as training reads it."""

    @property
    def hashes(self) -> list[str]:
        """Of its shards."""
        ...

    def sizes(self) -> np.ndarray:
        """Nodes of each sample."""
        ...

    def dense(self) -> np.ndarray:
        """Which samples have many bugs at once."""
        ...

    def readable(self) -> np.ndarray:
        """Which samples the encoder can read."""
        ...

    def batch(self, indices: Sequence[int]) -> BugBatch[np.ndarray]:
        """Samples as the encoder reads them."""
        ...

    def answers(self, detector: TrainedDetector, indices: Sequence[int]) -> Answers:
        """What a detector says of samples."""
        ...


class BugJob:
    """Samples in batches, the loss, and figures on the validation split; see `hyperheat.train.Job`.

    The first epoch is the dense phase, if there is one: as many batches of dense samples as it has steps. The others are
    passes over the samples with at most one bug.
    """

    model: nn.Module

    def __init__(
        self,
        settings: BugSettings,
        data: str | Path,
        *,
        vocab: Vocabulary | None = None,
        start: TrainedDetector | None = None,
    ) -> None:
        self._settings = settings
        view = view_of(settings.model, binarise=settings.binarise)
        splits = [_open(data, split, view) for split in ("train", "valid")]
        vocab = start.vocab if start is not None else vocab or _vocabulary(splits[0], view, settings)
        self._train, self._valid = (_reader(split, view, vocab) for split in splits)
        sizes, dense = self._train.sizes(), self._train.dense()
        self._is_dense = dense
        fits = sizes <= (settings.largest or sizes.max(initial=0))
        self._dense, self._plain = (np.flatnonzero(fits & kind) for kind in (dense, ~dense))
        self._sizes, self._readable = sizes, self._train.readable()
        for indices, needed, what in (
            (self._plain, True, "samples with at most one bug"),
            (self._dense, settings.dense_steps > 0, "dense samples"),
        ):
            if needed and not len(indices):
                raise ValueError(f"{data}: expected {what} in the split 'train', got none")
        held_out = np.flatnonzero(~self._valid.dense())
        self._validation = held_out[draw_indices(len(held_out), settings.validation)]
        torch.manual_seed(settings.train.seed)
        self.detector = start or new_detector(_config(settings), vocab)
        self.model = self.detector.model

    def describe(self) -> Mapping[str, Any]:
        """What a resumed run must agree with."""
        settings = to_dict(self._settings)
        del settings["train"]
        return {
            **settings,
            "vocabulary": self.detector.vocab.fingerprint,
            "shards": self._train.hashes,
            "valid": self._valid.hashes,
        }

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        """Every sample of a phase once, in batches that do not depend on the encoder; or all of the dense phase."""
        if self._settings.dense_steps == 0:
            return list(self._passes(self._plain, epoch))
        if epoch > 0:
            return list(self._passes(self._plain, epoch - 1))
        count = self._settings.dense_steps * self._settings.train.batches_per_step
        every = chain.from_iterable(self._passes(self._dense, number) for number in itertools.count())
        return list(islice(every, count))

    def _passes(self, indices: np.ndarray, number: int) -> Iterator[np.ndarray]:
        sampler = BudgetSampler(
            sizes=self._sizes[indices].tolist(), budget=self._settings.budget, seed=self._settings.train.seed
        )
        batches = (indices[batch] for batch in sampler.batches(number))
        read = (batch[self._readable[batch]] for batch in batches)
        return (batch for batch in read if len(batch))

    def weight(self, batch: np.ndarray) -> float:
        """The number of samples."""
        return len(batch)

    def load(self, batch: np.ndarray) -> tuple[BugBatch[Tensor], bool]:
        """The tensors of a batch, and whether it is one of the dense phase."""
        return self._train.batch(batch.tolist()).to_torch(), bool(self._is_dense[batch[0]])

    def loss(self, tensors: tuple[BugBatch[Tensor], bool]) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of locations and of rewrites, summed."""
        batch, dense = tensors
        batch = batch.to_torch(next(self.model.parameters()).device)
        location, repair = (dense_losses if dense else losses)(self.model(batch), batch)
        total = location + self._settings.repair_weight * repair
        return total, {"location": float(location.detach()), "repair": float(repair.detach())}

    def validate(self) -> Mapping[str, float]:
        """The figures of the paper on the validation split, or a part of it."""
        sizes = self._valid.sizes()[self._validation]
        order = self._validation[np.argsort(sizes, kind="stable")]
        sampler = BudgetSampler(sizes=np.sort(sizes).tolist(), budget=12_000, shuffle=False)
        batches = (order[batch].tolist() for batch in sampler.batches())
        answers = Answers.join(self._valid.answers(self.detector, batch) for batch in batches)
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


@dataclass(frozen=True)
class _Mapped:
    """Hypergraphs as they are, cut from columns on disk."""

    samples: MappedSamples
    strings: EncodedStrings

    @property
    def hashes(self) -> list[str]:
        return self.samples.hashes

    def sizes(self) -> np.ndarray:
        return self.samples.sizes

    def dense(self) -> np.ndarray:
        return self.samples.having(DENSE)

    def batch(self, indices: Sequence[int]) -> BugBatch[np.ndarray]:
        return self.samples.batch(indices, self.strings)

    def readable(self) -> np.ndarray:
        return np.ones(len(self.samples), dtype=bool)

    def answers(self, detector: TrainedDetector, indices: Sequence[int]) -> Answers:
        kinds = self.samples.kinds[np.asarray(indices)].astype(np.int64)
        return answer_batch(detector, self.batch(indices), kinds)


@dataclass(frozen=True)
class _Objects:
    """What other encoders read, made from samples in memory."""

    samples: Dataset
    view: View
    vocab: Vocabulary

    @property
    def hashes(self) -> list[str]:
        return self.samples.hashes

    def sizes(self) -> np.ndarray:
        return np.array(self.samples.sizes())

    def dense(self) -> np.ndarray:
        return np.array([DENSE in sample.origin.tags for sample in self.samples])

    def readable(self) -> np.ndarray:
        return np.array([self.view.problem(sample) is None for sample in self.samples])

    def batch(self, indices: Sequence[int]) -> BugBatch[np.ndarray]:
        return collate_samples([self.samples[index] for index in indices], self.view, self.vocab)

    def answers(self, detector: TrainedDetector, indices: Sequence[int]) -> Answers:
        return answer(detector, [self.samples[index] for index in indices])


def _open(data: str | Path, split: str, view: View) -> MappedSamples | Dataset:
    return (
        MappedSamples(data, split) if view == Hyperedges() else Dataset(data, split, pairs=view.needs_pairs)
    )


def _reader(samples: MappedSamples | Dataset, view: View, vocab: Vocabulary) -> _Samples:
    if isinstance(samples, Dataset):
        return _Objects(samples, view, vocab)
    return _Mapped(samples, EncodedStrings.of(samples.strings(), vocab))


def _vocabulary(samples: MappedSamples | Dataset, view: View, settings: BugSettings) -> Vocabulary:
    if isinstance(samples, MappedSamples):
        return samples.vocabulary(min_count=settings.min_count, max_size=settings.labels)
    chosen = draw_indices(len(samples), 50_000)
    graphs = (view.graph(samples[index]) for index in chosen)
    return Vocabulary.build(graphs, min_count=settings.min_count, max_size=settings.labels)
