"""Which answers to a question are known already.

An answer is known if some statement says all that the question says, and the answer; it may say more. It is known with
other qualifiers if a statement agrees but for the qualifiers that the question gives.
"""

import numpy as np

from hyperheat.kg.asking import FIRST_QUALIFIER, OBJECT, SUBJECT
from hyperheat.kg.keys import expand
from hyperheat.kg.slots import Slots
from hyperheat.kg.statements import Statements

__all__ = ["KnownFacts"]


class KnownFacts:
    """Statements, found by subject and by object."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        count = len(statements.entities)
        self._order = {slot: np.argsort(self._column(slot), kind="stable") for slot in (SUBJECT, OBJECT)}
        self._bounds = {
            slot: np.searchsorted(self._column(slot)[order], np.arange(count + 1))
            for slot, order in self._order.items()
        }

    def answers(self, question: Slots) -> tuple[np.ndarray, np.ndarray]:
        """The known answers to a question, and those that are known with other qualifiers alone."""
        rows = self._agreeing(question)
        has_all = np.ones(len(rows), bool)
        for place in question.given:
            has_all &= np.isin(rows, self._holders(rows, *question.qualifiers[place])[0])
        if question.blank >= FIRST_QUALIFIER:
            asked = question.qualifiers[question.blank - FIRST_QUALIFIER][0]
            holder, answers = self._holders(rows, asked, None)
            has_all = has_all[np.searchsorted(rows, holder)]
        else:
            answers = self._column(question.blank)[rows]
        known = np.unique(answers[has_all])
        return known, np.setdiff1d(answers, known)

    def _agreeing(self, question: Slots) -> np.ndarray:
        """The statements with the given subject, relation and object, in rising order."""
        slot, entity = (OBJECT, question.object) if question.blank == SUBJECT else (SUBJECT, question.subject)
        if entity >= len(self._statements.entities):  # a name that only the text of the question tells
            return np.zeros(0, np.int64)
        bounds = self._bounds[slot]
        rows = self._order[slot][bounds[entity] : bounds[entity + 1]]
        rows = rows[self._statements.relation[rows] == question.relation]
        if question.blank >= FIRST_QUALIFIER:
            rows = rows[self._statements.object[rows] == question.object]
        return np.sort(rows)

    def _holders(self, rows: np.ndarray, qualifier: int, value: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Of some statements those with a qualifier, as often as they have it, and its values there."""
        statements = self._statements
        owner, place = expand(statements.offsets[rows], statements.num_qualifiers[rows])
        chosen = statements.qualifier[place] == qualifier
        if value is not None:
            chosen &= statements.value[place] == value
        return rows[owner[chosen]], statements.value[place[chosen]]

    def _column(self, slot: int) -> np.ndarray:
        return self._statements.subject if slot == SUBJECT else self._statements.object
