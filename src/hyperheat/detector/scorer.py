"""Asking a detector: samples in, log-probabilities out, with numpy alone.

    scorer = Scorer.load("model")
    for sample, scores in zip(samples, scorer.score(samples)):
        best = scores.findings.argmax()         # a row of sample.candidates
        sure = np.exp(scores.findings[best])    # that there is a bug, there, and that this repairs it

Letters: L locations, G samples, R rewrites.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.manifest import CONFIG_FORMAT, WEIGHTS, LoadedModel, ModelError, load_detector_files
from hyperheat.detector.network import ARCHITECTURES, AnyArchitecture, Network
from hyperheat.detector.sample import TEXTS, Sample
from hyperheat.detector.views import BinaryEdges, Hyperedges
from hyperheat.files import parse_json
from hyperheat.tensors import BudgetSampler, Segments, Vocabulary

__all__ = ["MAX_SLOTS", "SampleScores", "Scorer", "ScorerConfig"]

MAX_SLOTS = 2_048
"""Slots of the largest edge that is read: attention inside one edge takes time and memory with the square of them."""

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, kw_only=True)
class SampleScores:
    """Log-probabilities for one sample."""

    no_bug: float
    nodes: np.ndarray
    """The locations: nodes of the hypergraph, rising [L]."""
    locations: np.ndarray
    """That the bug is there [L]; with `no_bug`, the probabilities sum to one."""
    location_of: np.ndarray
    """The location of each candidate: a place in `nodes` [R]."""
    rewrites: np.ndarray
    """That the candidate is the repair, given that the bug is at its location [R]."""

    @cached_property
    def findings(self) -> np.ndarray:
        """That there is a bug at the candidate's location and that it is the repair [R]."""
        return self.locations[self.location_of] + self.rewrites


@dataclass(frozen=True, kw_only=True)
class ScorerConfig:
    """`config.json` of a detector: what the network is, and what it reads."""

    architecture: AnyArchitecture
    binarise: bool

    @classmethod
    def parse(cls, content: bytes) -> "ScorerConfig":
        """Read the configuration of a detector with HEAT or a variant of it."""
        values = parse_json(content)
        if not isinstance(values, dict) or values.get("format") != CONFIG_FORMAT:
            raise ValueError(f"expected the format {CONFIG_FORMAT!r}, got something else")
        if values.get("texts") != [list(text) for text in TEXTS]:
            raise ValueError("made by a version with other kinds of rewrites; train it again")
        if type(values.get("binarise")) is not bool:
            raise ValueError("binarise: expected true or false, got something else")
        model = values.get("model")
        if not isinstance(model, dict) or len(model) != 1 or not model.keys() <= ARCHITECTURES.keys():
            raise ValueError(
                "model: expected HEAT or a variant of it, got another encoder, which only torch runs"
            )
        ((name, settings),) = model.items()
        if type(settings) is not dict:
            raise ValueError("model: expected settings by name, got something else")
        try:
            architecture = ARCHITECTURES[name](**settings)
        except TypeError as error:
            raise ValueError(f"model: expected the settings of HEAT: {error}") from None
        return cls(architecture=architecture, binarise=values["binarise"])


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """A detector, ready to run."""

    config: ScorerConfig
    vocab: Vocabulary
    fingerprint: str
    """The sha256 of the weights."""
    path: Path
    """The file of the weights."""
    parameters: int
    """The number of weights."""
    network: Network

    @classmethod
    def load(cls, folder: str | Path) -> "Scorer":
        """Read the folder of a detector; refuse files that are damaged or do not fit together."""
        return cls.of(load_detector_files(folder))

    @classmethod
    def of(cls, model: LoadedModel) -> "Scorer":
        """A scorer of a model that is loaded."""
        config = _parsed(ScorerConfig.parse, model.config, model.folder / "config.json")
        vocab = _parsed(Vocabulary.parse, model.vocab, model.folder / "vocab.json")
        path = model.folder / WEIGHTS
        try:
            network = Network(model.weights, config.architecture, vocab)
        except ValueError as error:
            raise ModelError(f"{path}: not the weights of this detector: {error}") from None
        except MemoryError:
            raise ModelError(f"{path}: cannot be loaded: it takes too much memory") from None
        return cls(
            config=config,
            vocab=vocab,
            fingerprint=model.sha256,
            path=path,
            parameters=sum(tensor.size for tensor in model.weights.values()),
            network=network,
        )

    def problem(self, sample: Sample) -> str | None:
        """Why the sample cannot be scored, or None."""
        largest = int(np.diff(sample.graph.offsets).max(initial=0)) + 1
        if largest > MAX_SLOTS and not self.config.binarise:
            return f"expected at most {MAX_SLOTS} nodes in a relation, got {largest}"
        return None

    def score(self, samples: Sequence[Sample], *, budget: int = 3_000) -> list[SampleScores]:
        """The scores of all samples, in their order; batches hold at most `budget` nodes."""
        sizes = [sample.graph.num_nodes for sample in samples]
        order = np.argsort(sizes, kind="stable")  # batches of equal sizes waste least
        sampler = BudgetSampler(sizes=[sizes[i] for i in order], budget=budget, shuffle=False)
        found: dict[int, SampleScores] = {}
        for batch in sampler.batches():
            indices = [int(order[i]) for i in batch]
            found.update(zip(indices, self.score_batch([samples[i] for i in indices]), strict=True))
        return [found[index] for index in range(len(samples))]

    def score_batch(self, samples: Sequence[Sample]) -> list[SampleScores]:
        """The scores of samples that are run together."""
        view = BinaryEdges() if self.config.binarise else Hyperedges()
        batch = collate_samples(samples, view, self.vocab)
        choices, rewrites = self.network(batch)
        if not (np.isfinite(choices).all() and np.isfinite(rewrites).all()):
            raise ModelError(f"{self.path}: not a detector: expected numbers as answers, got NaN or infinity")
        choices = _log_softmax(choices.astype(np.float64), batch.choices)
        rewrites = _log_softmax(rewrites.astype(np.float64), batch.by_location)
        return list(_by_sample(samples, batch, choices, rewrites))


