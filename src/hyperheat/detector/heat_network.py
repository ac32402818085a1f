"""HEAT in plain numpy, part by part in the order of `nn/heat.py`. It is fast because it computes less:

    first states    nodes with one label begin alike, and so do edges of one relation: each of these is projected once
    qualifiers      `W r_tau` depends on the qualifier alone: it is kept from one function to the next
    edges           those of one size are one dense array, without padding or mask; so are nodes with as many messages
    last layer      only the nodes that the head reads are updated

Letters: N nodes, E edges, Q qualifiers, C cells, D width, X width of a projection, H heads, K = D / H.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hyperheat.detector.arrays import Linear, Pool, QualifierTable, StateUpdate, Weights, embed, relu
from hyperheat.tensors import HypergraphBatch, Segments, Vocabulary

__all__ = ["Architecture", "HeatNetwork"]

_SAFE = 1e-30, 1e30  # sums of exponentials that have lost nothing to the range of float32
_SCORES_AT_A_TIME = 1 << 20  # of attention; 4 MB


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Sizes and parts of a HEAT model, as `HeatConfig` names them."""

    dim: int
    layers: int
    heads: int
    ff: int | None
    dropout: float
    final_edges: bool
    qualifier: str
    message: str
    aggregate: str
    feed_forward: str
    edge_update: str

    def __post_init__(self) -> None:
        for name, most in _LARGEST.items():
            value = getattr(self, name)
            if (name, value) != ("ff", None) and (type(value) is not int or not 1 <= value <= most):
                raise ValueError(f"{name}: expected an int from 1 to {most}, got {value!r:.50}")
        if self.dim % self.heads or self.dim % 2:
            raise ValueError(f"dim: expected an even multiple of heads={self.heads}, got {self.dim}")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {value!r:.50}")

    @property
    def hidden(self) -> int:
        """Hidden width of the feed-forward part."""
        return 8 * self.dim if self.ff is None else self.ff


_LARGEST = {"dim": 8_192, "layers": 256, "heads": 1_024, "ff": 65_536}


