"""Why an answer was given: the effect of each qualifier of the question, and the nearest known statements.

The effect of a qualifier is the probability of the answer to the question without it, and its rank by score, over the same
candidates.

The nearest statements share most with the completed one. A statement's parts are its relation, each of its entities in
any role, and each entity in its role (subject, object, or a qualifier). A shared part weighs

    ln(M / n)        for a part that n of the M known statements have

so a rare entity counts more than a common relation, and an entity in the same role about twice as much as in another. The
closeness of a statement is the weight of what it shares, divided by the weight of all parts of the completed one.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperheat.kg.questions import Questions
from hyperheat.kg.statements import Statement, Statements, append, expand

if TYPE_CHECKING:  # which itself needs this module
    from hyperheat.kg.completion import Answer, Completer, Completion

__all__ = ["Effect", "Explainer", "Explanation", "Support"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What becomes of an answer if a qualifier is left out."""

    qualifier: str
    value: str
    probability: float
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A known statement near the completed one, in labels where there are any."""

    statement: Statement
    closeness: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why an answer; printing it gives a few lines."""

    answer: "Answer"
    effects: tuple[Effect, ...]
    support: tuple[Support, ...]

    def __str__(self) -> str:
        answer = self.answer
        rows = [f"why {answer.label or answer.id}, rank {answer.rank} with p {answer.probability:.3f}:"]
        for effect in self.effects:
            gain = answer.probability - effect.probability
            without = f"without it p {effect.probability:.3f}, rank {effect.rank}"
            rows.append(f"  {effect.qualifier}={effect.value}: {gain:+.3f} ({without})")
        rows += [f"  near {support.closeness:.2f}: {support.statement}" for support in self.support]
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "answer": self.answer.id,
            "effects": [asdict(effect) for effect in self.effects],
            "support": [asdict(support) for support in self.support],
        }


class Explainer:
    """Explains the answers of a model; the known statements are indexed once."""

    def __init__(self, completer: "Completer") -> None:
        self._completer = completer
        self._parts = _PartIndex(completer.statements)

    def explain(self, completion: "Completion", rank: int = 1, *, support: int = 3) -> Explanation:
        """Why the answer of this rank was given, with so many near statements."""
        if not 1 <= rank <= len(completion):
            raise ValueError(f"explain: expected the rank of an answer, 1 to {len(completion)}, got {rank}")
        answer = completion[rank - 1]
        question = self._completer.resolve(completion.question)
        found = self._completer.find_answer(completion, rank)
        return Explanation(
            answer=answer,
            effects=self._effects(completion, question, found),
            support=self._support(question.filled(np.array([found])), support),
        )

    def nearest(self, statement: Statement, count: int) -> tuple[Statement, ...]:
        """The known statements that share most with a statement whose names are ids of the model."""
        known = self._completer.statements
        rows, _ = self._parts.nearest(append(known, [statement])[len(known) :], count)
        return tuple(known[rows])

    def _effects(self, completion: "Completion", question: Questions, found: int) -> tuple[Effect, ...]:
        given = np.flatnonzero(question.given_qualifiers())
        if not len(given):
            return ()
        asked = completion.question.statements[0].qualifiers
        effects = []
        for place, scores in zip(given, self._completer.scores(question.without_each()), strict=True):
            p = self._completer.probabilities(scores, completion.allowed)
            qualifier, value = asked[place]
            rank = 1 + int((scores[completion.allowed] > scores[found]).sum())
            effects.append(Effect(qualifier=qualifier, value=value, probability=float(p[found]), rank=rank))
        return tuple(effects)

    def _support(self, completed: Statements, count: int) -> tuple[Support, ...]:
        rows, closeness = self._parts.nearest(completed, count)
        return tuple(
            Support(statement=self._labelled(statement), closeness=float(share))
            for statement, share in zip(self._completer.statements[rows], closeness, strict=True)
        )

    def _labelled(self, statement: Statement) -> Statement:
        labels = self._completer.labels
        main = statement.subject, statement.relation, statement.object
        subject, relation, obj = (labels.get(name, name) for name in main)
        pairs = tuple(
            (labels.get(name, name), labels.get(value, value)) for name, value in statement.qualifiers
        )
        return Statement(subject, relation, obj, pairs)


class _PartIndex:
    """The statements that have each part: sorted numbers `part * M + statement`."""

    def __init__(self, statements: Statements) -> None:
        self._num_entities, self._num_relations = len(statements.entities), len(statements.relations)
        self._count = len(statements)
        owner, part = self._parts(statements)
        self._numbers = np.unique(part * self._count + owner)

    def nearest(self, completed: Statements, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest statements and their closeness, nearest first; those that share nothing are left out."""
        parts = np.unique(self._parts(completed)[1])
        first, last = (np.searchsorted(self._numbers, (parts + i) * self._count) for i in (0, 1))
        weight = np.log(self._count / np.maximum(last - first, 1))
        part, place = expand(first, last - first)
        shared = np.bincount(self._numbers[place] % self._count, weight[part], self._count)
        rows = np.argsort(-shared, kind="stable")[:count]
        rows = rows[shared[rows] > 0]
        return rows, shared[rows] / weight.sum()

    def _parts(self, statements: Statements) -> tuple[np.ndarray, np.ndarray]:
        """The parts of statements as numbers, each with its statement; entities beyond the known ones are none."""
        rows = np.arange(len(statements))
        owner, entity = statements.memberships()
        role = np.concatenate([np.zeros_like(rows), np.ones_like(rows), 2 + statements.qualifier])
        in_role = (1 + role) * self._num_entities + entity
        known = np.tile(entity < self._num_entities, 2)
        parts = self._num_relations + np.concatenate([entity, in_role])[known]
        return (
            np.concatenate([rows, np.tile(owner, 2)[known]]),
            np.concatenate([statements.relation, parts]).astype(np.int64),
        )
