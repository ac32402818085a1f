"""HEAT straight from its equations: one graph, one edge, one node at a time, in plain loops. Start reading here.

With h_n and h_e the states of nodes and edges and r_tau the vector of a qualifier, each layer computes

    slots of edge e      x = [h_e, r_1 + h_1, ..., r_k + h_k]
    messages             [m_e, m_1, ..., m_k] = MHA(x)
    update of a node     u_n = max over the messages to n;   of an edge: u_e = m_e
    new states           h' = LN(q + FFN(q)),  q = LN(h + u)

`encode(encoder, graph)` reads the weights of a `HeatEncoder` and uses no batches, layouts or shared projections. It is slow
and obvious: every fast path is tested against it. `encode_by_roles` does the same for a `RoleEncoder`, whose messages have
other equations (`role_heat.py`).
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from hyperheat.hypergraph import Hypergraph, Position
from hyperheat.nn.aggregate import CrossAttentionAggregate, MaxAggregate, MeanAggregate, SumAggregate
from hyperheat.nn.config import HeatConfig
from hyperheat.nn.embedding import NoQualifiers, QualifierProjection
from hyperheat.nn.heat import HeatEncoder, States
from hyperheat.nn.message import AttentionMessage, DeepSetMessage
from hyperheat.nn.role_heat import RoleEncoder
from hyperheat.nn.update import FeedForward, KeepState, NoFeedForward, OwnUpdate, TiedUpdate
from hyperheat.tensors.slot_kinds import EDGE, POSITION

__all__ = ["encode", "encode_by_roles"]


def encode(encoder: HeatEncoder, graph: Hypergraph) -> States:
    """The states of one graph's nodes [N, D] and edges [E, D], without dropout."""
    h_node, h_edge, qualifier_vector = _first_states(encoder, graph)
    zero = encoder.embedding.label.weight.new_zeros(encoder.config.dim)
    layers: list[Any] = list(encoder.layers)
    for layer, config in zip(layers, encoder.config.layer_configs(), strict=True):
        to_node: list[list[Tensor]] = [[] for _ in h_node]
        to_edge: list[Tensor] = []
        for e, edge in enumerate(graph):
            slots = [h_edge[e]]
            for qualifier, n in edge.incidences:
                if config.qualifier is QualifierProjection:
                    slots.append(h_node[n] + layer.qualifier(qualifier_vector(qualifier)))
                elif config.qualifier is NoQualifiers:
                    slots.append(h_node[n])
                else:
                    raise _unknown(config.qualifier)
            m_edge, *messages = _messages(layer.message, config, torch.stack(slots))
            to_edge.append(m_edge)
            for (_, n), m in zip(edge.incidences, messages, strict=True):
                to_node[n].append(m)
        u_node = [
            _aggregate(layer.aggregate, config, h, torch.stack(ms)) if ms else zero
            for h, ms in zip(h_node, to_node, strict=True)
        ]
        h_node = [_update(layer.update.node, config, h, u) for h, u in zip(h_node, u_node, strict=True)]
        if config.edge_update in (OwnUpdate, TiedUpdate):
            update = layer.update.edge if config.edge_update is OwnUpdate else layer.update.node
            h_edge = [_update(update, config, h, u) for h, u in zip(h_edge, to_edge, strict=True)]
        elif config.edge_update is not KeepState:
            raise _unknown(config.edge_update)
    empty = zero.new_zeros(0, encoder.config.dim)
    return States(torch.stack(h_node) if h_node else empty, torch.stack(h_edge) if h_edge else empty)


def encode_by_roles(encoder: RoleEncoder, graph: Hypergraph) -> States:
    """The states of one graph's nodes [N, D] and edges [E, D], without dropout."""
    h_node, h_edge, qualifier_vector = _first_states(encoder, graph)
    zero = encoder.embedding.label.weight.new_zeros(encoder.config.dim)
    layers: list[Any] = list(encoder.layers)
    for layer in layers:
        to_node: list[list[Tensor]] = [[] for _ in h_node]
        to_edge: list[Tensor] = []
        for e, edge in enumerate(graph):
            named = [(h_edge[e], _kind(encoder, edge.relation, EDGE), to_edge)]
            placed = []
            for qualifier, n in edge.incidences:
                x = h_node[n] + layer.qualifier(qualifier_vector(qualifier))
                if isinstance(qualifier, Position):
                    placed.append((x, _kind(encoder, edge.relation, POSITION), to_node[n]))
                else:
                    named.append((x, _kind(encoder, edge.relation, qualifier), to_node[n]))
            _send_in_set(layer.message, named)
            _send_in_chain(layer.message, placed)
        u_node = [torch.stack(ms).amax(0) if ms else zero for ms in to_node]
        h_node = [_update_fully(layer.update.node, h, u) for h, u in zip(h_node, u_node, strict=True)]
        if isinstance(layer.update, OwnUpdate):
            h_edge = [_update_fully(layer.update.edge, h, u) for h, u in zip(h_edge, to_edge, strict=True)]
    empty = zero.new_zeros(0, encoder.config.dim)
    return States(torch.stack(h_node) if h_node else empty, torch.stack(h_edge) if h_edge else empty)


_Slot = tuple[Tensor, int, list[Tensor]]
"""What is in a slot [D], its kind, and where its message goes."""


