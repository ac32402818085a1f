"""What holds for every hypergraph: round trips through each format, and what transforms keep."""

import json
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import hypergraphs, names

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder
from hyperheat.hypergraph.draw import to_dot, to_svg, to_text
from hyperheat.hypergraph.hif import from_hif, to_hif
from hyperheat.hypergraph.interop import from_networkx, from_pyg, to_networkx, to_pyg
from hyperheat.hypergraph.jsonl import read_jsonl, write_jsonl
from hyperheat.hypergraph.parquet import read_parquet, write_parquet
from hyperheat.hypergraph.subtokens import split, split_any
from hyperheat.hypergraph.transforms import binarise, drop_relations, subgraph

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch Geometric itself uses what torch deprecates
    import torch_geometric.data  # noqa: F401 - imported here, so that no test below meets the warning

several = st.lists(hypergraphs(), max_size=4)
brisk = settings(deadline=None, max_examples=40)


@brisk
@given(hypergraphs())
def test_building_again_from_edges_gives_the_same_graph(graph: Hypergraph) -> None:
    builder = HypergraphBuilder()
    for index, label in enumerate(graph.labels):
        builder.add_node(label, None if graph.span is None else graph.span[index].tolist())
    for edge in graph:
        builder.relate(edge.relation, *edge.incidences)
    assert builder.build() == graph


@brisk
@given(hypergraphs())
def test_hif_round_trip(graph: Hypergraph) -> None:
    assert from_hif(json.loads(json.dumps(to_hif(graph)))) == graph


@brisk
@given(several)
def test_jsonl_round_trip(graphs: list[Hypergraph]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.jsonl"
        assert write_jsonl(graphs, path) == len(graphs)
        assert list(read_jsonl(path)) == graphs


@brisk
@given(several)
def test_parquet_round_trip(graphs: list[Hypergraph]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.parquet"
        assert write_parquet(graphs, path) == len(graphs)
        assert list(read_parquet(path)) == graphs


@brisk
@given(hypergraphs())
def test_networkx_round_trip(graph: Hypergraph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


@brisk
@given(hypergraphs())
def test_pyg_round_trip(graph: Hypergraph) -> None:
    assert from_pyg(to_pyg(graph)) == graph


@brisk
@given(hypergraphs(max_size=7))
def test_binarise_gives_small_edges_and_loses_no_participant(graph: Hypergraph) -> None:
    binary = binarise(graph)
    assert np.diff(binary.offsets).max(initial=0) <= 2
    assert binary.labels == graph.labels
    assert Counter(binary.relations).keys() == Counter(graph.relations).keys()
    before = {(edge.relation, node) for edge in graph for _, node in edge.incidences}
    assert {(edge.relation, node) for edge in binary for _, node in edge.incidences} == before
    assert binarise(binary) == binary


@brisk
@given(hypergraphs(max_size=7))
def test_binarise_works_edge_by_edge(graph: Hypergraph) -> None:
    alone = []
    for edge in graph:
        builder = HypergraphBuilder()
        for label in graph.labels:
            builder.add_node(label)
        builder.relate(edge.relation, *edge.incidences)
        alone.extend(binarise(builder.build()))
    assert list(binarise(graph)) == alone


@brisk
@given(hypergraphs(), st.data())
def test_drop_relations_keeps_the_other_edges(graph: Hypergraph, data: st.DataObject) -> None:
    dropped = data.draw(st.sets(st.sampled_from(graph.relations))) if graph.num_edges else set()
    rest = drop_relations(graph, dropped)
    assert list(rest) == [edge for edge in graph if edge.relation not in dropped]
    assert rest.labels == graph.labels


@brisk
@given(hypergraphs(), st.data())
def test_subgraph_keeps_what_lies_inside(graph: Hypergraph, data: st.DataObject) -> None:
    kept = data.draw(st.permutations(range(graph.num_nodes)))[: data.draw(st.integers(0, graph.num_nodes))]
    number = {old: new for new, old in enumerate(kept)}
    trimmed, whole = [], []
    for edge in graph:
        inside = tuple((qualifier, number[node]) for qualifier, node in edge.incidences if node in number)
        if inside or not edge.incidences:
            trimmed.append((edge.relation, inside))
        if len(inside) == len(edge.incidences):
            whole.append((edge.relation, inside))
    assert [(e.relation, e.incidences) for e in subgraph(graph, kept, outside="trim")] == trimmed
    assert [(e.relation, e.incidences) for e in subgraph(graph, kept, outside="drop")] == whole
    everything = subgraph(graph, range(graph.num_nodes), outside="drop")
    assert everything == graph


@brisk
@given(hypergraphs())
def test_every_graph_can_be_drawn(graph: Hypergraph) -> None:
    shapes = graph.num_nodes + graph.num_edges + graph.num_incidences
    texts = list(ET.fromstring(to_svg(graph)).iter("{http://www.w3.org/2000/svg}text"))
    assert len(texts) == shapes
    assert len(to_dot(graph).splitlines()) == 4 + shapes
    isolated = graph.num_nodes - len(set(graph.node.tolist()))
    assert len(to_text(graph).splitlines()) == isolated + np.maximum(np.diff(graph.offsets), 1).sum()


@given(st.text(st.characters(codec="ascii")))
def test_the_fast_way_to_split_ascii_is_the_general_one(name: str) -> None:
    if not re.fullmatch("[PQL][1-9][0-9]*", name):
        assert split(name) == (tuple(split_any(name)) or ((name,) if name else ()))


@brisk
@given(names())
def test_split_loses_only_case_underscores_and_spaces(name: str) -> None:
    parts = split(name)
    assert all(parts)
    letters = [c for c in name.lower() if c != "_" and not c.isspace()]
    if letters:
        assert sorted("".join(parts).lower()) == sorted(letters)
