"""Statements to hold out for a test: about a share of them, none of whose names the others lack."""

import numpy as np

from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.statements import Statements, number_triples

__all__ = ["hold_out"]


def hold_out(data: StatementDataset, share: float, *, seed: int = 0) -> StatementDataset:
    """The same data with a share of train moved to test.

    Statements with equal main triples stay together, so that none is given away, and no entity or relation loses its last
    statement in train, since a model knows nothing of such. So there may be fewer than the share.
    """
    if not 0 < share < 1:
        raise ValueError(f"hold_out: expected a share between 0 and 1, got {share}")
    if data.test:
        raise ValueError(f"hold_out: {data.source} has a test split of {len(data.test):,} statements already")
    chosen = _choose(data.train, round(share * len(data.train)), np.random.default_rng(seed))
    if not chosen.any():
        raise ValueError(
            f"hold_out: no statement of {data.source} can be held out; each has a name that only it has"
        )
    return StatementDataset(
        source=data.source,
        format=data.format,
        train=data.train[~chosen],
        valid=data.valid,
        test=data.train[chosen],
        labels=data.labels,
        dropped=data.dropped,
    )


def _choose(statements: Statements, wanted: int, random: np.random.Generator) -> np.ndarray:
    """A mask of at most so many statements whose names all occur in the others."""
    owner, name = _names(statements)
    left = np.bincount(name, minlength=len(statements.entities) + len(statements.relations))
    triple = number_triples(statements)
    by_triple = np.argsort(triple, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(triple))])
    by_owner = np.argsort(owner, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(statements)))])
    chosen = np.zeros(len(statements), bool)
    found = 0
    for group in random.permutation(len(first) - 1).tolist():
        rows = by_triple[first[group] : first[group + 1]]
        if found + len(rows) > wanted:
            continue
        used = np.concatenate([name[by_owner[start[row] : start[row + 1]]] for row in rows])
        needed, counts = np.unique(used, return_counts=True)
        if (left[needed] > counts).all():
            left[needed] -= counts
            chosen[rows] = True
            found += len(rows)
        if found == wanted:
            break
    return chosen


def _names(statements: Statements) -> tuple[np.ndarray, np.ndarray]:
    """Every statement with each of its entities and relations, which are numbered after the entities."""
    rows = np.arange(len(statements))
    owner, entity = statements.memberships()
    relation = np.concatenate([statements.relation, statements.qualifier]) + len(statements.entities)
    return (
        np.concatenate([owner, rows, np.repeat(rows, statements.num_qualifiers)]),
        np.concatenate([entity, relation]),
    )
