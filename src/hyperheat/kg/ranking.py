"""Filtered ranking: the place of the true object, and of the true subject, of every statement among all entities.

In the same way the values of qualifiers are ranked among the entities, and relations among the relations.

    rank = 1 + #{c : score(c) > score(answer)} + #{c : score(c) = score(answer)} / 2

over the candidates c other than the answer, without those that are known to answer the same question as well. Ties count
half, so a model that gives one score to all n candidates gets the rank (n + 1) / 2, and no order of sorting helps it.

What counts as the same question is the filter key: subject (or object), relation and qualifiers, as in StarE's code, or
subject (or object) and relation alone, as in models of triples. `breakdown.py` groups the ranks.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.breakdown import Breakdown, group_answers
from hyperheat.kg.datasets import StatementDataset, TrainingSplits
from hyperheat.kg.known_answers import FilterKey, OtherAnswers, group_values
from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, RELATION, SUBJECT, Questions, questions_at_once
from hyperheat.kg.statements import Statements

__all__ = [
    "DIRECTIONS",
    "STARE",
    "Ask",
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

CandidateSet = Literal["stare", "main", "training", "all"]
Ask = Literal["main", "values", "relations"]
DIRECTIONS = {"object": OBJECT, "subject": SUBJECT}
"""What is asked for, by name: the blank slot."""
_ASKED: dict[Ask, dict[str, int]] = {
    "main": DIRECTIONS,
    "values": {"value": FIRST_QUALIFIER},
    "relations": {"relation": RELATION},
}

ScoreFunction = Callable[[Questions], np.ndarray]
"""Scores of all entities for each question, [B, entities], or of all relations if those are asked for; higher is better."""


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
    """The ranks of all answers: one row per direction, one column per statement, or per qualifier if values are asked."""

    ranks: np.ndarray
    """[D, C]"""
    answers: np.ndarray
    """[D, C] the true answers"""
    statement: np.ndarray
    """[C] the statement of each column"""
    tied: int
    """how many answers share their score with another candidate"""
    ask: Ask = "main"

    def metrics(self, groups: Mapping[str, np.ndarray] | None = None) -> dict[str, RankMetrics]:
        """The metrics of both directions together, if there are two, of each direction, and of groups [D, C] of ranks."""
        table = {"both": RankMetrics.of(self.ranks.reshape(-1))} if len(self.ranks) > 1 else {}
        for direction, ranks in zip(_ASKED[self.ask], self.ranks, strict=True):
            table[direction] = RankMetrics.of(ranks)
        return table | {name: RankMetrics.of(self.ranks[mask]) for name, mask in (groups or {}).items()}


def rank(
    scorer: ScoreFunction,
    statements: Statements,
    *,
    known: Statements,
    candidates: np.ndarray,
    key: FilterKey = "qualifiers",
    batch_size: int | None = None,
    ask: Ask = "main",
) -> Ranking:
    """Rank the object and the subject of every statement among the candidates, a mask over the entities.

    Or rank the value of every qualifier, or every relation; then the candidates are a mask over the relations.

    `known` holds the statements that filter: an entity that completes one of them, or one of `statements`, under the same
    key is no wrong answer. The answer itself is ranked even where it is no candidate. By default a batch has at most 128
    questions, and fewer if the table is large, so that memory is bounded.
    """
    if not statements:
        raise ValueError("rank: expected at least one statement, got none")
    table = statements.relations if ask == "relations" else statements.entities
    if candidates.shape != (len(table),) or candidates.dtype != bool:
        raise ValueError(
            f"candidates: expected a mask over {len(table)} {'relations' if ask == 'relations' else 'entities'}, "
            f"got {candidates.dtype} of shape {candidates.shape}"
        )
    batch_size = batch_size or questions_at_once(len(table))
    statement, slot = np.arange(len(statements)), None
    if ask == "values":
        groups = group_values(statements)
        statement, slot = groups.statement, groups.blank
        if not len(statement):
            raise ValueError("rank: expected statements with qualifiers, got none")
    directions = _ASKED[ask]
    ranks, answers = np.empty((len(directions), len(statement))), []
    tied = 0
    for row, blank in enumerate(directions.values()):
        others = OtherAnswers.find(statements, known, blank, key)
        answers.append(others.own)
        for start in range(0, len(statement), batch_size):
            rows = np.arange(start, min(start + batch_size, len(statement)))
            blanks = np.full(len(rows), blank) if slot is None else slot[rows]
            questions = Questions(statements[statement[rows]], blanks)
            scores = _checked(scorer(questions), len(rows), len(candidates))
            greater, equal = _count(scores, others.own[rows], candidates, *others.of(rows))
            ranks[row, rows] = 1 + greater + equal / 2
            tied += int((equal > 0).sum())
    return Ranking(ranks=ranks, answers=np.stack(answers), statement=statement, tied=tied, ask=ask)


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
    candidates: CandidateSet = "stare"
    """main: entities that are subject or object in any split, which peeks at test; training: in the training data; stare:
    as in StarE's code, all for JF17K and WikiPeople, and main for other data

    For values, entities that are values there; for relations, those of main triples."""
    without_leaks: bool = False
    """leave out the statements whose main triple is in the training data"""
    ask: Ask = "main"
    """what is asked for: objects and subjects, the values of qualifiers, or relations"""

    def __post_init__(self) -> None:
        if self.train_on == "train+valid" and self.evaluate_on == "valid":
            raise ValueError("protocol: cannot evaluate on valid a model that was trained on train+valid")


STARE = Protocol()
_ALL_RANKED = ("jf17k", "wikipeople")
"""Formats, and names of data sets, on which StarE's code ranks every entity."""


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
    groups: Mapping[str, np.ndarray]
    """the ranks in each group, as masks [D, C]"""

    def metrics(self) -> dict[str, RankMetrics]:
        """The metrics of all ranks, of each direction and of each group."""
        return self.ranking.metrics(self.groups)

    def __str__(self) -> str:
        """A table, under what was measured."""
        name = "StarE's protocol" if self.protocol == STARE else "protocol"
        settings = ", ".join(
            f"{key.replace('_', ' ')} {value}" for key, value in asdict(self.protocol).items()
        )
        metrics = self.metrics()
        width = max(14, *map(len, metrics))
        rows = [
            f"{self.dataset}: {self.statements:,} statements (SHA-256 {self.sha256[:12]}), "
            f"{self.candidates:,} candidates, {self.ranking.tied:,} answers tied",
            f"{name}: {settings}",
            "",
            f"{'':<{width}} {'queries':>8} {'MRR':>6} {'H@1':>6} {'H@3':>6} {'H@10':>6}",
        ]
        for group, m in metrics.items():
            rows.append(
                f"{group:<{width}} {m.queries:>8,} {m.mrr:>6.3f} {m.h1:>6.3f} {m.h3:>6.3f} {m.h10:>6.3f}"
            )
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "dataset": self.dataset,
            "sha256": self.sha256,
            "protocol": {"name": "stare" if self.protocol == STARE else None, **asdict(self.protocol)},
            "statements": self.statements,
            "candidates": self.candidates,
            "tied": self.ranking.tied,
            "metrics": {name: asdict(metrics) for name, metrics in self.metrics().items()},
        }


