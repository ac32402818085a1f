"""The part of a graph that an encoder needs for some entities, with a bound on what is read per entity.

    T_0     = the entities whose vectors are needed
    S_l     = at most F statements of each entity that is new in T_(l-1), drawn at random
    T_l     = T_(l-1) and all members of S_l                                l = 1 .. the number of the encoder's layers

The encoder then reads all statements of S_1, S_2, ... in all of its layers. If no entity is in more than F statements,
that is everything that can reach T_0, and the vectors of T_0 equal those of the whole graph. An entity may get more than F
messages, because statements that were drawn for others reach it as well.

Time and memory grow with the number of statements that are drawn, not with the graph, and there is no loop over entities.
Letters: N entities, M statements, I distinct (entity, statement) pairs.
"""

from dataclasses import dataclass

import numpy as np

from hyperheat.kg.statements import Statements, expand

__all__ = ["StatementIndex", "reach"]


@dataclass(frozen=True, eq=False, kw_only=True)
class StatementIndex:
    """The statements of each entity, in any role and each once: those of n are `statement[offsets[n] : offsets[n+1]]`."""

    statements: Statements
    offsets: np.ndarray
    """[N+1]"""
    statement: np.ndarray
    """[I]"""

    @classmethod
    def of(cls, statements: Statements) -> "StatementIndex":
        """Index all statements."""
        owner, entity = statements.memberships()
        count = max(1, len(statements))
        pairs = np.unique(entity.astype(np.int64) * count + owner)
        sizes = np.bincount(pairs // count, minlength=len(statements.entities))
        return cls(
            statements=statements,
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            statement=pairs % count,
        )

    @property
    def largest_degree(self) -> int:
        """The most statements that an entity is in."""
        return int(np.diff(self.offsets).max(initial=0))

    def draw(self, entities: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
        """At most so many statements of each entity, all equally likely: rising numbers, each once."""
        first = self.offsets[entities]
        degrees = self.offsets[entities + 1] - first
        few = degrees <= most
        _, places = expand(first[few], degrees[few])
        chosen = first[~few][:, None] + _distinct_numbers(degrees[~few], most, random)
        return np.unique(self.statement[np.concatenate([places, chosen.ravel()])])

    def members(self, rows: np.ndarray) -> np.ndarray:
        """The entities of some statements, in any role, with repetitions."""
        statements = self.statements
        _, places = expand(statements.offsets[rows], statements.offsets[rows + 1] - statements.offsets[rows])
        return np.concatenate(
            [statements.subject[rows], statements.object[rows], statements.value[places]]
        ).astype(np.int64)


def reach(
    index: StatementIndex,
    entities: np.ndarray,
    *,
    hops: int,
    fan_out: int,
    seen: np.ndarray,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """The statements drawn for some entities within so many hops, and all entities then known; both are rising numbers.

    `seen` is a mask over the statements. A statement that is not seen may be drawn, and is then left out.
    """
    known = np.unique(entities)
    new, drawn = known, [np.zeros(0, np.int64)]
    for _ in range(hops):
        rows = index.draw(new, fan_out, random)
        drawn.append(rows[seen[rows]])
        new = np.setdiff1d(index.members(drawn[-1]), known)
        known = np.union1d(known, new)
    return np.unique(np.concatenate(drawn)), known


def _distinct_numbers(limits: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """For each limit so many distinct numbers below it, every set of them equally likely: [n, count].

    Floyd's algorithm: in the i-th round draw up to limit - count + i, and take that bound itself if the number is there.
    """
    chosen = np.full((len(limits), count), -1)
    for i in range(count):
        bound = limits - count + i
        number = random.integers(0, bound, endpoint=True)
        chosen[:, i] = np.where((chosen == number[:, None]).any(1), bound, number)
    return chosen
