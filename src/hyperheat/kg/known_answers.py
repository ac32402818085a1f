"""The answers to questions that statements hold, in three senses.

- `AnswerGroups`: statements that differ in one slot alone pose the same question. Training takes them together.
- `OtherAnswers`: what answers the question of a statement as well as its own answer does. Ranking leaves it out.
- `KnownAnswers`: an entity (or relation) is known to answer a question if a statement says all that the question says, and
  that entity; it may say more. It is known with other qualifiers if a statement agrees but for the qualifiers that the
  question gives.

Letters: Q questions, K (question, answer) pairs.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperheat.kg.questions import FIRST_QUALIFIER, OBJECT, RELATION, SUBJECT, Questions
from hyperheat.kg.statements import Statements, concatenate, expand, number_rows, qualifier_sets

__all__ = [
    "AnswerGroups",
    "FilterKey",
    "KnownAnswers",
    "OtherAnswers",
    "group_main",
    "group_relations",
    "group_values",
]

FilterKey = Literal["qualifiers", "triple"]


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerGroups:
    """Statements grouped by the question that they answer."""

    blank: np.ndarray
    """[Q] the blank slot of each question"""
    offsets: np.ndarray
    """[Q+1] question q is answered by statement[offsets[q] : offsets[q+1]]"""
    statement: np.ndarray
    """[K]"""
    answer: np.ndarray
    """[K] what stands in the blank slot of that statement"""

    def __len__(self) -> int:
        return len(self.blank)

    def questions(self, statements: Statements, chosen: np.ndarray) -> Questions:
        """The chosen questions, as the grouped statements pose them."""
        return Questions(statements[self.statement[self.offsets[chosen]]], self.blank[chosen])

    def answers(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For the chosen questions all pairs of a place in `chosen` and a place in `statement` and `answer`."""
        first = self.offsets[chosen]
        return expand(first, self.offsets[chosen + 1] - first)


def group_main(statements: Statements) -> AnswerGroups:
    """Group distinct statements by the questions that ask for their objects, and by those that ask for their subjects."""
    sets = qualifier_sets(statements)
    columns = (
        (OBJECT, statements.subject, statements.object),
        (SUBJECT, statements.object, statements.subject),
    )
    parts = []
    for blank, given, answer in columns:
        keys = number_rows(given, statements.relation, sets)
        order = np.argsort(keys, kind="stable")
        sizes = np.bincount(keys)
        parts.append((np.full(len(sizes), blank), sizes, order, answer[order]))
    blanks, sizes, statement, answer = (np.concatenate(column) for column in zip(*parts, strict=True))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return AnswerGroups(blank=blanks, offsets=offsets, statement=statement, answer=answer)


def group_relations(statements: Statements) -> AnswerGroups:
    """Group distinct statements by the questions that ask for their relations."""
    keys = number_rows(statements.subject, statements.object, qualifier_sets(statements))
    order, sizes = np.argsort(keys, kind="stable"), np.bincount(keys)
    return AnswerGroups(
        blank=np.full(len(sizes), RELATION),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        statement=order,
        answer=statements.relation[order].astype(np.int64),
    )


def group_values(statements: Statements) -> AnswerGroups:
    """Put every value of a qualifier into a group of its own."""
    statement, place = expand(statements.offsets[:-1], statements.num_qualifiers)
    blank = FIRST_QUALIFIER + place - statements.offsets[statement]
    return AnswerGroups(
        blank=blank, offsets=np.arange(len(place) + 1), statement=statement, answer=statements.value[place]
    )


