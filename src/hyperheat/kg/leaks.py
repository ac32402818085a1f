"""What training data gives away about the statements of another split."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperheat.kg.keys import expand, number_statements, number_triples
from hyperheat.kg.statements import Statements, concatenate

__all__ = ["Leaks", "find_leaks", "has_equal_triple"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """How many of the checked statements have in the training data ..."""

    statements: int
    """checked in all"""
    equal_statements: int
    """an equal statement, qualifiers included"""
    equal_triples: int
    """a statement with the same subject, relation and object"""
    main_pairs: int
    """a statement that holds their subject and object, in whatever roles"""
    entity_sets: int
    """a statement with another main triple that holds all their entities, in whatever roles"""


def find_leaks(training: Statements, checked: Statements) -> Leaks:
    """Count the leaks from training statements into the checked ones; both share their tables."""
    pairs = np.stack([checked.subject, checked.object], axis=1)
    owner = np.repeat(np.arange(len(checked)), 2)
    return Leaks(
        statements=len(checked),
        equal_statements=int(_is_seen(number_statements, training, checked).sum()),
        equal_triples=int(has_equal_triple(training, checked).sum()),
        main_pairs=len(np.unique(_holders(training, owner, pairs.reshape(-1))[0])),
        entity_sets=_entity_sets(training, checked),
    )


def has_equal_triple(training: Statements, checked: Statements) -> np.ndarray:
    """Which of the checked statements have a main triple of the training data: a mask."""
    return _is_seen(number_triples, training, checked)


def _is_seen(
    number: Callable[[Statements], np.ndarray], training: Statements, checked: Statements
) -> np.ndarray:
    numbers = number(concatenate([training, checked]))
    return np.isin(numbers[len(training) :], numbers[: len(training)])


def _entity_sets(training: Statements, checked: Statements) -> int:
    found, holder = _holders(training, *checked.memberships())
    triples = number_triples(concatenate([training, checked]))
    other = triples[len(training) + found] != triples[holder]
    return len(np.unique(found[other]))


def _holders(training: Statements, owner: np.ndarray, entity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (set, statement of training that holds it); set i has the entities where owner is i."""
    num_entities = len(training.entities)
    held_by, held = training.memberships()
    codes = np.unique(held.astype(np.int64) * len(training) + held_by)  # sorted by entity, then by statement
    bounds = np.searchsorted(codes, np.arange(num_entities + 1) * len(training))
    degree = np.diff(bounds)

    order = np.lexsort((degree[entity], owner))  # of each set, the rarest entity first
    owner, entity = owner[order], entity[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    first = place == 0
    chosen, places = expand(bounds[entity[first]], degree[entity[first]])
    found, holder = owner[first][chosen], codes[places] % max(len(training), 1)
    member = np.full(owner.max(initial=-1) + 1, -1)
    for k in range(1, place.max(initial=0) + 1):
        at_k = place == k
        member[:] = -1
        member[owner[at_k]] = entity[at_k]
        larger = np.flatnonzero(member[found] >= 0)  # the smaller sets are found whole already
        wanted = member[found[larger]].astype(np.int64) * len(training) + holder[larger]
        lacking = larger[~_is_in(wanted, codes)]
        found, holder = np.delete(found, lacking), np.delete(holder, lacking)
    return found, holder


def _is_in(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[places] == values
