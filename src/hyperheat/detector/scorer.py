"""Asking an exported detector: samples in, log-probabilities out, with numpy and onnxruntime alone.

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
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.inputs import collate_rows, inputs, layout_rows
from hyperheat.detector.interface import MAX_SLOTS, OUTPUTS
from hyperheat.detector.manifest import FORMAT
from hyperheat.detector.sample import TEXTS, Sample
from hyperheat.detector.session import LoadedModel, ModelError, load_model, reason_of
from hyperheat.detector.views import BinaryEdges, Hyperedges
from hyperheat.files import parse_json
from hyperheat.hypergraph import Hypergraph
from hyperheat.tensors import BudgetSampler, HypergraphBatch, Segments, Vocabulary

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["MAX_PAIRS", "SampleScores", "Scorer", "ScorerConfig"]


MAX_PAIRS = 2_500_000
"""Pairs of nodes that attention compares at a time in the largest sample that is read, padding included."""

MAX_DIM = 8_192
"""The widest model that is read."""

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
    """What must be known of a model to feed it: `config.json` of an exported detector."""

    dim: int
    binarise: bool
    parameters: int
    precision: str

    @classmethod
    def parse(cls, content: bytes) -> "ScorerConfig":
        """Read the configuration and refuse one of another format, or of other texts to put in."""
        values = parse_json(content)
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError(f"expected the format {FORMAT!r}, got something else")
        if values.pop("texts", None) != [list(text) for text in TEXTS]:
            raise ValueError("expected the operators and literals that this version puts in, got other ones")
        values.pop("model", None)  # the settings it was trained with, for people
        try:
            config = cls(**values)
        except TypeError as error:
            raise ValueError(f"expected the settings of an exported detector: {error}") from None
        if (
            type(config.dim) is not int
            or not 2 <= config.dim <= MAX_DIM
            or type(config.binarise) is not bool
            or type(config.parameters) is not int
            or type(config.precision) is not str
        ):
            got = f"{values!r:.200}"
            raise ValueError(
                f"expected a width up to {MAX_DIM} and whether edges are cut into pairs, got {got}"
            )
        return config


class _InRows(Hyperedges):
    """Hypergraphs as they are, arranged for an exported detector."""

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> HypergraphBatch[np.ndarray]:
        return collate_rows(graphs, vocab)


class _PairsInRows(BinaryEdges):
    """Hypergraphs cut into pairs, arranged for an exported detector."""

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> HypergraphBatch[np.ndarray]:
        return collate_rows(graphs, vocab)


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """An exported detector, ready to run."""

    config: ScorerConfig
    vocab: Vocabulary
    fingerprint: str
    """The sha256 of the model file."""
    path: Path
    """That of the model file."""
    session: "InferenceSession"

    @classmethod
    def load(cls, folder: str | Path, *, threads: int = 1) -> "Scorer":
        """Read what `export_detector` wrote; refuse files that are damaged, of another kind or not harmless."""
        return cls.of(load_model(folder, threads=threads))

    @classmethod
    def of(cls, model: LoadedModel) -> "Scorer":
        """A scorer of a model that is loaded."""
        config = _parsed(ScorerConfig.parse, model.config, model.folder / "config.json")
        vocab = _parsed(Vocabulary.parse, model.vocab, model.folder / "vocab.json")
        path = model.folder / "model.onnx"
        return cls(config=config, vocab=vocab, fingerprint=model.sha256, path=path, session=model.session)

    def problem(self, sample: Sample) -> str | None:
        """Why the sample cannot be scored, or None."""
        if self.config.binarise:
            return None
        largest = int(np.diff(sample.graph.offsets).max(initial=0)) + 1
        if largest > MAX_SLOTS:
            return f"expected at most {MAX_SLOTS} nodes in a relation, got {largest}"
        pairs = max(group.rows * group.width**2 for group in layout_rows(sample.graph.offsets).groups)
        if pairs > MAX_PAIRS:
            return f"expected at most {MAX_PAIRS} pairs of nodes in relations of one size, got {pairs}"
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
        view = _PairsInRows() if self.config.binarise else _InRows()
        batch = collate_samples(samples, view, self.vocab)
        arrays = inputs(batch, self.config.dim)
        feed = {name: arrays[name] for name in self._asked}
        choices, rewrites = self._run(feed)
        for segments, answers in ((batch.choices, choices), (batch.by_location, rewrites)):
            if answers.shape != segments.owner.shape:
                sizes = f"{segments.owner.shape} answers, got {answers.shape}"
                raise ModelError(f"{self.path}: not a detector: expected {sizes}")
            if not np.isfinite(answers).all():
                raise ModelError(
                    f"{self.path}: not a detector: expected numbers as answers, got NaN or infinity"
                )
        choices = _log_softmax(choices, batch.choices)
        rewrites = _log_softmax(rewrites, batch.by_location)
        return list(_by_sample(samples, batch, choices, rewrites))

    def _run(self, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        try:
            answers = self.session.run(list(OUTPUTS), feed)
            return [np.asarray(answer, dtype=np.float64) for answer in answers]
        except Exception as error:
            reason = reason_of(error)
            raise ModelError(f"{self.path}: not a detector: onnxruntime cannot run it: {reason}") from None

    @cached_property
    def _asked(self) -> list[str]:
        return [asked.name for asked in self.session.get_inputs()]


def _parsed(parse: Callable[[bytes], Parsed], content: bytes, path: Path) -> Parsed:
    try:
        return parse(content)
    except ValueError as error:
        raise ModelError(f"{path}: not an exported detector: {error}") from None


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