def _attend(q: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A softmax before its division: exp(q k) [..., l, m] and its sums [..., l]; shifted only where it must be."""
    scores = q @ k
    weights = np.exp(scores, out=scores)
    sums = weights @ np.ones(weights.shape[-1], np.float32)
    least, most = _SAFE
    if sums.size and not (sums.min() > least and sums.max() < most):
        scores = q @ k
        scores -= scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores, out=scores)
        sums = weights.sum(axis=-1)
    return weights, sums


# Messages: what the slots of an edge say, from their projections to one row for each cell


Groups = list[tuple[slice, int]]
"""Edges by size: their cells, and how many slots each of them has."""


class _Attention:
    """Multi-head self-attention among the slots of an edge."""

    def __init__(self, weights: Weights, name: str, architecture: Architecture) -> None:
        dim, self.heads = architecture.dim, architecture.heads
        self.project = Linear(weights, f"{name}.qkv", dim, 3 * dim)
        scale = (dim // self.heads) ** -0.5
        self.project.weight[:, :dim] *= scale
        self.project.bias = np.append(self.project.bias[:dim] * np.float32(scale), self.project.bias[dim:])
        self.out = Linear(weights, f"{name}.out", dim, dim)

    def mix(self, x: np.ndarray, groups: Groups) -> np.ndarray:
        """Queries, keys and values of the cells [C, 3D] -> what each attends to [C, D]."""
        heads, dim = self.heads, x.shape[1] // 3
        mixed = np.empty((len(x), dim), np.float32)
        for cells, slots in groups:
            qkv = x[cells].reshape(-1, slots, 3, heads, dim // heads)
            q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # each [B, H, l, K]
            to = mixed[cells].reshape(-1, slots, heads, dim // heads).transpose(0, 2, 1, 3)
            for edges in _parts(len(q), heads * slots**2):
                for some in _parts(heads, slots**2):
                    weights, sums = _attend(q[edges, some], k[edges, some].swapaxes(2, 3))
                    np.matmul(weights, v[edges, some], out=to[edges, some])
                    to[edges, some] /= sums[..., None]
        return mixed

    def finish(self, mixed: np.ndarray) -> np.ndarray:
        """What cells attend to [C, D] -> their messages [C, D]."""
        return self.out(mixed)


def _parts(count: int, size: int) -> Iterator[slice]:
    """Cut `count` things of some size so that only a part of the memory is needed at a time."""
    step = max(1, _SCORES_AT_A_TIME // size)
    return (slice(start, start + step) for start in range(0, count, step))


class _DeepSet:
    """q_e = rho(sum_i phi(x_i));  m_i = ReLU(W [x_i; q_e])"""

    def __init__(self, weights: Weights, name: str, architecture: Architecture) -> None:
        dim = architecture.dim
        self.project, slot = (Linear(weights, f"{name}.{part}", dim, dim) for part in ("phi", "slot"))
        self.project.weight = np.concatenate([self.project.weight, slot.weight], axis=1)
        self.project.bias = np.concatenate([self.project.bias, slot.bias])
        self.rho = [Linear(weights, f"{name}.rho.{index}", dim, dim) for index in (0, 2)]
        self.summary = Linear(weights, f"{name}.summary", dim, dim, bias=False)

    def mix(self, x: np.ndarray, groups: Groups) -> np.ndarray:
        """Phi and W of the cells [C, 2D] -> messages [C, D]."""
        phi, slot = np.split(x, 2, axis=1)
        relu(phi)
        for cells, slots in groups:
            q = phi[cells].reshape(-1, slots, phi.shape[1]).sum(axis=1)
            q = self.summary(self.rho[1](relu(self.rho[0](q))))
            slot[cells] += q.repeat(slots, axis=0)
        return relu(slot)

    def finish(self, mixed: np.ndarray) -> np.ndarray:
        """They are messages already."""
        return mixed


_MESSAGES = {"AttentionMessage": _Attention, "DeepSetMessage": _DeepSet}


# Aggregates: from the messages to a node to its one update


class _Reduction:
    """Maximum, sum or mean."""

    def __init__(self, weights: Weights, name: str, architecture: Architecture) -> None:
        self._with = _REDUCTIONS[architecture.aggregate]
        self._mean = architecture.aggregate == "MeanAggregate"

    def __call__(self, m: np.ndarray, h: np.ndarray, nodes: Pool) -> np.ndarray:
        """Messages to nodes [C, D] and states [N, D] -> updates [N, D]."""
        if self._mean:
            for messages, _ in nodes.groups(m):
                messages /= messages.shape[1]
        return nodes.reduce(m, self._with)


class _CrossAttention:
    """Multi-head attention with the node state as query, messages as keys and values."""

    def __init__(self, weights: Weights, name: str, architecture: Architecture) -> None:
        dim, self.heads = architecture.dim, architecture.heads
        self.query = Linear(weights, f"{name}.query", dim, dim)
        self.key_value = Linear(weights, f"{name}.key_value", dim, 2 * dim)
        self.out = Linear(weights, f"{name}.out", dim, dim)

    def __call__(self, m: np.ndarray, h: np.ndarray, nodes: Pool) -> np.ndarray:
        """Messages to nodes [C, D] and states [N, D] -> updates [N, D]."""
        dim = h.shape[1]
        query = self.query(h[nodes.order]).reshape(len(h), self.heads, 1, -1)  # [N, H, 1, K]
        query *= np.float32((dim // self.heads) ** -0.5)
        out = np.zeros_like(h)
        for messages, places in nodes.groups(self.key_value(m)):
            shape = *messages.shape[:2], 2, self.heads, dim // self.heads
            key, value = messages.reshape(shape).transpose(2, 0, 3, 1, 4)  # each [S, H, length, K]
            weights, sums = _attend(query[places], key.swapaxes(2, 3))  # [S, H, 1, length], [S, H, 1]
            attended = weights @ value / sums[..., None]  # [S, H, 1, K]
            out[places] = self.out(attended.reshape(len(messages), dim))
        return out.take(nodes.place, axis=0)


_REDUCTIONS = {"MaxAggregate": np.maximum, "SumAggregate": np.add, "MeanAggregate": np.add}
_AGGREGATES = {**dict.fromkeys(_REDUCTIONS, _Reduction), "CrossAttentionAggregate": _CrossAttention}

_CHOICES = {
    "qualifier": ("QualifierProjection", "NoQualifiers"),
    "message": tuple(_MESSAGES),
    "aggregate": tuple(_AGGREGATES),
    "feed_forward": ("FeedForward", "NoFeedForward"),
    "edge_update": ("OwnUpdate", "TiedUpdate", "KeepState"),
}
"""The parts that can be chosen for each slot of a layer, by the names of their classes in torch."""


# Layers


def _update(weights: Weights, name: str, architecture: Architecture) -> StateUpdate:
    hidden = architecture.hidden if architecture.feed_forward == "FeedForward" else None
    return StateUpdate(weights, name, architecture.dim, hidden)


class _Layer:
    """One round of messages."""

    def __init__(self, weights: Weights, name: str, architecture: Architecture, *, last: bool) -> None:
        self.qualifier = None
        if architecture.qualifier == "QualifierProjection":
            self.qualifier = Linear(weights, f"{name}.qualifier", architecture.dim, architecture.dim)
        self.message = _MESSAGES[architecture.message](weights, f"{name}.message", architecture)
        self.aggregate = _AGGREGATES[architecture.aggregate](weights, f"{name}.aggregate", architecture)
        self.node_update = self.edge_update = _update(weights, f"{name}.update.node", architecture)
        if (last and not architecture.final_edges) or architecture.edge_update == "KeepState":
            self.edge_update = None
        elif architecture.edge_update == "OwnUpdate":
            self.edge_update = _update(weights, f"{name}.update.edge", architecture)

    def qualify(self, r: np.ndarray) -> np.ndarray:
        """W (W_t r + b_t), the part of a qualifier in the projections [X]; zero if there are no qualifiers."""
        if self.qualifier is None:
            return np.zeros(self.message.project.weight.shape[1], np.float32)
        return self.qualifier(r) @ self.message.project.weight

    def receive(self, mixed: np.ndarray, h: np.ndarray, receivers: "_Receivers") -> np.ndarray:
        """What cells attend to [C, D], and the states of those that receive messages -> their new states."""
        num_nodes, num_messages = len(receivers.nodes.order), len(receivers.nodes.entries)
        m = self.message.finish(mixed.take(receivers.cells, axis=0))
        new = np.empty_like(h)
        u = self.aggregate(m[:num_messages], h[:num_nodes], receivers.nodes)
        self.node_update(h[:num_nodes], u, new[:num_nodes])
        if self.edge_update is None:
            new[num_nodes:] = h[num_nodes:]
        else:
            self.edge_update(h[num_nodes:], m[num_messages:], new[num_nodes:])
        return new


class _Receivers:
    """Nodes that get messages, and the edges, which get one each."""

    def __init__(self, segments: Segments[np.ndarray], nodes: np.ndarray | slice, edges: slice) -> None:
        self.nodes = Pool(segments, nodes)
        own = segments.entries[segments.offsets[edges]]
        self.cells = np.concatenate([self.nodes.entries, own])  # of the messages, to nodes and then to edges


class HeatNetwork:
    """A batch of hypergraphs in, states of chosen nodes out."""

    def __init__(self, weights: Weights, architecture: Architecture, vocab: Vocabulary) -> None:
        dim, count = architecture.dim, architecture.layers
        self.label = weights.take("encoder.embedding.label.weight", len(vocab.labels), dim)
        self.name = weights.take("encoder.embedding.name.weight", len(vocab.names), dim)
        self.layers = [
            _Layer(weights, f"encoder.layers.{index}", architecture, last=index == count - 1)
            for index in range(count)
        ]
        width = self.layers[0].message.project.weight.shape[1]
        self.qualifiers = QualifierTable(self.name, [layer.qualify for layer in self.layers], width)

    def __call__(self, batch: HypergraphBatch[np.ndarray], chosen: np.ndarray) -> np.ndarray:
        """The states of the chosen nodes [*, D]."""
        num_nodes, num_edges = batch.num_nodes, batch.num_edges
        labels = embed(self.label, batch.labels, np.maximum)
        h = np.concatenate([labels, embed(self.name, batch.names, np.add)])  # the distinct first states
        first = np.concatenate([batch.label, len(labels) + batch.relation])  # of each node and edge [N+E]
        state, qualifier = batch.plan.slots.pairs.T  # [C]
        kept, qualifier = self.qualifiers.find(batch, qualifier - (num_nodes + num_edges))
        groups = _groups(batch)
        receivers = _Receivers(
            batch.plan.receivers, slice(num_nodes), slice(num_nodes, num_nodes + num_edges)
        )
        for index, layer in enumerate(self.layers):
            x = layer.message.project(h).take(state if index else first[state], axis=0)  # [C, X]
            x += kept[index].take(qualifier, axis=0)
            mixed = layer.message.mix(x, groups)
            h = h if index else h.take(first, axis=0)  # [N+E, D]
            if layer is self.layers[-1]:
                receivers, h = _Receivers(batch.plan.receivers, chosen, slice(0)), h.take(chosen, axis=0)
            h = layer.receive(mixed, h, receivers)
        return h


def _groups(batch: HypergraphBatch[np.ndarray]) -> Groups:
    """The groups of a batch, those of one size joined."""
    found: Groups = []
    start = 0
    for group in batch.plan.groups:
        if group.block is None:
            raise ValueError("batch: expected edges grouped by size, got another layout")
        end = start + group.rows * group.width
        if found and found[-1][1] == group.block:
            start = found.pop()[0].start
        found.append((slice(start, end), group.block))
        start = end
    return found
