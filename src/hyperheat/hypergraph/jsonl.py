"""Many hypergraphs in one text file, one JSON object a line.

    {"nodes": ["foo", "bar"], "edges": [{"relation": "BinOp", "incidences": [["left", 0], ["right", 1]]}]}

A qualifier is a string, a position an integer from 1. A graph with source spans has `spans` as well, one list
of four integers per node.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, whole_file
from hyperheat.hypergraph.builder import HypergraphBuilder
from hyperheat.hypergraph.graph import Hypergraph, Position

__all__ = ["read_jsonl", "to_record", "write_jsonl"]


def write_jsonl(graphs: Iterable[Hypergraph], path: str | os.PathLike[str]) -> int:
    """Write the hypergraphs and return how many there were; the file appears only when all are written."""
    count = 0
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for graph in graphs:
            file.write(json.dumps(to_record(graph)) + "\n")
            count += 1
    return count


def read_jsonl(path: str | os.PathLike[str]) -> Iterator[Hypergraph]:
    """Yield the hypergraphs of a file one by one, skipping blank lines; errors name file and line."""
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.isspace():
                continue
            try:
                graph = _decode(parse_json(line))
            except (ValueError, TypeError, IndexError) as error:
                raise ValueError(f"{os.fspath(path)}:{number}: {error}") from error
            yield graph


def to_record(graph: Hypergraph) -> dict[str, Any]:
    """The object that a line holds."""
    record: dict[str, Any] = {
        "nodes": graph.labels,
        "edges": [
            {
                "relation": edge.relation,
                "incidences": [
                    [qualifier.index if isinstance(qualifier, Position) else qualifier, node]
                    for qualifier, node in edge.incidences
                ],
            }
            for edge in graph
        ],
    }
    if graph.span is not None:
        record["spans"] = graph.span.tolist()
    return record


def _decode(record: Any) -> Hypergraph:
    if not isinstance(record, dict) or not {"nodes", "edges"} <= record.keys() <= {"nodes", "edges", "spans"}:
        got = sorted(record) if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"expected an object with nodes, edges and at most spans, got {got}")
    labels = _list("nodes", record["nodes"])
    spans = _list("spans", record["spans"]) if "spans" in record else [None] * len(labels)
    if len(spans) != len(labels):
        raise ValueError(f"spans: expected {len(labels)} entries (as many as nodes), got {len(spans)}")
    builder = HypergraphBuilder()
    for label, span in zip(labels, spans, strict=True):
        builder.add_node(label, span)
    for index, edge in enumerate(_list("edges", record["edges"])):
        where = f"edges[{index}]"
        if not isinstance(edge, dict) or edge.keys() != {"relation", "incidences"}:
            raise ValueError(f"{where}: expected an object with relation and incidences, got {edge!r}")
        incidences = _list(f"{where}.incidences", edge["incidences"])
        builder.relate(edge["relation"], *(_incidence(where, incidence) for incidence in incidences))
    return builder.build()


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: expected a list, got {value!r}")
    return value


def _incidence(where: str, value: Any) -> tuple[str | Position, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{where}.incidences: expected [qualifier, node], got {value!r}")
    qualifier, node = value
    return (Position(qualifier) if isinstance(qualifier, int) else qualifier), node
