"""The candidates that the questions of a batch are trained against: all, or some that are drawn.

With `negatives` K the candidates of a batch are the answers of its questions, and K of all n candidates, drawn uniformly.
Answers to other questions are wrong answers that cost nothing more, and often hard ones, since they are frequent. But
frequent entities then stand for themselves alone, and rare ones for many. So a score is raised by -log p_c, where p_c is the
chance that c is among the candidates of a batch:

    1 - p_c = (1 - K / n) (1 - share of the questions that are in the batch) ^ (questions that c answers)

which makes the expected sum of exp(score) that over all candidates. If all are drawn, p_c = 1, and nothing changes. The
answers of the question itself are always there, and are not raised.

With `answers` A at most so many answers of a question are drawn; its other answers are neither right nor wrong in this
batch. Letters: C candidates of a batch, K pairs of a question and an answer.
"""

from dataclasses import dataclass
from typing import Generic

import numpy as np

from hyperheat.kg.known_answers import AnswerGroups
from hyperheat.tensors.indices import ArrayT

__all__ = ["BatchCandidates", "CandidateSampler", "lowest_of_each"]


@dataclass(frozen=True, kw_only=True)
class BatchCandidates(Generic[ArrayT]):
    """Candidates of a batch, and which of them answer its questions."""

    entry: ArrayT
    """[C] the candidates, in rising order"""
    raised: ArrayT | None
    """[C] by how much their scores are raised; None: not at all"""
    row: ArrayT
    """[K] question `row[k]` is answered by candidate `column[k]`"""
    column: ArrayT
    left_out: ArrayT
    """[2, X] pairs of a question and a candidate that answers it, too, but does not count here"""


class CandidateSampler:
    """Draws the candidates for one kind of questions."""

    def __init__(
        self, candidates: np.ndarray, groups: AnswerGroups, *, negatives: int | None, answers: int | None
    ) -> None:
        self.every = candidates
        self._groups, self._negatives, self._answers = groups, negatives, answers
        sizes = np.diff(groups.offsets)
        chance = np.minimum(1.0, (answers or np.inf) / np.maximum(sizes, 1))
        column = np.searchsorted(candidates, groups.answer)
        self._asked = np.bincount(column, weights=np.repeat(chance, sizes), minlength=len(candidates))
        """[n] to how many questions of an epoch each candidate is a drawn answer, on average"""

    def draw(self, chosen: np.ndarray, random: np.random.Generator) -> BatchCandidates[np.ndarray]:
        """The candidates for the chosen questions; rows are places in `chosen`."""
        row, place = self._groups.answers(chosen)
        answer = np.searchsorted(self.every, self._groups.answer[place])
        counts = lowest_of_each(random.random(len(row)), row, self._answers)
        count = len(self.every)
        if self._negatives is None or self._negatives >= count:
            drawn, raised = np.arange(count), None
        else:
            others = random.choice(count, self._negatives, replace=False)
            drawn = np.union1d(answer[counts], others)
            absent = (1 - len(chosen) / max(1, len(self._groups))) ** self._asked[drawn]
            raised = -np.log1p(-(1 - self._negatives / count) * absent).astype(np.float32)
        column = np.searchsorted(drawn, answer)
        is_there = drawn[np.minimum(column, len(drawn) - 1)] == answer
        left_out = ~counts & is_there
        return BatchCandidates(
            entry=self.every[drawn],
            raised=raised,
            row=row[counts],
            column=column[counts],
            left_out=np.stack([row[left_out], column[left_out]]),
        )


def lowest_of_each(numbers: np.ndarray, owner: np.ndarray, most: int | None) -> np.ndarray:
    """Which numbers are among the `most` lowest of their owner: a mask; owners are in rising order."""
    if most is None:
        return np.ones(len(owner), bool)
    order = np.lexsort((numbers, owner))
    first = np.searchsorted(owner, owner)  # of each owner; sorting changes the order inside owners only
    chosen = np.empty(len(owner), bool)
    chosen[order] = np.arange(len(owner)) - first < most
    return chosen
