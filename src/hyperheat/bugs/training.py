"""Training a detector on a folder of samples."""

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.bugs.answers import answer, answer_batch
from hyperheat.bugs.curriculum import Curriculum
from hyperheat.bugs.dataset import Dataset, draw_indices
from hyperheat.bugs.encoders import roles_of, view_of
from hyperheat.bugs.mapped_samples import EncodedStrings, MappedSamples
from hyperheat.bugs.metrics import Answers, measure
from hyperheat.bugs.model import dense_losses, losses
from hyperheat.bugs.recipes import BugSettings
from hyperheat.bugs.trained_detector import (
    DetectorConfig,
    TrainedDetector,
    load_trained,
    new_detector,
    save_trained,
)
from hyperheat.configuration import to_dict
from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.sample import DENSE, LIKELY, NO_BUG
from hyperheat.detector.views import Hyperedges, View
from hyperheat.tensors import BudgetSampler, Vocabulary
from hyperheat.train import TrainOutcome, fit
from hyperheat.train.checkpoint import latest

__all__ = ["BugJob", "train_detector"]

Folders = str | Path | Sequence[str | Path]
"""A corpus, or several that are trained on as one."""

_KEYWORDS = frozenset(word.lower() for word in keyword.kwlist)

_FIGURES = ("loss", "joint", "loc", "repair", "false_alarms", "found", "quiet", "ece")


class _Samples(Protocol):
    """A split as training reads it; columns have one entry per sample."""

    @property
    def hashes(self) -> list[str]:
        """Of its shards."""
        ...

    def sizes(self) -> np.ndarray:
        """Nodes of each sample."""
        ...

    def kinds(self) -> np.ndarray:
        """The kind of the bug of each sample, or NO_BUG."""
        ...

    def having(self, tag: str) -> np.ndarray:
        """Which samples have a tag."""
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


class Loaded(NamedTuple):
    """A batch, whether it is one of the dense phase, and how much each of its samples counts [G]."""

    batch: BugBatch[Tensor]
    dense: bool
    weight: Tensor


