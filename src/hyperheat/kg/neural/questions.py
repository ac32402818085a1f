"""Questions: statements with a blank, and how a network reads them.

A statement has the slots subject, object and one per qualifier; a question leaves one of them blank. Statements that differ
in the blank alone pose the same question and are its answers.

A network reads a question as the tokens `relation, subject, object, value, ...`. Each is a row of the table

    entities [N], relations [R], relations asked backwards [R], and one more row that stands for the blank

beside a role: 0 the relation, 1 the subject, 2 the object, 3 + r the qualifier r. So qualifiers are a set, and a value keeps
its qualifier. Questions with equally many qualifiers stand together, without padding.
Letters: Q questions, K (question, answer) pairs, B questions of a batch, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from hyperheat.kg.keys import expand, number_rows, number_statements, qualifier_sets
from hyperheat.kg.statements import Statements
from hyperheat.tensors.indices import ArrayT

__all__ = [
    "OBJECT",
    "SUBJECT",
    "Questions",
    "Tokens",
    "distinct",
    "main_questions",
    "qualifier_questions",
    "tokenise",
]

SUBJECT, OBJECT = 0, 1
_FIRST_QUALIFIER = 2
_RELATION_ROLE, _SUBJECT_ROLE, _OBJECT_ROLE, _FIRST_QUALIFIER_ROLE = range(4)


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """The questions that statements pose, each with all its answers."""

    blank: np.ndarray
    """[Q] the blank slot: SUBJECT, OBJECT, or 2 + i for the i-th qualifier"""
    offsets: np.ndarray
    """[Q+1] question q is posed by statement[offsets[q] : offsets[q+1]]"""
    statement: np.ndarray
    """[K]"""
    answer: np.ndarray
    """[K] what stands in the blank of that statement"""

    def __len__(self) -> int:
        return len(self.blank)

    def first(self, chosen: np.ndarray) -> np.ndarray:
        """For each chosen question a statement that poses it."""
        return self.statement[self.offsets[chosen]]

    def posed_by(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For the chosen questions all pairs of a place in `chosen` and a place in `statement` and `answer`."""
        return expand(self.offsets[chosen], np.diff(self.offsets)[chosen])


def distinct(statements: Statements) -> Statements:
    """Each statement once, in the order of first occurrence."""
    _, first = np.unique(number_statements(statements), return_index=True)
    return statements[np.sort(first)]


def main_questions(statements: Statements) -> Questions:
    """Every question after an object or a subject, of distinct statements."""
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
    return Questions(blank=blanks, offsets=offsets, statement=statement, answer=answer)


def qualifier_questions(statements: Statements) -> Questions:
    """For every value of a qualifier the question after it."""
    statement, place = expand(statements.offsets[:-1], statements.num_qualifiers)
    blank = _FIRST_QUALIFIER + place - statements.offsets[statement]
    return Questions(
        blank=blank, offsets=np.arange(len(place) + 1), statement=statement, answer=statements.value[place]
    )


@dataclass(frozen=True, kw_only=True)
class Tokens(Generic[ArrayT]):
    """What a network reads: tokens of questions in groups of equal length, one after the other."""

    groups: tuple[tuple[int, int], ...]
    """(questions, tokens per question) of each group"""
    entry: ArrayT
    """[T] the row of the table"""
    role: ArrayT
    """[T]"""
    blank: ArrayT
    """[B] the place of each question's blank among the tokens"""


def tokenise(statements: Statements, blank: np.ndarray) -> tuple[Tokens[np.ndarray], np.ndarray]:
    """The tokens of one question per statement, and the order in which the questions then stand."""
    num_entities, num_relations = len(statements.entities), len(statements.relations)
    sizes = statements.num_qualifiers
    groups, entries, roles, orders = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        places = statements.offsets[rows][:, None] + np.arange(size)
        entry = np.empty((len(rows), 3 + size), np.int64)
        role = np.empty_like(entry)
        backwards = blank[rows] == SUBJECT
        entry[:, 0] = num_entities + statements.relation[rows] + num_relations * backwards
        entry[:, 1], entry[:, 2] = statements.subject[rows], statements.object[rows]
        entry[:, 3:] = statements.value[places]
        entry[np.arange(len(rows)), 1 + blank[rows]] = num_entities + 2 * num_relations
        role[:, :3] = _RELATION_ROLE, _SUBJECT_ROLE, _OBJECT_ROLE
        role[:, 3:] = _FIRST_QUALIFIER_ROLE + statements.qualifier[places]
        groups.append(entry.shape)
        entries.append(entry.ravel())
        roles.append(role.ravel())
        orders.append(rows)
    order = np.concatenate(orders) if orders else np.zeros(0, np.int64)
    tokens = Tokens(
        groups=tuple(groups),
        entry=np.concatenate(entries),
        role=np.concatenate(roles),
        blank=_first_tokens(groups) + 1 + blank[order],
    )
    return tokens, order


def _first_tokens(groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """The place of each question's first token."""
    widths = np.concatenate([np.zeros(0, np.int64), *(np.full(rows, width) for rows, width in groups)])
    return np.cumsum(widths) - widths
