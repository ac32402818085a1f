"""Filtered ranking: the place of the true object, and of the true subject, of every statement among all entities.

    rank = 1 + #{c : score(c) > score(answer)} + #{c : score(c) = score(answer)} / 2

over the candidates c other than the answer, without those that are known to answer the same question as well. Ties count
half, so a model that gives one score to all n candidates gets the rank (n + 1) / 2, and no order of sorting helps it.

What counts as the same question is the filter key: subject (or object), relation and qualifiers, as in StarE's code, or
subject (or object) and relation alone, as in models of triples.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.datasets import StatementDataset, TrainingSplits
from hyperheat.kg.known_answers import FilterKey, OtherAnswers
from hyperheat.kg.questions import OBJECT, SUBJECT, Questions
from hyperheat.kg.statements import Statements

__all__ = [
    "DIRECTIONS",
    "STARE",
    "CandidateSet",
    "FilterKey",
    "Protocol",
    "RankEvaluation",
    "RankMetrics",
    "Ranking",
    "ScoreFunction",
    "evaluate",
    "rank",
]

CandidateSet = Literal["main", "training", "all"]
DIRECTIONS = {"object": OBJECT, "subject": SUBJECT}
"""What is asked for, by name: the blank slot."""
_MANY = 6  # statements with at least so many qualifiers are reported together

ScoreFunction = Callable[[Questions], np.ndarray]
"""Scores of all entities for each question, [B, entities]; higher is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMetrics:
    """Mean reciprocal rank, and the share of ranks that are at most 1, 3 and 10."""

    queries: int
    mrr: float
    h1: float
    h3: float
    h10: float

    @classmethod
    def of(cls, ranks: np.ndarray) -> "RankMetrics":
        """The metrics of some ranks, of which there is at least one."""
        h1, h3, h10 = (float((ranks <= k).mean()) for k in (1, 3, 10))
        return cls(queries=len(ranks), mrr=float((1 / ranks).mean()), h1=h1, h3=h3, h10=h10)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """The ranks of all answers: one row per direction, one column per statement."""

    ranks: np.ndarray
    """[2, M] in the order of DIRECTIONS"""
    num_qualifiers: np.ndarray
    """[M]"""
    tied: int
    """how many answers share their score with another candidate"""

    def metrics(self) -> dict[str, RankMetrics]:
        """The metrics of both directions together, of each, and of each number of qualifiers."""
        table = {"both": RankMetrics.of(self.ranks.reshape(-1))}
        for direction, ranks in zip(DIRECTIONS, self.ranks, strict=True):
            table[direction] = RankMetrics.of(ranks)
        groups = np.minimum(self.num_qualifiers, _MANY)
        for size in np.unique(groups).tolist():
            name = f"{size}{'+' if size == _MANY else ''} qualifier{'' if size == 1 else 's'}"
            table[name] = RankMetrics.of(self.ranks[:, groups == size].reshape(-1))
        return table


def rank(
    scorer: ScoreFunction,
    statements: Statements,
    *,
    known: Statements,
    candidates: np.ndarray,
    key: FilterKey = "qualifiers",
    batch_size: int = 128,
) -> Ranking:
    """Rank the object and the subject of every statement among the candidates, a mask over the entities.

    `known` holds the statements that filter: an entity that completes one of them, or one of `statements`, under the same
    key is no wrong answer. The answer itself is ranked even where it is no candidate.
    """
    if not statements:
        raise ValueError("rank: expected at least one statement, got none")
    if candidates.shape != (len(statements.entities),) or candidates.dtype != bool:
        raise ValueError(
            f"candidates: expected a mask over {len(statements.entities)} entities, "
            f"got {candidates.dtype} of shape {candidates.shape}"
        )
    ranks = np.empty((len(DIRECTIONS), len(statements)))
    tied = 0
    for row, blank in enumerate(DIRECTIONS.values()):
        others = OtherAnswers.find(statements, known, blank, key)
        answers = statements.object if blank == OBJECT else statements.subject
        for start in range(0, len(statements), batch_size):
            rows = np.arange(start, min(start + batch_size, len(statements)))
            questions = Questions(statements[rows], np.full(len(rows), blank))
            scores = _checked(scorer(questions), len(rows), len(candidates))
            greater, equal = _count(scores, answers[rows], candidates, *others.of(rows))
            ranks[row, rows] = 1 + greater + equal / 2
            tied += int((equal > 0).sum())
    return Ranking(ranks=ranks, num_qualifiers=statements.num_qualifiers, tied=tied)


