"""Building a hypergraph one node and one edge at a time."""

from collections.abc import Sequence

import numpy as np

from hyperheat.hypergraph.graph import Hypergraph, Position

__all__ = ["HypergraphBuilder"]


class HypergraphBuilder:
    """Collects nodes and edges and makes a frozen hypergraph of them.

    >>> b = HypergraphBuilder()
    >>> a, c = b.add_node("foo"), b.add_node("bar")
    >>> b.relate("BinOp", ("left", a), ("right", c))
    0
    >>> print(b.build())
    BinOp(left: foo, right: bar)
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._label: list[int] = []
        self._span: list[tuple[int, ...] | None] = []
        self._relation: list[int] = []
        self._offsets: list[int] = [0]
        self._qualifier: list[int] = []
        self._node: list[int] = []

    @property
    def num_nodes(self) -> int:
        return len(self._label)

    def add_node(self, label: str, span: Sequence[int] | None = None) -> int:
        """Add a node and return its index. `span` is (line, column, end line, end column)."""
        checked = None if span is None else _check_span(span)
        self._label.append(self._name("label", label))
        self._span.append(checked)
        return len(self._label) - 1

    def relate(self, relation: str, *incidences: tuple[str | Position, int]) -> int:
        """Add the edge `relation(qualifier: node, ...)`, with any number of incidences; return its index."""
        relation_id = self._name("relation", relation)
        qualifiers, nodes = [], []
        for incidence in incidences:
            try:
                qualifier, node = incidence
            except (TypeError, ValueError):
                raise TypeError(f"{relation}: expected (qualifier, node) pairs, got {incidence!r}") from None
            nodes.append(self._check_node(relation, node))
            if type(qualifier) is Position:
                qualifiers.append(-qualifier.index)
            else:
                qualifiers.append(self._name("qualifier", qualifier))
        return self._append(relation_id, qualifiers, nodes)

    def relate_sequence(self, relation: str, nodes: Sequence[int], start: int = 1) -> int:
        """Add `relation(p1: nodes[0], p2: nodes[1], ...)`; `start` is the position of the first node."""
        first = Position(start).index
        checked = [self._check_node(relation, node) for node in nodes]
        return self._append(
            self._name("relation", relation), list(range(-first, -first - len(checked), -1)), checked
        )

    def build(self) -> Hypergraph:
        """The frozen hypergraph of everything added so far; more can be added afterwards."""
        span = None
        if any(s is not None for s in self._span):
            span = np.array([(-1, -1, -1, -1) if s is None else s for s in self._span], dtype=np.int32)
        return Hypergraph(
            names=tuple(self._names),
            label=np.array(self._label, dtype=np.int32),
            relation=np.array(self._relation, dtype=np.int32),
            offsets=np.array(self._offsets, dtype=np.int64),
            qualifier=np.array(self._qualifier, dtype=np.int32),
            node=np.array(self._node, dtype=np.int32),
            span=span,
        )

    def _append(self, relation_id: int, qualifiers: list[int], nodes: list[int]) -> int:
        self._relation.append(relation_id)
        self._qualifier.extend(qualifiers)
        self._node.extend(nodes)
        self._offsets.append(len(self._node))
        return len(self._relation) - 1

    def _name(self, field: str, name: object) -> int:
        if type(name) is not str:
            raise TypeError(f"{field}: expected a string, got {name!r} ({type(name).__name__})")
        return self._names.setdefault(name, len(self._names))

    def _check_node(self, relation: str, node: object) -> int:
        if not isinstance(node, (int, np.integer)) or isinstance(node, bool):
            raise TypeError(f"{relation}: expected a node index, got {node!r} ({type(node).__name__})")
        if not 0 <= node < len(self._label):
            raise IndexError(f"{relation}: expected a node from 0 to {len(self._label) - 1}, got {node}")
        return int(node)


def _check_span(span: object) -> tuple[int, ...]:
    parts = tuple(span) if isinstance(span, (list, tuple)) else ()
    if len(parts) != 4 or not all(
        isinstance(part, (int, np.integer)) and -1 <= part < 2**31 for part in parts
    ):
        raise ValueError(f"span: expected four integers (line, column, end line, end column), got {span!r}")
    return parts