def evaluate(
    dataset: StatementDataset,
    make: Callable[[Statements], ScoreFunction],
    protocol: Protocol = STARE,
    by: Breakdown = "qualifiers",
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
    chosen = _stare_candidates(dataset) if protocol.candidates == "stare" else protocol.candidates
    candidates = _mask(chosen, protocol.ask, training, every)
    ranking = rank(
        make(training), asked, known=every, candidates=candidates, key=protocol.filter_key, ask=protocol.ask
    )
    of_relations = protocol.ask == "relations"
    return RankEvaluation(
        protocol=protocol,
        dataset=dataset.identify() or dataset.source,
        sha256=asked.digest(),
        statements=len(asked),
        candidates=int(candidates.sum()),
        ranking=ranking,
        groups=group_answers(
            by,
            asked[ranking.statement],
            ranking.answers,
            training.relation if of_relations else training.memberships()[1],
        ),
    )


def _stare_candidates(dataset: StatementDataset) -> CandidateSet:
    """What StarE's code ranks."""
    return "all" if dataset.format in _ALL_RANKED or dataset.identify() in _ALL_RANKED else "main"


def _mask(candidates: CandidateSet, ask: Ask, training: Statements, every: Statements) -> np.ndarray:
    """The candidates among the entities or the relations."""
    table = every.relations if ask == "relations" else every.entities
    if candidates == "all":
        return np.ones(len(table), bool)
    source = training if candidates == "training" else every
    if ask == "main":
        return source.main_entities()
    mask = np.zeros(len(table), bool)
    mask[source.relation if ask == "relations" else source.value] = True
    return mask
