"""Filtered ranking: for every statement, where does the true object stand among all entities, and the true subject?

    rank = 1 + #{c : score(c) > score(answer)} + #{c : score(c) = score(answer)} / 2

over the candidates c other than the answer, without those that are known to answer the same question as well. Ties count
half, so a model that gives one score to all n candidates gets the rank (n + 1) / 2, and no order of sorting helps it.

What counts as the same question is the filter key: subject (or object), relation and qualifiers, as StarE's code has
it, or subject (or object) and relation alone, as models of triples have it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperheat.kg.keys import expand, number_rows, qualifier_sets
from hyperheat.kg.statements import Statements, concatenate

__all__ = [
    "DIRECTIONS",
    "Direction",
    "FilterKey",
    "Metrics",
    "Queries",
    "Ranking",
    "Scorer",
    "other_answers",
    "rank",
]

Direction = Literal["object", "subject"]
FilterKey = Literal["qualifiers", "triple"]
DIRECTIONS: tuple[Direction, ...] = ("object", "subject")
_MANY = 6  # qualifiers from which on statements are reported together


@dataclass(frozen=True, eq=False, kw_only=True)
class Queries:
    """Statements with a blank: `asks` says whether their object or their subject is asked for."""

    asks: Direction
    entity: np.ndarray
    """[B] the subject where the object is asked for, else the object"""
    relation: np.ndarray
    offsets: np.ndarray
    qualifier: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, statements: Statements, asks: Direction) -> "Queries":
        """The statements without what is asked for."""
        return cls(
            asks=asks,
            entity=statements.subject if asks == "object" else statements.object,
            relation=statements.relation,
            offsets=statements.offsets,
            qualifier=statements.qualifier,
            value=statements.value,
        )

    def __len__(self) -> int:
        return len(self.entity)


Scorer = Callable[[Queries], np.ndarray]
"""Scores of all entities for each query, [B, entities]; higher is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Mean reciprocal rank, and the share of ranks that are at most 1, 3 and 10."""

    queries: int
    mrr: float
    h1: float
    h3: float
    h10: float

    @classmethod
    def of(cls, ranks: np.ndarray) -> "Metrics":
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

    def metrics(self) -> dict[str, Metrics]:
        """The metrics of both directions together, of each, and of each number of qualifiers."""
        table = {"both": Metrics.of(self.ranks.reshape(-1))}
        for direction, ranks in zip(DIRECTIONS, self.ranks, strict=True):
            table[direction] = Metrics.of(ranks)
        groups = np.minimum(self.num_qualifiers, _MANY)
        for size in np.unique(groups).tolist():
            name = f"{size}{'+' if size == _MANY else ''} qualifier{'' if size == 1 else 's'}"
            table[name] = Metrics.of(self.ranks[:, groups == size].reshape(-1))
        return table


def rank(
    scorer: Scorer,
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
    for row, asks in enumerate(DIRECTIONS):
        others = other_answers(statements, known, asks, key)
        answers = statements.object if asks == "object" else statements.subject
        for start in range(0, len(statements), batch_size):
            rows = np.arange(start, min(start + batch_size, len(statements)))
            scores = _checked(scorer(Queries.of(statements[rows], asks)), len(rows), len(candidates))
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


@dataclass(frozen=True, slots=True)
class _Answers:
    """Known answers by key: those of key number k stand at bounds[k] .. bounds[k + 1]."""

    keys: np.ndarray
    bounds: np.ndarray
    entities: np.ndarray
    own: np.ndarray

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (place in rows, entity): the known answers of these statements other than their own."""
        keys = self.keys[rows]
        row, place = expand(self.bounds[keys], self.bounds[keys + 1] - self.bounds[keys])
        entity = self.entities[place]
        other = entity != self.own[rows][row]
        return row[other], entity[other]


def other_answers(statements: Statements, known: Statements, asks: Direction, key: FilterKey) -> _Answers:
    """The answers to the questions of statements that they or the known ones hold, each statement's own left out."""
    every = concatenate([statements, known])
    given, answer = (every.subject, every.object) if asks == "object" else (every.object, every.subject)
    columns = [given, every.relation] + ([qualifier_sets(every)] if key == "qualifiers" else [])
    keys = number_rows(*columns)
    pairs = np.unique(keys * len(every.entities) + answer)
    bounds = np.searchsorted(pairs // len(every.entities), np.arange(keys.max() + 2))
    return _Answers(keys[: len(statements)], bounds, pairs % len(every.entities), answer[: len(statements)])


def _checked(scores: np.ndarray, rows: int, entities: int) -> np.ndarray:
    scores = np.asarray(scores)
    if scores.shape != (rows, entities):
        raise ValueError(f"scorer: expected scores of shape ({rows}, {entities}), got {scores.shape}")
    if np.isnan(scores).any():  # NaN is neither greater nor equal, so it would rank first
        raise ValueError("scorer: expected numbers, got NaN")
    return scores
