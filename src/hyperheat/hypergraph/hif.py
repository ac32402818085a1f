"""One hypergraph as HIF, the JSON standard that hypergraph libraries exchange.

Fields that HIF does not have are stored in `attrs`:

    nodes[].attrs       label, span (line, column, end line, end column; only where the graph has spans)
    edges[].attrs       relation
    incidences[].attrs  qualifier (a name), or position (an integer from 1)

In files of other libraries, which lack these, a node's label is its id, an edge's relation is `edge`, and an
incidence's qualifier is its direction, `head` or `tail`, or else `member`. Nothing is dropped silently: weights
are an error, because hypergraphs are unweighted, and other attributes are listed in a warning.
"""

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, write_whole_text
from hyperheat.hypergraph.builder import HypergraphBuilder
from hyperheat.hypergraph.graph import Hypergraph, Position

__all__ = ["from_hif", "read_hif", "to_hif", "write_hif"]

_DEFAULT_RELATION = "edge"
_DEFAULT_QUALIFIER = "member"


def write_hif(graph: Hypergraph, path: str | os.PathLike[str]) -> None:
    """Write one hypergraph as a HIF file."""
    write_whole_text(path, json.dumps(to_hif(graph)))


def read_hif(path: str | os.PathLike[str]) -> Hypergraph:
    """Read one hypergraph from a HIF file; errors name the file and the field."""
    try:
        return from_hif(parse_json(Path(path).read_bytes()))
    except ValueError as error:  # broken JSON and broken UTF-8, too
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def to_hif(graph: Hypergraph) -> dict[str, Any]:
    """The HIF document of a hypergraph, ready for `json.dump`."""
    nodes: list[dict[str, Any]] = [
        {"node": i, "attrs": {"label": label}} for i, label in enumerate(graph.labels)
    ]
    if graph.span is not None:
        for record, span in zip(nodes, graph.span.tolist(), strict=True):
            record["attrs"]["span"] = span
    return {
        "network-type": "undirected",
        "nodes": nodes,
        "edges": [{"edge": i, "attrs": {"relation": name}} for i, name in enumerate(graph.relations)],
        "incidences": [
            {"edge": index, "node": node, "attrs": _qualifier_attribute(qualifier)}
            for index, edge in enumerate(graph)
            for qualifier, node in edge.incidences
        ],
    }


def _qualifier_attribute(qualifier: str | Position) -> dict[str, str | int]:
    return {"position": qualifier.index} if isinstance(qualifier, Position) else {"qualifier": qualifier}


def from_hif(document: Any) -> Hypergraph:
    """The hypergraph of a HIF document; nodes and edges that only incidences name come last."""
    return _Reader().read(document)