def _count(
    scores: np.ndarray, answers: np.ndarray, candidates: np.ndarray, row: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How many candidates score more than the answer, and how many the same, the filtered ones left out."""
    lines = np.arange(len(scores))
    answer_scores = scores[lines, answers]
    # Counting all candidates and taking off the few that do not count is faster than masking every score.
    row = np.concatenate([lines, row])
    other = np.concatenate([answers, other])
    row, other = row[candidates[other]], other[candidates[other]]
    counts = []
    for compare in (np.greater, np.equal):
        counted = np.count_nonzero(compare(scores, answer_scores[:, None]) & candidates, axis=1)
        left_out = compare(scores[row, other], answer_scores[row])
        counts.append(counted - np.bincount(row[left_out], minlength=len(scores)))
    return counts[0], counts[1]


def _checked(scores: np.ndarray, rows: int, entities: int) -> np.ndarray:
    scores = np.asarray(scores)
    if scores.shape != (rows, entities):
        raise ValueError(f"scorer: expected scores of shape ({rows}, {entities}), got {scores.shape}")
    if np.isnan(scores).any():  # NaN is neither greater nor equal, so it would rank first
        raise ValueError("scorer: expected numbers, got NaN")
    return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What a model is trained on, what it is asked, and what counts as a wrong answer. The defaults are StarE's."""

    train_on: TrainingSplits = "train+valid"
    evaluate_on: Literal["valid", "test"] = "test"
    filter_key: FilterKey = "qualifiers"
    """which known answers are left out: those to the same entity, relation and qualifiers, or without the qualifiers"""
    candidates: CandidateSet = "main"
    """main: entities that are subject or object in any split, which peeks at test; training: in the training data"""
    without_leaks: bool = False
    """leave out the statements whose main triple is in the training data"""

    def __post_init__(self) -> None:
        if self.train_on == "train+valid" and self.evaluate_on == "valid":
            raise ValueError("protocol: cannot evaluate on valid a model that was trained on train+valid")


STARE = Protocol()


@dataclass(frozen=True, eq=False, kw_only=True)
class RankEvaluation:
    """Ranks, with everything needed to compare them with others."""

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
    dataset: StatementDataset, make: Callable[[Statements], ScoreFunction], protocol: Protocol = STARE
) -> RankEvaluation:
    """Make a scorer from the training data of the protocol, and rank the statements that it asks about."""
    training = dataset.training(protocol.train_on)
    asked = dataset.splits[protocol.evaluate_on]
    if protocol.without_leaks:
        asked = asked[~has_equal_triple(training, asked)]
    if not asked:
        raise ValueError(
            f"{dataset.source}: there are no statements in the {protocol.evaluate_on} split to evaluate on"
        )
    every = dataset.every()
    candidates = _mask(protocol.candidates, training, every)
    ranking = rank(make(training), asked, known=every, candidates=candidates, key=protocol.filter_key)
    return RankEvaluation(
        protocol=protocol,
        dataset=dataset.identify() or dataset.source,
        sha256=asked.digest(),
        statements=len(asked),
        candidates=int(candidates.sum()),
        ranking=ranking,
    )


def _mask(candidates: CandidateSet, training: Statements, every: Statements) -> np.ndarray:
    if candidates == "all":
        return np.ones(len(every.entities), bool)
    return (training if candidates == "training" else every).main_entities()
