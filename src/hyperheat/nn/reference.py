"""HEAT straight from its equations: one graph, one edge, one node at a time, in plain loops. Start reading here.

With h_n and h_e the states of nodes and edges and r_tau the vector of a qualifier, each layer computes

    slots of edge e      x = [h_e, r_1 + h_1, ..., r_k + h_k]
    messages             [m_e, m_1, ..., m_k] = MHA(x)
    update of a node     u_n = max over the messages to n;   of an edge: u_e = m_e
    new states           h' = LN(q + FFN(q)),  q = LN(h + u)

`encode(encoder, graph)` reads the weights of a `HeatEncoder` and uses no batches, layouts or shared projections. It is slow
and obvious: every fast path is tested against it.
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
from hyperheat.nn.update import FeedForward, KeepState, NoFeedForward, OwnUpdate, TiedUpdate

__all__ = ["encode"]


def encode(encoder: HeatEncoder, graph: Hypergraph) -> States:
    """The states of one graph's nodes [N, D] and edges [E, D], without dropout."""
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
    q = update.norm(h + u)
    if config.feed_forward is NoFeedForward:
        return q
    if config.feed_forward is not FeedForward:
        raise _unknown(config.feed_forward)
    block = update.feed_forward
    return block.norm(q + block.narrow(F.relu(block.widen(q))))


def _unknown(part: type) -> ValueError:
    return ValueError(f"{part.__name__}: this part of a layer is not in the reference yet; add it there")
