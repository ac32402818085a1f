"""To and from the graphs of networkx and PyTorch Geometric, both imported only when called.

Both hold the bipartite graph of nodes and edges with one link per incidence, in order, so that a round trip
gives the same hypergraph.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from hyperheat.extras import require
from hyperheat.hypergraph.builder import HypergraphBuilder
from hyperheat.hypergraph.graph import Hypergraph, running_sum

if TYPE_CHECKING:
    import networkx
    import torch_geometric.data

__all__ = ["from_networkx", "from_pyg", "to_networkx", "to_pyg"]

_INCIDENCE = ("node", "in", "edge")


def to_networkx(graph: Hypergraph) -> "networkx.MultiGraph":
    """The bipartite multigraph of a hypergraph.

    Vertices are `("node", i)` with `bipartite=0`, `label` and, where known, `span`; and `("edge", j)` with
    `bipartite=1` and `relation`. An incidence is a link with `qualifier`, a name or a `Position`, and
    `order`, its place in the edge.
    """
    result = require("networkx", extra="interop").MultiGraph()
    spans = [None] * graph.num_nodes if graph.span is None else map(tuple, graph.span.tolist())
    for index, (label, span) in enumerate(zip(graph.labels, spans, strict=True)):
        known = {} if span is None else {"span": span}
        result.add_node(("node", index), bipartite=0, label=label, **known)
    for index, edge in enumerate(graph):
        result.add_node(("edge", index), bipartite=1, relation=edge.relation)
        for order, (qualifier, node) in enumerate(edge.incidences):
            result.add_edge(("edge", index), ("node", node), qualifier=qualifier, order=order)
    return result


def from_networkx(bipartite: "networkx.Graph") -> Hypergraph:
    """The hypergraph of an undirected bipartite graph with the attributes that `to_networkx` writes.

    Vertices may have any names; nodes and edges are numbered in the order in which the graph lists them.
    """
    if bipartite.is_directed():
        raise ValueError("expected an undirected graph, got a directed one")
    builder = HypergraphBuilder()
    nodes: dict[Any, int] = {}
    for vertex, attributes in bipartite.nodes(data=True):
        side = _attribute(vertex, attributes, "bipartite")
        if side not in (0, 1):
            raise ValueError(f"{vertex!r}: expected bipartite to be 0 (a node) or 1 (an edge), got {side!r}")
        if side == 0:
            nodes[vertex] = builder.add_node(_attribute(vertex, attributes, "label"), attributes.get("span"))
    for vertex, attributes in bipartite.nodes(data=True):
        if vertex in nodes:
            _check_neighbours(bipartite, vertex, nodes)
            continue
        links = sorted(bipartite.edges(vertex, data=True), key=lambda link: link[2].get("order", 0))
        for _, other, _ in links:
            if other not in nodes:
                raise ValueError(f"{vertex!r}: expected links to nodes only, got one to the edge {other!r}")
        builder.relate(
            _attribute(vertex, attributes, "relation"),
            *((_attribute((vertex, other), link, "qualifier"), nodes[other]) for _, other, link in links),
        )
    return builder.build()


def _check_neighbours(bipartite: "networkx.Graph", vertex: Any, nodes: dict[Any, int]) -> None:
    for other in bipartite.neighbors(vertex):
        if other in nodes:
            raise ValueError(f"{vertex!r}: expected links to edges only, got one to the node {other!r}")


def _attribute(vertex: Any, attributes: dict[str, Any], name: str) -> Any:
    if name not in attributes:
        raise ValueError(f"{vertex!r}: expected the attribute {name}, got {sorted(attributes)}")
    return attributes[name]


def to_pyg(graph: Hypergraph) -> "torch_geometric.data.HeteroData":
    """The hypergraph as PyTorch Geometric's `HeteroData`, the columns of `Hypergraph` as tensors.

    `data["node"]` has `label` and, where known, `span`; `data["edge"]` has `relation`; and
    `data["node", "in", "edge"]` has `qualifier` and `edge_index` of shape [2, I], nodes above edges: what
    PyTorch Geometric's hypergraph layers take as `hyperedge_index`. `data.names` is the string table.
    """
    torch = require("torch", extra="interop")
    data = require("torch_geometric.data", extra="interop").HeteroData()
    data.names = list(graph.names)
    data["node"].num_nodes = graph.num_nodes
    data["node"].label = torch.tensor(graph.label, dtype=torch.long)
    if graph.span is not None:
        data["node"].span = torch.tensor(graph.span, dtype=torch.long)
    data["edge"].num_nodes = graph.num_edges
    data["edge"].relation = torch.tensor(graph.relation, dtype=torch.long)
    data[_INCIDENCE].edge_index = torch.tensor(np.stack([graph.node, graph.edge]), dtype=torch.long)
    data[_INCIDENCE].qualifier = torch.tensor(graph.qualifier, dtype=torch.long)
    return data


def from_pyg(data: "torch_geometric.data.HeteroData") -> Hypergraph:
    """The hypergraph of a `HeteroData` as `to_pyg` makes it; the incidences of an edge keep their order."""
    for part, field in (("node", "label"), ("edge", "relation"), (_INCIDENCE, "edge_index")):
        if field not in data[part]:
            raise ValueError(f"data[{part!r}]: expected the field {field}, got {list(data[part].keys())}")
    node, edge = data[_INCIDENCE].edge_index.cpu().numpy()
    relation = data["edge"].relation.cpu().numpy()
    if edge.size and not 0 <= edge.min() <= edge.max() < len(relation):
        raise IndexError(
            f"edge_index: expected edges from 0 to {len(relation) - 1}, got {edge.min()} to {edge.max()}"
        )
    order = np.argsort(edge, kind="stable")
    return Hypergraph(
        names=tuple(data.names),
        label=data["node"].label.cpu().numpy(),
        relation=relation,
        offsets=running_sum(np.bincount(edge, minlength=len(relation))),
        qualifier=data[_INCIDENCE].qualifier.cpu().numpy()[order],
        node=node[order],
        span=data["node"].span.cpu().numpy() if "span" in data["node"] else None,
    )
