"""Statements with qualifiers: frozen and columnar.

A statement says `subject relation object`, and its qualifiers say more about it:

    Albert Einstein | educated at | ETH Zurich | academic degree=diploma | academic major=physics

Entities and relations live once in two tables, each sorted (what is appended later follows); the columns hold indices
into them:

    subject, relation, object  [M]    the main triple of each statement
    offsets                    [M+1]  the qualifiers of statement m are offsets[m] .. offsets[m+1]
    qualifier                  [K]    the relation of each qualifier
    value                      [K]    the entity of each qualifier

Qualifiers are a multiset: their order is kept but means nothing. The functions at the end give equal numbers to equal
statements, triples or sets of qualifiers, and expand ranges.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np

from hyperheat.hypergraph import Hypergraph

__all__ = [
    "Statement",
    "Statements",
    "append",
    "concatenate",
    "expand",
    "number_rows",
    "number_statements",
    "number_triples",
    "qualifier_sets",
]

_AT_ONCE = 1 << 16
"""Statements that are spelt out at once."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, readable; `qualifiers` holds (relation, entity) pairs."""

    subject: str
    relation: str
    object: str
    qualifiers: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The statement as `subject | relation | object | qualifier=value | ...`."""
        pairs = (f"{relation}={value}" for relation, value in self.qualifiers)
        return " | ".join([self.subject, self.relation, self.object, *pairs])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Statements:
    """A frozen sequence of statements; make one with `Statements.build`. Slices share the tables."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    subject: np.ndarray
    relation: np.ndarray
    object: np.ndarray
    offsets: np.ndarray
    qualifier: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        for column in fields(self)[2:]:
            dtype = np.int64 if column.name == "offsets" else np.int32
            array = np.ascontiguousarray(getattr(self, column.name), dtype=dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, column.name, array)
        self._validate()

    def _validate(self) -> None:
        for column, table in (
            (self.subject, self.entities),
            (self.relation, self.relations),
            (self.object, self.entities),
            (self.qualifier, self.relations),
            (self.value, self.entities),
        ):
            if column.ndim != 1 or (column.size and not 0 <= column.min() <= column.max() < len(table)):
                raise ValueError(f"statements: expected indices from 0 to {len(table) - 1}, got {column}")
        lengths = [len(self.subject), len(self.relation), len(self.object), len(self.offsets) - 1]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"statements: expected columns of one length, got {lengths} (offsets less one at the end)"
            )
        bounds_hold = self.offsets[0] == 0 and self.offsets[-1] == len(self.value) == len(self.qualifier)
        if not bounds_hold or (np.diff(self.offsets) < 0).any():
            raise ValueError(f"offsets: expected a rising sequence from 0 to {len(self.value)}")

    @classmethod
    def build(cls, statements: Iterable[Statement]) -> "Statements":
        """Collect statements from an iterable; only their columns are kept in memory."""
        entity, relation = _Numbers(), _Numbers()
        main, pairs, offsets = array("i"), array("i"), array("q", [0])
        for s in statements:
            try:
                main.extend((entity[s.subject], relation[s.relation], entity[s.object]))
                for name, value in s.qualifiers:
                    pairs.extend((relation[name], entity[value]))
            except _NotText as error:
                raise ValueError(f"statement {len(offsets)}: expected text, got {error} in {s!r}") from None
            offsets.append(len(pairs) // 2)
        entities, entity_rank = _sorted_table(entity)
        relations, relation_rank = _sorted_table(relation)
        mains = np.frombuffer(main, np.intc).reshape(-1, 3)
        qualifiers = np.frombuffer(pairs, np.intc).reshape(-1, 2)
        return cls(
            entities=entities,
            relations=relations,
            subject=entity_rank[mains[:, 0]],
            relation=relation_rank[mains[:, 1]],
            object=entity_rank[mains[:, 2]],
            offsets=np.array(offsets),
            qualifier=relation_rank[qualifiers[:, 0]],
            value=entity_rank[qualifiers[:, 1]],
        )

    @property
    def num_qualifiers(self) -> np.ndarray:
        """How many qualifiers each statement has: [M]."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.subject)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Statement]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]._spelt_out()

    def _spelt_out(self) -> Iterator[Statement]:
        entities, relations = self.entities, self.relations
        pairs = [
            (relations[r], entities[v])
            for r, v in zip(self.qualifier.tolist(), self.value.tolist(), strict=True)
        ]
        bounds = self.offsets.tolist()
        columns = zip(self.subject.tolist(), self.relation.tolist(), self.object.tolist(), strict=True)
        for m, (s, r, o) in enumerate(columns):
            yield Statement(entities[s], relations[r], entities[o], tuple(pairs[bounds[m] : bounds[m + 1]]))

    def spaced(self, most: int) -> "Statements":
        """At most this many of the statements, evenly spaced."""
        places = np.linspace(0, len(self) - 1, min(most, len(self)))
        return self[np.unique(places.astype(np.int64))]

    def distinct(self) -> "Statements":
        """Each statement once, in the order of first occurrence."""
        _, first = np.unique(number_statements(self), return_index=True)
        return self[np.sort(first)]

    def qualifier_numbers(self) -> np.ndarray:
        """The place of each qualifier [K] among those of its statement, from 0 on."""
        return np.arange(len(self.value)) - np.repeat(self.offsets[:-1], self.num_qualifiers)

    def with_qualifiers(self, kept: np.ndarray) -> "Statements":
        """The same statements with those of their qualifiers that a mask [K] keeps."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self, offsets=before[self.offsets], qualifier=self.qualifier[kept], value=self.value[kept]
        )

    def narrowed(self, entities: np.ndarray) -> "Statements":
        """The same statements with a table of these entities alone: rising numbers, among which all of theirs must be."""
        columns = {
            name: np.searchsorted(entities, getattr(self, name)) for name in ("subject", "object", "value")
        }
        names = tuple(map(self.entities.__getitem__, entities.tolist()))
        return replace(self, entities=names, **columns)

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice | np.ndarray | list[int]) -> "Statements": ...
    def __getitem__(self, index: int | slice | np.ndarray | list[int]) -> "Statement | Statements":
        """One readable statement, or the statements of a slice, a mask or a list of indices."""
        if isinstance(index, int | np.integer):
            return next(iter(self[[int(index)]]))
        if isinstance(index, slice) and index.step in (None, 1):
            return self._between(*index.indices(len(self))[:2])
        rows = np.arange(len(self))[index] if _is_mask_or_slice(index) else np.asarray(index, np.int64)
        first = self.offsets[:-1][rows]
        sizes = self.offsets[1:][rows] - first
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(first - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Statements(
            entities=self.entities,
            relations=self.relations,
            subject=self.subject[rows],
            relation=self.relation[rows],
            object=self.object[rows],
            offsets=offsets,
            qualifier=self.qualifier[places],
            value=self.value[places],
        )

    def _between(self, start: int, stop: int) -> "Statements":
        """A range of the statements, whose columns are parts of these."""
        stop = max(start, stop)
        first, last = self.offsets[start], self.offsets[stop]
        return Statements(
            entities=self.entities,
            relations=self.relations,
            subject=self.subject[start:stop],
            relation=self.relation[start:stop],
            object=self.object[start:stop],
            offsets=self.offsets[start : stop + 1] - first,
            qualifier=self.qualifier[first:last],
            value=self.value[first:last],
        )

    def __eq__(self, other: Any) -> bool:
        """Equal statements in equal order, however large the tables are."""
        if not isinstance(other, Statements):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return (
            f"Statements({len(self)} statements, {len(self.entities)} entities, "
            f"{len(self.relations)} relations, {len(self.value)} qualifiers)"
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if len(self) else "no statements"

    def memberships(self) -> tuple[np.ndarray, np.ndarray]:
        """Every statement and each of its entities in any role: two columns, with repeated entities."""
        rows = np.arange(len(self))
        owner = np.concatenate([rows, rows, np.repeat(rows, self.num_qualifiers)])
        return owner, np.concatenate([self.subject, self.object, self.value])

    def main_entities(self) -> np.ndarray:
        """Which entities are the subject or object of a statement: a mask over the table."""
        mask = np.zeros(len(self.entities), bool)
        mask[self.subject] = mask[self.object] = True
        return mask

    def digest(self) -> str:
        """SHA-256 of the statements as WD50K text: it identifies a data set, whatever its format."""
        sha = hashlib.sha256()
        for s in self:
            tokens = [s.subject, s.relation, s.object, *(part for pair in s.qualifiers for part in pair)]
            sha.update((",".join(tokens) + "\n").encode("utf-8", "surrogatepass"))
        return sha.hexdigest()

    def incidences(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The statements as edges `relation(src: subject, obj: object, qualifier: value, ...)`.

        Offsets [M+1] of their incidences, and the entity and the name of each: 0 is src, 1 is obj, 2 + r is the qualifier
        r.
        """
        offsets = self.offsets + 2 * np.arange(len(self) + 1)
        first = offsets[:-1]
        others = np.repeat(2 * np.arange(1, len(self) + 1), self.num_qualifiers) + np.arange(len(self.value))
        entity, name = np.empty((2, offsets[-1]), np.int64)
        entity[first], name[first] = self.subject, 0
        entity[first + 1], name[first + 1] = self.object, 1
        entity[others], name[others] = self.value, 2 + self.qualifier
        return offsets, entity, name

    def to_hypergraph(self) -> Hypergraph:
        """One node per entity of the table, one edge per statement."""
        names = tuple(dict.fromkeys(("src", "obj", *self.relations, *self.entities)))
        place = {name: index for index, name in enumerate(names)}
        relation_name = np.array([place[name] for name in self.relations], np.int32)
        qualifier_name = np.concatenate([[place["src"], place["obj"]], relation_name])
        offsets, entity, name = self.incidences()
        return Hypergraph(
            names=names,
            label=np.array([place[name] for name in self.entities], np.int32),
            relation=relation_name[self.relation],
            offsets=offsets,
            qualifier=qualifier_name[name],
            node=entity,
        )


def concatenate(parts: Sequence[Statements]) -> Statements:
    """One sequence of all statements of slices that share their tables."""
    if len({(part.entities, part.relations) for part in parts}) != 1:
        raise ValueError("concatenate: the parts must share their tables")
    lengths = np.concatenate([part.num_qualifiers for part in parts])
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("subject", "relation", "object", "qualifier", "value")
    }
    return Statements(
        entities=parts[0].entities,
        relations=parts[0].relations,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        **columns,
    )


def append(statements: Statements, more: "Statements | Iterable[Statement]") -> Statements:
    """One sequence of the statements and some more; new names follow those in the tables, which keep their places."""
    added = more if isinstance(more, Statements) else Statements.build(more)
    entities, entity = _joined_table(statements.entities, added.entities)
    relations, relation = _joined_table(statements.relations, added.relations)
    moved = replace(
        added,
        entities=entities,
        relations=relations,
        subject=entity[added.subject],
        relation=relation[added.relation],
        object=entity[added.object],
        qualifier=relation[added.qualifier],
        value=entity[added.value],
    )
    return concatenate([replace(statements, entities=entities, relations=relations), moved])


def _joined_table(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[tuple[str, ...], np.ndarray]:
    """The names followed by those that are new, and the place of each of the second table's."""
    place = {name: index for index, name in enumerate(dict.fromkeys((*names, *more)))}
    return tuple(place), np.array([place[name] for name in more], np.int32)


def number_rows(*columns: np.ndarray) -> np.ndarray:
    """One number per row, equal where all columns are."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if column.size:
            _, numbers = np.unique(numbers * (int(column.max()) + 1) + column, return_inverse=True)
    return numbers


def qualifier_sets(statements: Statements) -> np.ndarray:
    """One number per statement, equal where the qualifiers are, in any order."""
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


def _is_mask_or_slice(index: slice | np.ndarray | list[int]) -> bool:
    """Whether an index takes time that grows with all statements, rather than with those that it chooses."""
    return isinstance(index, slice) or np.asarray(index).dtype == bool


class _NotText(ValueError):
    """A name that is not text: a missing cell of a table is None or NaN."""


class _Numbers(dict[str, int]):
    """The names so far, numbered in the order in which they came; a name that is looked up gets the next number."""

    def __missing__(self, name: str) -> int:
        if not isinstance(name, str):
            raise _NotText(repr(name))
        return self.setdefault(name, len(self))


def _sorted_table(index: dict[str, int]) -> tuple[tuple[str, ...], np.ndarray]:
    """The sorted names, and the new place of each old index."""
    names = sorted(index)
    rank = np.empty(len(names), np.int32)
    rank[[index[name] for name in names]] = np.arange(len(names))
    return tuple(names), rank
