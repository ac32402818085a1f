"""Collecting the columns of a code hypergraph.

Like `HypergraphBuilder`, but for callers that can be trusted: nothing is checked per incidence, the finished
graph is checked as a whole. Nodes come with their places as character offsets, turned into spans at the end.
"""

from collections.abc import Iterable

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.syntax.python_source import PythonSource

__all__ = ["GraphColumns"]


class GraphColumns:
    """Nodes and edges, growing. `starts` and `ends` are offsets of the nodes, -1 for a node without a place."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._names: dict[str, int] = {}
        self._label: list[int] = []
        self._relation: list[int] = []
        self._offsets: list[int] = [0]
        self._qualifier: list[int] = []
        self._node: list[int] = []

    def add_node(self, label: str, start: int = -1, end: int = -1) -> int:
        self.starts.append(start)
        self.ends.append(end)
        self._label.append(self._names.setdefault(label, len(self._names)))
        return len(self._label) - 1

    def add_nodes(self, labels: Iterable[str], starts: list[int], ends: list[int]) -> None:
        """Add a node for each label, start and end."""
        names = self._names
        self.starts += starts
        self.ends += ends
        self._label += [names.setdefault(label, len(names)) for label in labels]

    def relate(self, relation: str, incidences: Iterable[tuple[str, int]]) -> None:
        names, qualifier, nodes = self._names, self._qualifier, self._node
        self._relation.append(names.setdefault(relation, len(names)))
        for name, node in incidences:
            qualifier.append(names.setdefault(name, len(names)))
            nodes.append(node)
        self._offsets.append(len(nodes))

    def relate_groups(self, relation: str, *groups: tuple[str, list[int]]) -> None:
        """Add an edge in which all nodes of a group have its qualifier; no group is empty."""
        names = self._names
        self._relation.append(names.setdefault(relation, len(names)))
        for qualifier, nodes in groups:
            self._qualifier += [names.setdefault(qualifier, len(names))] * len(nodes)
            self._node += nodes
        self._offsets.append(len(self._node))

    def relate_sequence(self, relation: str, nodes: list[int], *, start: int) -> None:
        """Add `relation(p<start>: nodes[0], ...)`; positions are stored as negative qualifiers."""
        self._relation.append(self._names.setdefault(relation, len(self._names)))
        self._qualifier.extend(range(-start, -start - len(nodes), -1))
        self._node.extend(nodes)
        self._offsets.append(len(self._node))

    def build(self, source: PythonSource) -> Hypergraph:
        return Hypergraph(
            names=tuple(self._names),
            label=np.array(self._label, dtype=np.int32),
            relation=np.array(self._relation, dtype=np.int32),
            offsets=np.array(self._offsets, dtype=np.int64),
            qualifier=np.array(self._qualifier, dtype=np.int32),
            node=np.array(self._node, dtype=np.int32),
            span=source.spans(self.starts, self.ends),
        )
