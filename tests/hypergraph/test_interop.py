"""networkx and PyTorch Geometric: what their graphs look like, and what is refused."""

import subprocess
import sys
import warnings
from typing import Any

import networkx as nx
import pytest
import torch

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
from hyperheat.hypergraph.interop import from_networkx, from_pyg, to_networkx, to_pyg

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch Geometric itself uses what torch deprecates
    from torch_geometric.data import HeteroData
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import HypergraphConv


def small() -> Hypergraph:
    builder = HypergraphBuilder()
    foo, bar = builder.add_node("foo", (1, 2, 3, 4)), builder.add_node("bar")
    builder.relate("empty")
    builder.relate("f", ("x", bar), (Position(2), foo), ("x", bar))
    builder.add_node("alone")
    return builder.build()


def test_networkx_has_one_link_per_incidence() -> None:
    graph = to_networkx(small())
    assert dict(graph.nodes(data=True)) == {
        ("node", 0): {"bipartite": 0, "label": "foo", "span": (1, 2, 3, 4)},
        ("node", 1): {"bipartite": 0, "label": "bar", "span": (-1, -1, -1, -1)},
        ("node", 2): {"bipartite": 0, "label": "alone", "span": (-1, -1, -1, -1)},
        ("edge", 0): {"bipartite": 1, "relation": "empty"},
        ("edge", 1): {"bipartite": 1, "relation": "f"},
    }
    assert sorted(
        (other, data["order"], data["qualifier"]) for _, other, data in graph.edges(("edge", 1), data=True)
    ) == [(("node", 0), 1, Position(2)), (("node", 1), 0, "x"), (("node", 1), 2, "x")]
    assert nx.is_bipartite(graph)


def test_networkx_graphs_made_by_hand() -> None:
    graph = nx.Graph()
    graph.add_node("call", bipartite=1, relation="foo")
    graph.add_node("n", bipartite=0, label="n12")
    graph.add_edge("n", "call", qualifier="rval")
    assert str(from_networkx(graph)) == "foo(rval: n12)"


@pytest.mark.parametrize(
    ("nodes", "links", "message"),
    [
        ({"a": {}}, [], "'a': expected the attribute bipartite, got []"),
        ({"a": {"bipartite": 2}}, [], "'a': expected bipartite to be 0 (a node) or 1 (an edge), got 2"),
        ({"a": {"bipartite": 0}}, [], "'a': expected the attribute label, got ['bipartite']"),
        ({"a": {"bipartite": 1}}, [], "'a': expected the attribute relation, got ['bipartite']"),
        (
            {"a": {"bipartite": 0, "label": "x"}, "e": {"bipartite": 1, "relation": "f"}},
            [("a", "e")],
            "('e', 'a'): expected the attribute qualifier, got []",
        ),
        (
            {"a": {"bipartite": 0, "label": "x"}, "b": {"bipartite": 0, "label": "y"}},
            [("a", "b")],
            "'a': expected links to edges only, got one to the node 'b'",
        ),
        (
            {"d": {"bipartite": 1, "relation": "f"}, "e": {"bipartite": 1, "relation": "f"}},
            [("d", "e")],
            "'d': expected links to nodes only, got one to the edge 'e'",
        ),
    ],
)
def test_from_networkx_refuses(nodes: dict[str, dict[str, Any]], links: list[Any], message: str) -> None:
    graph = nx.MultiGraph()
    graph.add_nodes_from(nodes.items())
    graph.add_edges_from(links)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        from_networkx(graph)
    assert str(caught.value) == message


def test_from_networkx_refuses_directed_graphs() -> None:
    with pytest.raises(ValueError, match="expected an undirected graph"):
        from_networkx(nx.MultiDiGraph())


def test_pyg_holds_the_columns() -> None:
    data = to_pyg(small())
    assert data.names == ["foo", "bar", "empty", "f", "x", "alone"]
    assert data["node"].label.tolist() == [0, 1, 5]
    assert data["edge"].relation.tolist() == [2, 3]
    assert data["node", "in", "edge"].edge_index.tolist() == [[1, 0, 1], [1, 1, 1]]
    assert data["node", "in", "edge"].qualifier.tolist() == [4, -2, 4]
    data.validate()


def test_pyg_batches_shift_nodes_and_edges() -> None:
    (batch,) = DataLoader([to_pyg(small()), to_pyg(small())], batch_size=2)  # pyright: ignore[reportArgumentType]
    assert batch["node", "in", "edge"].edge_index.tolist() == [[1, 0, 1, 4, 3, 4], [1, 1, 1, 3, 3, 3]]


def test_pyg_layers_take_the_incidences() -> None:
    data = to_pyg(small())
    states = HypergraphConv(4, 5)(torch.ones(3, 4), data["node", "in", "edge"].edge_index)
    assert states.shape == (3, 5)


def test_from_pyg_accepts_any_order_of_edges() -> None:
    data = to_pyg(small())
    data["node", "in", "edge"].edge_index = torch.tensor([[1, 2, 0], [1, 0, 1]])
    assert str(from_pyg(data)) == "empty(p2: alone)\nf(x: bar, x: foo)"


def test_from_pyg_refuses() -> None:
    with pytest.raises(ValueError, match=r"data\['node'\]: expected the field label, got \[\]"):
        from_pyg(HeteroData())
    data = to_pyg(small())
    data["node", "in", "edge"].edge_index = torch.tensor([[0], [2]])
    with pytest.raises(IndexError, match="edge_index: expected edges from 0 to 1, got 2 to 2"):
        from_pyg(data)


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        ImportError, match=r"^networkx is needed here .*: pip install 'hyperheat\[interop\]'$"
    ):
        to_networkx(small())


def test_the_package_imports_numpy_alone() -> None:
    modules = "transforms hif jsonl parquet interop draw"
    code = (
        "import sys, hyperheat.hypergraph as h\n"
        f"for name in '{modules}'.split(): __import__(f'hyperheat.hypergraph.{{name}}')\n"
        "assert h.__all__ == ['Edge', 'Hypergraph', 'HypergraphBuilder', 'Position']\n"
        "heavy = {'torch', 'networkx', 'pyarrow', 'torch_geometric', 'scipy'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
