"""Evaluating a scorer on a data set under a stated protocol."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from hyperheat.kg.datasets import Dataset
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.leaks import has_equal_triple
from hyperheat.kg.ranking import FilterKey, Ranking, Scorer, rank
from hyperheat.kg.statements import Statements, concatenate

__all__ = ["MODELS", "STARE", "Candidates", "Evaluation", "Protocol", "evaluate"]

Candidates = Literal["main", "training", "all"]
MODELS: dict[str, Callable[[Statements], Scorer]] = {"heuristic": Heuristic}
"""Scorers that need no training, by name: each is made from the statements that it may know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What is learnt from, what is asked, and what counts as a wrong answer. The defaults are StarE's."""

    train_on: Literal["train", "train+valid"] = "train+valid"
    evaluate_on: Literal["valid", "test"] = "test"
    filter_key: FilterKey = "qualifiers"
    """known answers to the same question are left out: the same entity, relation and, or not, qualifiers"""
    candidates: Candidates = "main"
    """main: entities that are subject or object in any split, which peeks at test; training: in the training data"""
    without_leaks: bool = False
    """leave out the statements whose main triple is in the training data"""

    def __post_init__(self) -> None:
        if self.train_on == "train+valid" and self.evaluate_on == "valid":
            raise ValueError("protocol: expected to evaluate on statements not trained on, got valid in both")


STARE = Protocol()


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """Ranks, with all that must be known to compare them with others."""

    protocol: Protocol
    dataset: str
    """name or source"""
    sha256: str
    """of the statements that were ranked"""
    statements: int
    candidates: int
    ranking: Ranking

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "dataset": self.dataset,
            "sha256": self.sha256,
            "protocol": {"name": "stare" if self.protocol == STARE else None, **asdict(self.protocol)},
            "statements": self.statements,
            "candidates": self.candidates,
            "tied": self.ranking.tied,
            "metrics": {name: asdict(metrics) for name, metrics in self.ranking.metrics().items()},
        }


def evaluate(
    dataset: Dataset, make: Callable[[Statements], Scorer], protocol: Protocol = STARE
) -> Evaluation:
    """Make a scorer from the training data of the protocol, and rank the statements that it asks about."""
    training = dataset.train
    if protocol.train_on == "train+valid":
        training = concatenate([dataset.train, dataset.valid])
    asked = dataset.splits[protocol.evaluate_on]
    if protocol.without_leaks:
        asked = asked[~has_equal_triple(training, asked)]
    if not asked:
        raise ValueError(
            f"{dataset.source}: expected statements in the {protocol.evaluate_on} split, got none to evaluate on"
        )
    every = dataset.every()
    candidates = _mask(protocol.candidates, training, every)
    ranking = rank(make(training), asked, known=every, candidates=candidates, key=protocol.filter_key)
    return Evaluation(
        protocol=protocol,
        dataset=dataset.identify() or dataset.source,
        sha256=asked.digest(),
        statements=len(asked),
        candidates=int(candidates.sum()),
        ranking=ranking,
    )


def _mask(candidates: Candidates, training: Statements, every: Statements) -> np.ndarray:
    if candidates == "all":
        return np.ones(len(every.entities), bool)
    return (training if candidates == "training" else every).main_entities()