def _parsed(parse: Callable[[bytes], Parsed], content: bytes, path: Path) -> Parsed:
    try:
        return parse(content)
    except ValueError as error:
        raise ModelError(f"{path}: not that of a detector: {error}") from None
    except MemoryError:
        raise ModelError(f"{path}: cannot be loaded: it takes too much memory") from None


def _log_softmax(x: np.ndarray, segments: Segments[np.ndarray]) -> np.ndarray:
    """Logarithm of the softmax over the entries of each segment, none of which is empty."""
    if not len(x):
        return x
    starts = segments.offsets[:-1]
    shifted = x - np.maximum.reduceat(x[segments.entries], starts)[segments.owner]
    totals = np.add.reduceat(np.exp(shifted)[segments.entries], starts)
    return shifted - np.log(totals)[segments.owner]


def _by_sample(
    samples: Sequence[Sample], batch: BugBatch[np.ndarray], choices: np.ndarray, rewrites: np.ndarray
) -> Iterator[SampleScores]:
    """Cut the scores of a batch into those of its samples, rewrites in the order of their candidates."""
    located, no_bug = np.split(choices, [len(batch.by_sample.owner)])
    sample_of = batch.by_sample.owner[batch.by_location.owner]  # [R]
    in_order = np.lexsort((batch.candidate, sample_of))
    ends = np.cumsum([len(sample.candidates) for sample in samples])[:-1]
    by_candidate = np.split(rewrites[in_order], ends)
    by_location = np.split(located, batch.by_sample.offsets[1:-1])  # locations stand in the order of samples
    for index, sample in enumerate(samples):
        nodes, location_of = np.unique(sample.candidates.location, return_inverse=True)
        yield SampleScores(
            no_bug=float(no_bug[index]),
            nodes=nodes,
            locations=by_location[index],
            location_of=location_of,
            rewrites=by_candidate[index],
        )