def _send_in_set(message: Any, slots: list[_Slot]) -> None:
    say, keep = message.kinds.chunk(2, dim=1)  # A and B of each kind
    for i, (x, kind, messages) in enumerate(slots):
        m = keep[kind] @ x + message.bias
        others = [say[other] @ y for j, (y, other, _) in enumerate(slots) if j != i]
        messages.append(m + sum(others) / math.sqrt(len(others)) if others else m)


def _send_in_chain(message: Any, slots: list[_Slot]) -> None:
    say, keep = message.kinds.chunk(2, dim=1)
    for i, (x, kind, messages) in enumerate(slots):
        m = keep[kind] @ x + message.bias
        if i > 0:
            before, its_kind, _ = slots[i - 1]
            m = m + say[its_kind] @ before
        if i < len(slots) - 1:
            m = m + message.after(slots[i + 1][0])
        messages.append(m)


def _kind(encoder: RoleEncoder, relation: str, role: str) -> int:
    """Kinds with a position come first, then those of edges, then those with a name; in each, that of all others first."""
    kind = 0
    for sort in (POSITION, EDGE, None):
        mine = [
            pair for pair in encoder.vocab.roles if (pair[1] if pair[1] in (POSITION, EDGE) else None) == sort
        ]
        if (role if role in (POSITION, EDGE) else None) == sort:
            return kind + 1 + mine.index((relation, role)) if (relation, role) in mine else kind
        kind += 1 + len(mine)
    raise AssertionError


def _first_states(
    encoder: HeatEncoder | RoleEncoder, graph: Hypergraph
) -> tuple[list[Tensor], list[Tensor], Callable[[str | Position], Tensor]]:
    """The first states of nodes and edges, and the vectors of qualifiers."""
    vocab, embedding = encoder.vocab, encoder.embedding
    zero = embedding.label.weight.new_zeros(encoder.config.dim)

    def name_vector(name: str) -> Tensor:
        return sum((embedding.name.weight[i] for i in vocab.name_ids(name)), zero)

    def label_vector(label: str) -> Tensor:
        rows = [embedding.label.weight[i] for i in vocab.label_ids(label)]
        return torch.stack(rows).amax(0) if rows else zero

    def qualifier_vector(qualifier: str | Position) -> Tensor:
        return _sinusoid(qualifier.index, zero) if isinstance(qualifier, Position) else name_vector(qualifier)

    h_node = [label_vector(label) for label in graph.labels]
    h_edge = [name_vector(relation) for relation in graph.relations]
    return h_node, h_edge, qualifier_vector


def _sinusoid(position: int, like: Tensor) -> Tensor:
    dim = len(like)
    angles = [position / 10000 ** (2 * i / dim) for i in range(dim // 2)]
    return torch.tensor([*map(math.sin, angles), *map(math.cos, angles)], dtype=like.dtype)


def _messages(message: Any, config: HeatConfig, x: Tensor) -> Tensor:
    """The slots of one edge [l, D] -> one message each [l, D]."""
    if config.message is AttentionMessage:
        q, k, v = F.linear(x, message.qkv.weight, message.qkv.bias).chunk(3, dim=1)
        return message.out(_attention(q, k, v, config.heads))
    if config.message is not DeepSetMessage:
        raise _unknown(config.message)
    summary = message.rho(F.relu(message.phi(x)).sum(0))
    return torch.stack([F.relu(message.slot(slot) + message.summary(summary)) for slot in x])


def _attention(q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
    """softmax(q k^T / sqrt(K)) v for every head, [l, D] each."""
    outs = []
    for q_h, k_h, v_h in zip(q.chunk(heads, 1), k.chunk(heads, 1), v.chunk(heads, 1), strict=True):
        scores = q_h @ k_h.T / math.sqrt(q_h.shape[1])
        outs.append(scores.softmax(dim=1) @ v_h)
    return torch.cat(outs, dim=1)


def _aggregate(aggregate: Any, config: HeatConfig, h: Tensor, m: Tensor) -> Tensor:
    """The state of a node [D] and its messages [k, D] -> its update [D]."""
    if config.aggregate is CrossAttentionAggregate:
        k, v = aggregate.key_value(m).chunk(2, dim=1)
        return aggregate.out(_attention(aggregate.query(h)[None], k, v, config.heads))[0]
    if config.aggregate not in _REDUCTIONS:
        raise _unknown(config.aggregate)
    return _REDUCTIONS[config.aggregate](m)


_REDUCTIONS: dict[type, Callable[[Tensor], Tensor]] = {
    MaxAggregate: lambda m: m.amax(0),
    SumAggregate: lambda m: m.sum(0),
    MeanAggregate: lambda m: m.mean(0),
}


def _update(update: Any, config: HeatConfig, h: Tensor, u: Tensor) -> Tensor:
    """LN(q + FFN(q)) with q = LN(h + u)."""
    if config.feed_forward is NoFeedForward:
        return update.norm(h + u)
    if config.feed_forward is not FeedForward:
        raise _unknown(config.feed_forward)
    return _update_fully(update, h, u)


def _update_fully(update: Any, h: Tensor, u: Tensor) -> Tensor:
    q = update.norm(h + u)
    block = update.feed_forward
    return block.norm(q + block.narrow(F.relu(block.widen(q))))


def _unknown(part: type) -> ValueError:
    return ValueError(f"{part.__name__}: this part of a layer is not in the reference yet; add it there")