@dataclass(frozen=True, slots=True)
class OtherAnswers:
    """Known answers by key: those of key number k stand at bounds[k] .. bounds[k + 1]."""

    keys: np.ndarray
    bounds: np.ndarray
    answers: np.ndarray
    own: np.ndarray
    """[Q] the answers of the questions' own statements"""

    @classmethod
    def find(cls, statements: Statements, known: Statements, blank: int, key: FilterKey) -> "OtherAnswers":
        """The answers in `statements` and `known` to the questions of `statements` with a certain blank.

        That is the SUBJECT, the OBJECT, the RELATION, or with FIRST_QUALIFIER the value of each qualifier in turn.
        Questions are the same if they give the same, but with the key "triple" the qualifiers that they give do not
        matter.
        """
        every = concatenate([statements, known])
        own = len(statements.value) if blank == FIRST_QUALIFIER else len(statements)
        columns = {"subject": every.subject, "relation": every.relation, "object": every.object}
        if blank == FIRST_QUALIFIER:
            groups = group_values(every)
            columns = {name: column[groups.statement] for name, column in columns.items()}
            columns |= {"qualifier": every.qualifier, "answer": groups.answer}
            every = _without_asked(every, groups)
        else:
            columns["answer"] = columns.pop(
                {RELATION: "relation", SUBJECT: "subject", OBJECT: "object"}[blank]
            )
        answer = columns.pop("answer").astype(np.int64)
        given = [*columns.values()] + ([qualifier_sets(every)] if key == "qualifiers" else [])
        keys, count = number_rows(*given), max(len(every.entities), len(every.relations))
        pairs = np.unique(keys * count + answer)
        bounds = np.searchsorted(pairs // count, np.arange(keys.max(initial=-1) + 2))
        return cls(keys[:own], bounds, pairs % count, answer[:own])

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (place in rows, answer): the known answers to these questions, other than their own."""
        keys = self.keys[rows]
        row, place = expand(self.bounds[keys], self.bounds[keys + 1] - self.bounds[keys])
        answer = self.answers[place]
        other = answer != self.own[rows][row]
        return row[other], answer[other]


def _without_asked(statements: Statements, groups: AnswerGroups) -> Statements:
    """The statement of each question for a value, without the qualifier whose value is asked for."""
    repeated = statements[groups.statement]
    asked = repeated.offsets[:-1] + groups.blank - FIRST_QUALIFIER
    kept = np.ones(len(repeated.value), bool)
    kept[asked] = False
    return repeated.with_qualifiers(kept)


class KnownAnswers:
    """Statements, found by subject and by object."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        count = len(statements.entities)
        self._order = {slot: np.argsort(self._column(slot), kind="stable") for slot in (SUBJECT, OBJECT)}
        self._bounds = {
            slot: np.searchsorted(self._column(slot)[order], np.arange(count + 1))
            for slot, order in self._order.items()
        }

    def to(self, question: Questions) -> tuple[np.ndarray, np.ndarray]:
        """The known answers to a single question, and those that are known with other qualifiers only."""
        (blank,) = question.blank.tolist()
        rows = self._agreeing(question.statements, blank)
        has_all = np.ones(len(rows), bool)
        given = question.statements.with_qualifiers(question.given_qualifiers())
        for qualifier, value in zip(given.qualifier.tolist(), given.value.tolist(), strict=True):
            has_all &= np.isin(rows, self._holders(rows, qualifier, value)[0])
        if blank >= FIRST_QUALIFIER:
            (asked,) = question.asked_qualifiers(np.array([0])).tolist()
            holder, answers = self._holders(rows, asked, None)
            has_all = has_all[np.searchsorted(rows, holder)]
        elif blank == RELATION:
            answers = self._statements.relation[rows]
        else:
            answers = self._column(blank)[rows]
        known = np.unique(answers[has_all])
        return known, np.setdiff1d(answers, known)

    def _agreeing(self, asked: Statements, blank: int) -> np.ndarray:
        """The statements with the subject, relation and object that are given, in rising order."""
        slot, entity = (OBJECT, asked.object[0]) if blank == SUBJECT else (SUBJECT, asked.subject[0])
        if entity >= len(self._statements.entities):  # a name that only the question has
            return np.zeros(0, np.int64)
        bounds = self._bounds[slot]
        rows = self._order[slot][bounds[entity] : bounds[entity + 1]]
        if blank != RELATION:
            rows = rows[self._statements.relation[rows] == asked.relation[0]]
        if blank not in (SUBJECT, OBJECT):
            rows = rows[self._statements.object[rows] == asked.object[0]]
        return np.sort(rows)

    def _holders(self, rows: np.ndarray, qualifier: int, value: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Of some statements those with a qualifier, as often as they have it, and its values there."""
        statements = self._statements
        first = statements.offsets[rows]
        owner, place = expand(first, statements.offsets[rows + 1] - first)
        chosen = statements.qualifier[place] == qualifier
        if value is not None:
            chosen &= statements.value[place] == value
        return rows[owner[chosen]], statements.value[place[chosen]]

    def _column(self, slot: int) -> np.ndarray:
        return self._statements.subject if slot == SUBJECT else self._statements.object
