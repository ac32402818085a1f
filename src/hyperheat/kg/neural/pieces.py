"""HEAT over a whole graph with bounded memory, without gradients: layer by layer, some statements at a time.

The messages of a statement need its members alone, so each statement is computed once per layer, and nodes collect their
messages over all pieces (hyperheat/nn/running_aggregates.py). Beside a piece only states are kept: those of nodes [N, D]
before and after a layer, and those of edges [M, D] if a layer changes them.
Letters: N entities, M statements, S statements of a piece, n entities of a piece, D width.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from hyperheat.kg.neural.graph_encoders import HeatGraph, Table, edge_graph
from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatLayer
from hyperheat.nn.fast.rows import segment_sum
from hyperheat.nn.running_aggregates import RUNNING
from hyperheat.nn.update import KeepState
from hyperheat.tensors.indices import to_tensors

__all__ = ["PIECE", "encode_in_pieces"]

PIECE = 1 << 14
"""Incidences of the statements of a piece, and nodes that are updated at a time."""


@torch.no_grad()
def encode_in_pieces(encoder: HeatGraph, first: Table, statements: Statements, *, size: int = PIECE) -> Table:
    """What the encoder makes of first vectors in the graph of all statements, as in `encoder(first, plan)`."""
    entities, relations = encoder.tables(first, None)
    names = relations[: len(relations) // 2]
    r = torch.cat([encoder.role, names])
    nodes, edges = entities, None
    for layer in encoder.layers:
        nodes, edges = _run_layer(layer, nodes, edges, names, r, statements, size)
    return Table(nodes, relations)


def _run_layer(
    layer: nn.Module,
    nodes: Tensor,
    edges: Tensor | None,
    names: Tensor,
    r: Tensor,
    statements: Statements,
    size: int,
) -> tuple[Tensor, Tensor | None]:
    """The next states of nodes and edges; None stands for edges that all are what their relation is."""
    assert isinstance(layer, HeatLayer)
    qualifiers = layer.qualifier(r)
    running = RUNNING[type(layer.aggregate)](layer.aggregate, nodes)
    keeps = isinstance(layer.update, KeepState)
    after = edges if keeps else nodes.new_empty(len(statements), nodes.shape[1])
    for rows in _pieces(statements, size):
        part = statements[rows]
        used = np.unique(part.memberships()[1])
        graph = to_tensors(edge_graph(part.narrowed(used), shared_states=False), nodes.device)
        here = torch.as_tensor(used, dtype=torch.int64, device=nodes.device)
        states = names[graph.state] if edges is None else edges[rows]
        h = torch.cat([nodes[here], states])  # [n+S, D]
        m = layer.message(h, qualifiers, graph.plan)
        running.add(here, m, h, graph.plan)
        if after is not None and not keeps:
            u = segment_sum(m, graph.plan.receivers)[len(used) : len(h)]  # each a sum of one
            after[rows] = layer.update(states, u, 0)
    updates = running.finish()
    for start in range(0, len(nodes), size):
        part = slice(start, start + size)
        updates[part] = layer.update(nodes[part], updates[part], len(updates[part]))
    return updates, after


def _pieces(statements: Statements, size: int) -> Iterator[slice]:
    """Consecutive statements with about so many incidences together, at least one each."""
    ends = statements.offsets[1:] + 2 * np.arange(1, len(statements) + 1)
    start = 0
    while start < len(statements):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + size, side="right")))
        yield slice(start, stop)
        start = stop
