"""An untrained baseline: entities that stand together in many statements belong together.

    score(c) = sum over e in {the given entity, the qualifiers' values} of P(c | e)  x  (1 if c is known there, else 0.2)

For a blank relation, the score is the sum of the shares of statements that have it: of those with the subject, of those
with the object, and of those with each qualifier.

P(c | e) is the share of e's training statements that also hold c, in any role; c is known there if it answered the same
relation in the same direction in training. A trained model that scores lower is broken.
"""

from dataclasses import dataclass

import numpy as np

from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, SUBJECT, Practice, Questions
from hyperheat.kg.statements import Statements, expand

__all__ = ["Heuristic"]

_NEW_THERE = 0.2


@dataclass(frozen=True, slots=True)
class _Lists:
    """A list of entities, with weights, for each of several keys: those of k stand at bounds[k] .. bounds[k + 1]."""

    bounds: np.ndarray
    entity: np.ndarray
    weight: np.ndarray

    @classmethod
    def count(cls, keys: np.ndarray, entities: np.ndarray, num_keys: int, num_entities: int) -> "_Lists":
        """The distinct entities of each key; the weight says how often they stand with it."""
        codes, counts = np.unique(keys.astype(np.int64) * num_entities + entities, return_counts=True)
        bounds = np.searchsorted(codes, np.arange(num_keys + 1, dtype=np.int64) * num_entities)
        return cls(bounds, codes % num_entities, counts.astype(float))

    def of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The place in `keys`, and the place in the lists, of every entity of these keys."""
        return expand(self.bounds[keys], self.bounds[keys + 1] - self.bounds[keys])


class Heuristic:
    """The co-occurrence heuristic, made from the statements that it may know."""

    reads_labels = False
    asks_all = True
    practice = Practice(values=True, relations=True)

    def __init__(self, training: Statements) -> None:
        self._num_entities = len(training.entities)
        self._together = _co_occurrence(training)
        relations = len(training.relations)
        owner = np.repeat(np.arange(len(training)), training.num_qualifiers)
        self._num_relations = relations
        self._related = {
            "subject": _shares(training.subject, training.relation, self._num_entities, relations),
            "object": _shares(training.object, training.relation, self._num_entities, relations),
            "qualifier": _shares(training.qualifier, training.relation[owner], relations, relations),
        }
        self._answered = {
            asks: _Lists.count(keys, answers, relations, self._num_entities)
            for asks, keys, answers in (
                ("object", training.relation, training.object),
                ("subject", training.relation, training.subject),
                ("value", training.qualifier, training.value),
            )
        }

    def __call__(self, questions: Questions) -> np.ndarray:
        """Scores of all entities [B, entities], or of all relations [B, relations] if those are asked for."""
        if questions.asks_relation:
            return self._relation_scores(questions.statements)
        scores = self._company(len(questions), *questions.given())
        relation = questions.statements.relation
        for slot, asks in ((SUBJECT, "subject"), (OBJECT, "object")):
            rows = np.flatnonzero(questions.blank == slot)
            self._prefer_known(scores, rows, relation[rows], asks)
        rows = np.flatnonzero(questions.blank >= FIRST_QUALIFIER)
        self._prefer_known(scores, rows, questions.asked_qualifiers(rows), "value")
        return scores

    def with_statements(self, statements: Statements) -> "Heuristic":
        """The heuristic of other statements."""
        return Heuristic(statements)

    def logits(self, questions: Questions) -> np.ndarray:
        """The logarithms of the scores, so that softmax gives each entity its share of their sum."""
        with np.errstate(divide="ignore"):
            return np.log(self(questions))

    def _relation_scores(self, asked: Statements) -> np.ndarray:
        rows = np.arange(len(asked))
        owner = np.repeat(rows, asked.num_qualifiers)
        scores = np.zeros((len(asked), self._num_relations))
        for part, row, key in (
            ("subject", rows, asked.subject),
            ("object", rows, asked.object),
            ("qualifier", owner, asked.qualifier),
        ):
            lists = self._related[part]
            place, found = lists.of(key)
            np.add.at(scores, (row[place], lists.entity[found]), lists.weight[found])
        return scores

    def _company(self, count: int, row: np.ndarray, context: np.ndarray) -> np.ndarray:
        """For each of the rows the sum of P(c | e) over the entities e of its context [count, entities]."""
        owner, place = self._together.of(context)
        cells = row[owner] * self._num_entities + self._together.entity[place]
        scores = np.bincount(cells, self._together.weight[place], count * self._num_entities)
        # Without weights bincount gives integers.
        return scores.astype(float, copy=False).reshape(count, -1)

    def _prefer_known(self, scores: np.ndarray, rows: np.ndarray, relation: np.ndarray, asks: str) -> None:
        """Lower the scores of these rows where an entity has not answered the relation before."""
        answered = self._answered[asks]
        owner, place = answered.of(relation)
        known_there = rows[owner], answered.entity[place]
        kept = scores[known_there]
        scores[rows] *= _NEW_THERE
        scores[known_there] = kept


def _shares(keys: np.ndarray, relations: np.ndarray, num_keys: int, num_relations: int) -> _Lists:
    """For each key the relations that stand with it, weighted by their shares."""
    lists = _Lists.count(keys, relations, num_keys, num_relations)
    totals = np.bincount(keys, minlength=num_keys)
    return _Lists(lists.bounds, lists.entity, lists.weight / np.repeat(totals, np.diff(lists.bounds)))


def _co_occurrence(training: Statements) -> _Lists:
    """For each entity the others that share statements with it, weighted by P(other | entity)."""
    num_entities = len(training.entities)
    owner, held = training.memberships()
    codes = np.unique(owner * num_entities + held)
    owner, held = codes // num_entities, codes % num_entities
    sizes = np.bincount(owner, minlength=len(training))
    first = np.cumsum(sizes) - sizes
    one, other = expand(first[owner], sizes[owner])
    distinct = held[one] != held[other]
    lists = _Lists.count(held[one[distinct]], held[other[distinct]], num_entities, num_entities)
    degree = np.bincount(held, minlength=num_entities)
    weight = lists.weight / np.repeat(degree, np.diff(lists.bounds))
    return _Lists(lists.bounds, lists.entity, weight)
