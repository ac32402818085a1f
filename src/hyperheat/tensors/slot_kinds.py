"""Kinds of slots: which slots of edges share a matrix, and how to compute messages with one matrix for each kind.

A slot's kind is its relation and its role: the role is a name, or EDGE for the slot of the edge's own state, or POSITION
for any position of a sequence. Frequent pairs are kinds of their own; the others are three kinds, one for each sort of
slot. Cells stand in the order of their kinds, so that each matrix meets one block of rows.

Letters: N nodes, E edges, I incidences, Q qualifiers, C = E + I cells, P of them with a position, which come first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from hyperheat.tensors.indices import ArrayT, PairSums, Segments, pair_sums, segments

__all__ = [
    "EDGE",
    "OTHER_KINDS",
    "POSITION",
    "RolePair",
    "RolePlan",
    "SlotKinds",
    "count_roles",
    "frequent_roles",
    "plan_roles",
]

EDGE = "<edge>"
POSITION = "<position>"
OTHER_KINDS = 3
"""The kinds of slots whose pair is none of the roles: with a position, of an edge's own state, with a name."""

RolePair = tuple[str, str]
"""A relation, and the name of a role in it, or EDGE, or POSITION."""


def count_roles(
    strings: Sequence[str], relation: np.ndarray, arity: np.ndarray, qualifier: np.ndarray
) -> Counter[RolePair]:
    """How often each pair occurs: relations and arities of edges [E], qualifiers of incidences [I], as graphs have them."""
    size = len(strings)
    role = np.where(qualifier >= 0, qualifier, size)  # `size` is any position, size + 1 the edge
    first = relation.astype(np.int64) * (size + 2)  # the number of the pair with role 0
    pairs = np.concatenate([np.repeat(first, arity) + role, first + size + 1])
    names = [*strings, POSITION, EDGE]
    found: Counter[RolePair] = Counter()
    distinct, counts = np.unique(pairs, return_counts=True)
    for pair, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        relation_of, role_of = divmod(int(pair), size + 2)
        found[strings[relation_of], names[role_of]] += count
    return found


def frequent_roles(counts: Counter[RolePair], limit: int) -> tuple[RolePair, ...]:
    """The most frequent pairs, ties in alphabetical order."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(role for role, _ in ranked[:limit])


class SlotKinds:
    """The kind of any slot, by the roles of a vocabulary.

    Kinds are numbered with those of positions first, and in each sort the one of all other slots first.
    """

    def __init__(self, roles: Sequence[RolePair]) -> None:
        self.known = len(roles)
        self.count = self.known + OTHER_KINDS
        self._relations = {name: row for row, name in enumerate(dict.fromkeys(r for r, _ in roles), start=1)}
        self._roles = {
            name: row
            for row, name in enumerate(
                dict.fromkeys(n for _, n in roles if n not in (EDGE, POSITION)), start=1
            )
        }
        self._at_position, self._of_edge, self._named = (
            np.zeros((len(self._relations) + 1, columns), dtype=np.int64)
            for columns in (1, 1, len(self._roles) + 1)
        )
        kind = 0
        for table, wanted in ((self._at_position, POSITION), (self._of_edge, EDGE), (self._named, None)):
            table[:] = kind
            kind += 1
            for relation, role in roles:
                sort = role if role in (EDGE, POSITION) else None
                if sort == wanted:
                    column = self._roles[role] if sort is None else 0
                    table[self._relations[relation], column] = kind
                    kind += 1

    def rows(self, strings: Sequence[str]) -> np.ndarray:
        """For each string where it stands among the relations and among the roles [*, 2], 0 where it does not."""
        if not self.known:
            return np.zeros((len(strings), 2), dtype=np.int64)
        found = [(self._relations.get(string, 0), self._roles.get(string, 0)) for string in strings]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def of_edges(self, relation: np.ndarray) -> np.ndarray:
        """The kinds of slots of edges' own states, by the rows of their relations."""
        return self._of_edge[relation, 0]

    def of_incidences(self, relation: np.ndarray, role: np.ndarray, is_position: np.ndarray) -> np.ndarray:
        """The kinds of slots of incidences, by the rows of their relations and roles."""
        return np.where(is_position, self._at_position[relation, 0], self._named[relation, role])