class BugJob:
    """Samples in batches, the loss, and figures on the validation split; see `hyperheat.train.Job`.

    Real bugs, in folders of their own, are trained on among samples of the corpus; `Curriculum` says how.
    """

    model: nn.Module

    def __init__(
        self,
        settings: BugSettings,
        data: Folders,
        *,
        real: Sequence[str | Path] = (),
        vocab: Vocabulary | None = None,
        start: TrainedDetector | None = None,
    ) -> None:
        self._settings = settings
        view = view_of(settings.model, binarise=settings.binarise)
        corpora = [data] if isinstance(data, str | Path) else [*data]
        if len([*corpora, *real]) > 1 and view != Hyperedges():
            raise ValueError(
                "training on real bugs or on several corpora works with encoders of hypergraphs only"
            )
        if settings.forget and view != Hyperedges():
            raise ValueError("forget: expected 0 for encoders that do not read hypergraphs")
        splits = [_open([*corpora, *real], split, view) for split in ("train", "valid")]
        vocab = start.vocab if start is not None else vocab or _vocabulary(splits[0], view, settings)
        self._train, self._valid = (_reader(split, view, vocab) for split in splits)
        self._dense = self._train.having(DENSE)
        try:
            self._curriculum = Curriculum(
                settings=settings,
                sizes=self._train.sizes(),
                dense=self._dense,
                clean=self._train.kinds() == NO_BUG,
                real=_are_real(splits[0], len(corpora)),
                readable=self._train.readable(),
            )
        except ValueError as error:
            raise ValueError(f"{corpora[0]}: {error}") from None
        unsure = self._curriculum.real & ~self._curriculum.clean & ~self._train.having(LIKELY)
        self._weight = np.where(unsure, settings.unsure_weight, 1.0).astype(np.float32)
        held_out = ~self._valid.having(DENSE)
        if settings.validation_largest is not None:
            held_out &= self._valid.sizes() <= settings.validation_largest
        is_real = _are_real(splits[1], len(corpora))
        self._validation = {
            prefix: _some(np.flatnonzero(held_out & chosen), settings.validation)
            for prefix, chosen in (("", ~is_real), ("real_", is_real))
            if chosen.any()
        }
        self._words = np.array([label.isidentifier() and label not in _KEYWORDS for label in vocab.labels])
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
        """The batches of an epoch, which do not depend on the encoder."""
        return self._curriculum.batches(epoch)

    def weight(self, batch: np.ndarray) -> float:
        """The number of samples, by how much they count."""
        return float(self._weight[batch].sum())

    def load(self, batch: np.ndarray) -> Loaded:
        """The tensors of a batch."""
        tensors = self._forget(self._train.batch(batch.tolist()), batch).to_torch()
        return Loaded(tensors, bool(self._dense[batch[0]]), torch.from_numpy(self._weight[batch]))

    def _forget(self, read: BugBatch[np.ndarray], batch: np.ndarray) -> BugBatch[np.ndarray]:
        """A batch in which some words are unknown, in all of its samples; the seed and the batch decide which."""
        if not self._settings.forget:
            return read
        rng = np.random.default_rng((self._settings.train.seed, *batch.tolist()))
        forgotten = self._words & (rng.random(len(self._words)) < self._settings.forget)
        labels = read.graphs.labels
        tokens = np.where(forgotten[labels.tokens], 0, labels.tokens)
        return replace(read, graphs=replace(read.graphs, labels=replace(labels, tokens=tokens)))

    def loss(self, tensors: Loaded) -> tuple[Tensor, Mapping[str, float]]:
        """The loss of locations and of rewrites, summed."""
        device = next(self.model.parameters()).device
        batch = tensors.batch.to_torch(device)
        scores = self.model(batch)
        if tensors.dense:
            location, repair = dense_losses(scores, batch)
        else:
            location, repair = losses(scores, batch, tensors.weight.to(device), self._settings.focal)
        total = location + self._settings.repair_weight * repair
        return total, {"location": float(location.detach()), "repair": float(repair.detach())}

    def validate(self) -> Mapping[str, float]:
        """The figures of the paper on the validation split, or a part of it; those of real bugs begin with `real_`."""
        values = {}
        for prefix, indices in self._validation.items():
            sizes = self._valid.sizes()[indices]
            order = indices[np.argsort(sizes, kind="stable")]
            sampler = BudgetSampler(sizes=np.sort(sizes).tolist(), budget=12_000, shuffle=False)
            batches = (order[batch].tolist() for batch in sampler.batches())
            answers = Answers.join(self._valid.answers(self.detector, batch) for batch in batches)
            figures = asdict(measure(answers))
            values |= {prefix + name: figures[name] for name in _FIGURES if figures[name] is not None}
        return values

    def save(self, folder: Path) -> None:
        """Write the detector."""
        save_trained(self.detector, folder)


def train_detector(
    settings: BugSettings,
    data: Folders,
    folder: str | Path,
    *,
    real: Sequence[str | Path] = (),
    start: str | Path | None = None,
    resume: bool = False,
) -> TrainOutcome:
    """Train a detector in a folder, or go on with one; it begins with fresh weights, or those of the detector in `start`.

    `real` are folders of real bugs that it is trained on among samples of `data`.
    """
    kept = latest(Path(folder)) if resume else None
    if kept is not None:
        job = BugJob(settings, data, real=real, vocab=Vocabulary.load(kept / "vocab.json"))
    else:
        begin = None if start is None else _load_start(start, settings)
        job = BugJob(settings, data, real=real, start=begin)
    return fit(job, settings.train, folder, resume=resume)


def _config(settings: BugSettings) -> DetectorConfig:
    return DetectorConfig(model=settings.model, binarise=settings.binarise)


