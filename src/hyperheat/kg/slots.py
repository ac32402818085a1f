"""A question by the indices of its names, and many of them as columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hyperheat.kg.asking import FIRST_QUALIFIER, OBJECT, SUBJECT
from hyperheat.kg.statements import Statements

__all__ = ["Slots", "stack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """A question by the indices of its names; what stands in the blank slot is not read."""

    subject: int
    relation: int
    object: int
    qualifiers: tuple[tuple[int, int], ...]
    blank: int

    @property
    def given(self) -> list[int]:
        """The places of the qualifiers that are not asked for."""
        return [i for i in range(len(self.qualifiers)) if FIRST_QUALIFIER + i != self.blank]

    def without(self, place: int) -> "Slots":
        """The question without a qualifier that it gives."""
        shift = self.blank > FIRST_QUALIFIER + place
        rest = self.qualifiers[:place] + self.qualifiers[place + 1 :]
        return replace(self, qualifiers=rest, blank=self.blank - shift)

    def filled(self, entity: int) -> "Slots":
        """The question with an entity in its blank."""
        if self.blank == SUBJECT:
            return replace(self, subject=entity)
        if self.blank == OBJECT:
            return replace(self, object=entity)
        place = self.blank - FIRST_QUALIFIER
        pair = (self.qualifiers[place][0], entity)
        return replace(self, qualifiers=(*self.qualifiers[:place], pair, *self.qualifiers[place + 1 :]))


def stack(questions: Sequence[Slots], entities: tuple[str, ...], relations: tuple[str, ...]) -> Statements:
    """Questions as statements over some tables."""
    pairs = np.array([pair for q in questions for pair in q.qualifiers], np.int32).reshape(-1, 2)
    return Statements(
        entities=entities,
        relations=relations,
        subject=np.array([q.subject for q in questions]),
        relation=np.array([q.relation for q in questions]),
        object=np.array([q.object for q in questions]),
        offsets=np.cumsum([0, *(len(q.qualifiers) for q in questions)]),
        qualifier=pairs[:, 0],
        value=pairs[:, 1],
    )