@dataclass(frozen=True, kw_only=True)
class RolePlan(Generic[ArrayT]):
    """Where cells come from and where their messages go, cells in the order of their kinds."""

    num_nodes: int
    sizes: tuple[int, ...]
    """Cells of each kind."""
    slots: PairSums[ArrayT]
    """Cells [C] from the table of nodes, edges, qualifiers and a zero row [N+E+Q+1]."""
    neighbours: PairSums[ArrayT]
    """Cells with a position [P] from what those before [P] and those after [P] say, and a zero row [2P+1]."""
    edges: Segments[ArrayT]
    """The other cells [C-P] to edges [E]."""
    scale: ArrayT
    """1 / sqrt(n) for each of these cells, with n the others of its edge, or 1 if there are none [C-P, 1]."""
    receivers: Segments[ArrayT]
    """Cells [C] to nodes and edges [N+E]."""


def plan_roles(
    kinds: SlotKinds,
    rows: np.ndarray,
    *,
    node: np.ndarray,
    edge: np.ndarray,
    relation: np.ndarray,
    qualifier: np.ndarray,
    num_nodes: int,
    num_qualifiers: int,
) -> RolePlan[np.ndarray]:
    """Plan the messages of incidences (node, edge, qualifier) [I] in the order of their edges.

    `relation` [E] and the first qualifiers are names; `rows` says where these stand among relations and roles. The other
    qualifiers are positions.
    """
    num_edges, num_names = len(relation), len(rows)
    is_position = qualifier >= num_names
    role = rows[np.where(is_position, 0, qualifier), 1]
    kind = np.concatenate(
        [
            kinds.of_edges(rows[relation, 0]),
            kinds.of_incidences(rows[relation[edge], 0], role, is_position),
        ]
    )
    order = np.argsort(kind, kind="stable")  # of slots: first the edges' own, then the incidences
    zero = num_nodes + num_edges + num_qualifiers
    pairs = np.concatenate(
        [
            np.stack([num_nodes + np.arange(num_edges), np.full(num_edges, zero)], axis=1),
            np.stack([node, num_nodes + num_edges + qualifier], axis=1),
        ]
    )[order]
    num_positions = int(is_position.sum())
    edges = segments(np.concatenate([np.arange(num_edges), edge])[order][num_positions:], num_edges)
    others = np.diff(edges.offsets)[edges.owner] - 1
    return RolePlan(
        num_nodes=num_nodes,
        sizes=tuple(np.bincount(kind, minlength=kinds.count).tolist()),
        slots=pair_sums(pairs, zero),
        neighbours=_neighbours(np.flatnonzero(is_position), edge, order[:num_positions] - num_edges),
        edges=edges,
        scale=(np.maximum(others, 1) ** -0.5)[:, None],
        receivers=segments(pairs[:, 0], num_nodes + num_edges),
    )


def _neighbours(chain: np.ndarray, edge: np.ndarray, cells: np.ndarray) -> PairSums[np.ndarray]:
    """For each cell with a position those before and after it in its edge; `chain` are their incidences in order."""
    count = len(chain)
    place = np.empty(len(edge), dtype=np.int64)
    place[cells] = np.arange(count)  # of the incidence among the cells
    here = place[chain]
    joined = edge[chain[1:]] == edge[chain[:-1]]
    before, after = np.full(count, 2 * count), np.full(count, 2 * count)
    before[here[1:][joined]] = here[:-1][joined]
    after[here[:-1][joined]] = count + here[1:][joined]
    return pair_sums(np.stack([before, after], axis=1), 2 * count)
