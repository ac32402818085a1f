"""Groups of ranked answers: by the number of qualifiers, by the degree of the answer, or by relation."""

from typing import Literal

import numpy as np

from hyperheat.kg.statements import Statements

__all__ = ["Breakdown", "group_answers"]

Breakdown = Literal["qualifiers", "degree", "relation"]
_MANY = 6  # statements with at least so many qualifiers are reported together
_DEGREES = (0, 1, 2, 4, 10, 100)  # the lowest degree of each group


def group_answers(
    by: Breakdown, asked: Statements, answers: np.ndarray, held: np.ndarray
) -> dict[str, np.ndarray]:
    """Masks [D, C] of the answers [D, C] in each group; `asked` holds the statement of each column.

    `held` lists the entities of the training statements, as often as they have them: the degree of an answer is how often
    it is listed. So an answer of degree 0 is one that training never saw.
    """
    if by == "degree":
        degree = np.bincount(held, minlength=answers.max(initial=0) + 1)[answers]
        return _by_degree(degree)
    if by == "relation":
        return _by_relation(asked, answers.shape)
    sizes = np.minimum(asked.num_qualifiers, _MANY)
    return {
        f"{size}{'+' if size == _MANY else ''} qualifier{'' if size == 1 else 's'}": np.broadcast_to(
            sizes == size, answers.shape
        )
        for size in np.unique(sizes).tolist()
    }


def _by_degree(degree: np.ndarray) -> dict[str, np.ndarray]:
    groups = {}
    for low, high in zip(_DEGREES, (*_DEGREES[1:], None), strict=True):
        mask = (degree >= low) & (True if high is None else degree < high)
        until = "+" if high is None else "" if high == low + 1 else f"-{high - 1}"
        if mask.any():
            groups[f"degree {low}{until}"] = mask
    return groups


def _by_relation(asked: Statements, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The relations, those that are asked about most often first."""
    counts = np.bincount(asked.relation, minlength=len(asked.relations))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return {
        f"relation {asked.relations[relation]}": np.broadcast_to(asked.relation == relation, shape)
        for relation in order.tolist()
    }
