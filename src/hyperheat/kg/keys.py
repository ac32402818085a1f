"""Equal numbers for equal things: rows of integer columns, sets of qualifiers, main triples, whole statements."""

import numpy as np

from hyperheat.kg.statements import Statements

__all__ = ["expand", "number_rows", "number_statements", "number_triples", "qualifier_sets"]


def number_rows(*columns: np.ndarray) -> np.ndarray:
    """One number per row, equal where all columns are."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if column.size:
            _, numbers = np.unique(numbers * (int(column.max()) + 1) + column, return_inverse=True)
    return numbers


def qualifier_sets(statements: Statements) -> np.ndarray:
    """One number per statement, equal where the qualifiers are, in whatever order they stand."""
    sizes = statements.num_qualifiers
    pairs = number_rows(statements.qualifier, statements.value)
    owner = np.repeat(np.arange(len(statements)), sizes)
    pairs = pairs[np.lexsort((pairs, owner))]
    numbers = np.zeros(len(statements), np.int64)
    used = 1
    for place in range(sizes.max(initial=0)):
        # The number of a set is that of the set without its last pair, and that pair.
        longer = np.flatnonzero(sizes > place)
        numbers[longer] = used + number_rows(numbers[longer], pairs[statements.offsets[longer] + place])
        used = int(numbers.max()) + 1
    return numbers


def number_triples(statements: Statements) -> np.ndarray:
    """One number per statement, equal where subject, relation and object are."""
    return number_rows(statements.subject, statements.relation, statements.object)


def number_statements(statements: Statements) -> np.ndarray:
    """One number per statement, equal where the main triple and the qualifiers are."""
    return number_rows(number_triples(statements), qualifier_sets(statements))


def expand(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ranges starts[i] .. starts[i] + sizes[i] one after the other: the i of each place, and the place."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes
    return owner, starts[owner] + np.arange(len(owner)) - first[owner]