class _Reader:
    """Reads one document and counts what a hypergraph cannot store."""

    def __init__(self) -> None:
        self._builder = HypergraphBuilder()
        self._nodes: dict[str | int, int] = {}
        self._edges: dict[str | int, tuple[str, list[tuple[str | Position, int]]]] = {}
        self._listed: dict[tuple[str, str | int], dict[str, Any]] = {}
        self._left_out: Counter[str] = Counter()

    def read(self, document: Any) -> Hypergraph:
        if not isinstance(document, dict) or "incidences" not in document:
            raise ValueError("expected a HIF document, an object with the field incidences")
        self._note_network(document)
        self._read_records(document, "nodes", self._read_node, {"node"}, {"label", "span"})
        self._read_records(document, "edges", self._read_edge, {"edge"}, {"relation"})
        ends, qualifiers = {"node", "edge", "direction"}, {"qualifier", "position"}
        self._read_records(document, "incidences", self._read_incidence, ends, qualifiers)
        for relation, incidences in self._edges.values():
            self._builder.relate(relation, *incidences)
        if self._left_out:
            listed = ", ".join(f"{field} ({count})" for field, count in self._left_out.items())
            warnings.warn(f"dropped, because a hypergraph cannot store it: {listed}", stacklevel=3)
        return self._builder.build()

    def _note_network(self, document: dict[str, Any]) -> None:
        known = {"network-type", "nodes", "edges", "incidences"}
        self._left_out.update(field for field in document if field not in known and document[field] != {})
        kind = document.get("network-type", "undirected")
        if kind not in ("undirected", "directed", "asc"):
            raise ValueError(f"network-type: expected undirected, directed or asc, got {kind!r}")
        if kind == "asc":
            self._left_out["network-type asc (that all subsets of an edge are edges)"] += 1

    def _read_records(
        self,
        document: dict[str, Any],
        kind: str,
        read: Callable[[dict[str, Any], dict[str, Any]], None],
        fields: set[str],
        known: set[str],
    ) -> None:
        """Give each record with its `attrs` to `read`; `fields` and `known` are what the two may hold."""
        records = document.get(kind, [])
        if not isinstance(records, list):
            raise ValueError(f"{kind}: expected a list, got {type(records).__name__}")
        fields = fields | {"weight", "attrs"}
        for index, record in enumerate(records):
            if not isinstance(record, dict):
                raise ValueError(f"{kind}[{index}]: expected an object, got {record!r}")
            try:
                attrs = _attributes(record)
                read(record, attrs)
            except ValueError as error:
                raise ValueError(f"{kind}[{index}].{error}") from None
            if not record.keys() <= fields:
                self._left_out.update(f"{kind}[].{field}" for field in record.keys() - fields)
            if not attrs.keys() <= known:
                self._left_out.update(f"{kind}[].attrs.{field}" for field in attrs.keys() - known)

    def _read_node(self, record: dict[str, Any], attrs: dict[str, Any]) -> None:
        identifier = _identifier(record, "node")
        if self._is_repeated("node", identifier, attrs):
            return
        label = _string(attrs, "label", str(identifier))
        try:
            self._nodes[identifier] = self._builder.add_node(label, attrs.get("span"))
        except ValueError as error:
            raise ValueError(f"attrs.{error}") from None

    def _read_edge(self, record: dict[str, Any], attrs: dict[str, Any]) -> None:
        identifier = _identifier(record, "edge")
        if not self._is_repeated("edge", identifier, attrs):
            self._edges[identifier] = (_string(attrs, "relation", _DEFAULT_RELATION), [])

    def _is_repeated(self, field: str, identifier: str | int, attrs: dict[str, Any]) -> bool:
        """Whether the id was listed before, which the standard allows if the attributes are the same."""
        first = self._listed.setdefault((field, identifier), attrs)
        if first != attrs:
            raise ValueError(f"attrs: expected {first} as before for the {field} {identifier!r}, got {attrs}")
        return first is not attrs

    def _read_incidence(self, record: dict[str, Any], attrs: dict[str, Any]) -> None:
        node, edge = _identifier(record, "node"), _identifier(record, "edge")
        if node not in self._nodes:
            self._nodes[node] = self._builder.add_node(str(node))
        _, incidences = self._edges.setdefault(edge, (_DEFAULT_RELATION, []))
        incidences.append((_qualifier(record.get("direction"), attrs), self._nodes[node]))


def _attributes(record: dict[str, Any]) -> dict[str, Any]:
    """The `attrs` of a record; a weight is an error."""
    weight = record.get("weight", 1)
    if isinstance(weight, bool) or weight != 1:
        raise ValueError(f"weight: expected 1 or no weight (hypergraphs are unweighted), got {weight!r}")
    attrs = record.get("attrs", {})
    if not isinstance(attrs, dict):
        raise ValueError(f"attrs: expected an object, got {attrs!r}")
    return attrs


def _qualifier(direction: Any, attrs: dict[str, Any]) -> str | Position:
    if direction not in (None, "head", "tail"):
        raise ValueError(f"direction: expected head or tail, got {direction!r}")
    if ("qualifier" in attrs) + ("position" in attrs) + (direction is not None) > 1:
        raise ValueError("attrs: expected only one of qualifier, position and the direction, got several")
    if "position" not in attrs:
        return _string(attrs, "qualifier", direction or _DEFAULT_QUALIFIER)
    try:
        return Position(attrs["position"])
    except ValueError as error:
        raise ValueError(f"attrs.{error}") from None


def _identifier(record: dict[str, Any], field: str) -> str | int:
    identifier = record.get(field)
    if type(identifier) is str or type(identifier) is int:
        return identifier
    raise ValueError(f"{field}: expected a string or an integer, got {identifier!r}")


def _string(attrs: dict[str, Any], field: str, default: str) -> str:
    value = attrs.get(field, default)
    if not isinstance(value, str):
        raise ValueError(f"attrs.{field}: expected a string, got {value!r}")
    return value