def _load_start(folder: str | Path, settings: BugSettings) -> TrainedDetector:
    """The weights of a detector in one of these settings; they say nothing about dropout, so that may differ."""
    begin, config = load_trained(folder), _config(settings)
    model = replace(begin.config.model, dropout=config.model.dropout)
    if replace(begin.config, model=model) != config:
        raise ValueError(f"{folder}: expected a detector of {config.model}, got one of {begin.config.model}")
    detector = new_detector(config, begin.vocab)
    detector.model.load_state_dict(begin.model.state_dict())
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

    def kinds(self) -> np.ndarray:
        return self.samples.kinds

    def having(self, tag: str) -> np.ndarray:
        return self.samples.having(tag)

    def batch(self, indices: Sequence[int]) -> BugBatch[np.ndarray]:
        return self.samples.batch(indices, self.strings)

    def readable(self) -> np.ndarray:
        return np.ones(len(self.samples), dtype=bool)

    def answers(self, detector: TrainedDetector, indices: Sequence[int]) -> Answers:
        return answer_batch(detector, self.batch(indices), self.samples.kinds[np.asarray(indices)])


class _Objects:
    """What other encoders read, made from samples in memory. What is known of all samples is read in one pass."""

    def __init__(self, samples: Dataset, view: View, vocab: Vocabulary) -> None:
        self.samples, self.view, self.vocab = samples, view, vocab
        kinds, tags, readable = [], [], []
        for sample in samples:
            kinds.append(sample.candidates.kind[sample.repairs[0]] if sample.repairs else NO_BUG)
            tags.append(sample.origin.tags)
            readable.append(view.problem(sample) is None)
        self._kinds, self._tags, self._readable = np.array(kinds), tags, np.array(readable)

    @property
    def hashes(self) -> list[str]:
        return self.samples.hashes

    def sizes(self) -> np.ndarray:
        return np.array(self.samples.sizes())

    def kinds(self) -> np.ndarray:
        return self._kinds

    def having(self, tag: str) -> np.ndarray:
        return np.array([tag in tags for tags in self._tags])

    def readable(self) -> np.ndarray:
        return self._readable

    def batch(self, indices: Sequence[int]) -> BugBatch[np.ndarray]:
        return collate_samples([self.samples[index] for index in indices], self.view, self.vocab)

    def answers(self, detector: TrainedDetector, indices: Sequence[int]) -> Answers:
        return answer(detector, [self.samples[index] for index in indices])


def _open(folders: Sequence[str | Path], split: str, view: View) -> MappedSamples | Dataset:
    if view == Hyperedges():
        return MappedSamples(folders, split)
    return Dataset(folders[0], split, pairs=view.needs_pairs)


def _are_real(samples: MappedSamples | Dataset, corpora: int) -> np.ndarray:
    """Which samples are not those of the first folders, the corpora."""
    planted = sum(samples.counts[:corpora]) if isinstance(samples, MappedSamples) else len(samples)
    return np.arange(len(samples)) >= planted


def _some(indices: np.ndarray, limit: int) -> np.ndarray:
    return indices[draw_indices(len(indices), limit)]


def _reader(samples: MappedSamples | Dataset, view: View, vocab: Vocabulary) -> _Samples:
    if isinstance(samples, Dataset):
        return _Objects(samples, view, vocab)
    return _Mapped(samples, EncodedStrings.of(samples.strings(), vocab))


def _vocabulary(samples: MappedSamples | Dataset, view: View, settings: BugSettings) -> Vocabulary:
    roles = roles_of(settings.model)
    if isinstance(samples, MappedSamples):
        return samples.vocabulary(min_count=settings.min_count, max_size=settings.labels, roles=roles)
    chosen = draw_indices(len(samples), 50_000)
    graphs = (view.graph(samples[index]) for index in chosen)
    return Vocabulary.build(graphs, min_count=settings.min_count, max_size=settings.labels, roles=roles)
