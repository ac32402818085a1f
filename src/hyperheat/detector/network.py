"""HEAT and the head of detectors in plain numpy, part by part in the order of `nn/heat.py` and `bugs/model.py`.

Each part computes what the torch module of that name computes, for inference alone. It is fast because it computes less:

    first states    nodes with one label begin alike, and so do edges of one relation: each of these is projected once
    qualifiers      `W r_tau` depends on the qualifier alone: it is kept from one function to the next
    edges           those of one size are one dense array, without padding or mask; so are nodes with as many messages
    last layer      only the nodes that the head reads are updated

Letters: N nodes, E edges, Q qualifiers, C cells, D width, X width of a projection, H heads, K = D / H; L locations,
G samples, R rewrites.
"""

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hyperheat.detector.batch import BugBatch
from hyperheat.detector.sample import TEXTS
from hyperheat.tensors import HypergraphBatch, Segments, Strings, Vocabulary

__all__ = ["Architecture", "Network"]

_EPSILON = 1e-5  # of torch's LayerNorm
_SAFE = 1e-30, 1e30  # sums of exponentials that have lost nothing to the range of float32
_SCORES_AT_A_TIME = 1 << 20  # of attention; 4 MB
_FIRST_ROWS, _KEPT_NUMBERS = 256, 1 << 24  # of the table of qualifiers: at first, and at most (64 MB)


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


# Weights and small parts


class _Weights:
    """Weights by their names in torch: each is taken once, and must have the shape that it is taken for."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self._left = dict(tensors)

    def take(self, name: str, *shape: int) -> np.ndarray:
        found = self._left.pop(name, None)
        if found is None or found.shape != shape:
            got = "none" if found is None else found.shape
            raise ValueError(f"{name}: expected shape {shape}, got {got}")
        if not np.isfinite(found).all():
            raise ValueError(f"{name}: expected finite numbers, got some that are NaN or infinite")
        return found.astype(np.float32, copy=False)

    def end(self) -> None:
        """Refuse weights that nothing has taken."""
        if self._left:
            raise ValueError(f"{min(self._left)}: expected no such weights in a model of these settings")


class _Linear:
    """W x + b"""

    def __init__(self, weights: _Weights, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self.weight = np.ascontiguousarray(weights.take(f"{name}.weight", outputs, inputs).T)
        self.bias = weights.take(f"{name}.bias", outputs) if bias else np.zeros(outputs, np.float32)

    def __call__(self, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        y = np.matmul(x, self.weight, out=out)
        y += self.bias
        return y


class _Norm:
    """LN(x), in place"""

    def __init__(self, weights: _Weights, name: str, dim: int) -> None:
        self.weight = weights.take(f"{name}.weight", dim)
        self.bias = weights.take(f"{name}.bias", dim)
        self.average = np.full(dim, 1 / dim, np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x -= (x @ self.average)[:, None]
        variance = np.einsum("nd,nd->n", x, x)
        variance /= x.shape[1]
        variance += _EPSILON
        x /= np.sqrt(variance, out=variance)[:, None]
        x *= self.weight
        x += self.bias
        return x


def _relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0), in place; with a row of zeros numpy is twice as fast as with a number."""
    return np.maximum(x, np.zeros(x.shape[-1], np.float32), out=x)


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


class _Pool:
    """Segments by length: those of one length are one dense array. An empty one is zero.

    `entries` are the entries of all segments in this order [C], `place` is where each segment stands in it [S].
    """

    def __init__(self, segments: Segments[np.ndarray], chosen: np.ndarray | slice = slice(None)) -> None:
        starts, lengths = segments.offsets[:-1][chosen], np.diff(segments.offsets)[chosen]
        self.order = np.argsort(lengths, kind="stable")
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(self.order))
        starts, lengths = starts[self.order], lengths[self.order]
        ends = np.cumsum(lengths)
        within = np.arange(int(lengths.sum())) + np.repeat(starts - ends + lengths, lengths)
        self.entries = segments.entries[within]
        counts = np.bincount(lengths)
        self._sizes = [(length, int(counts[length])) for length in np.flatnonzero(counts).tolist()]

    def groups(self, x: np.ndarray) -> Iterator[tuple[np.ndarray, slice]]:
        """Entries in their order [C, X] -> for each length the entries [S, length, X] and places of its segments."""
        entry = row = 0
        for length, count in self._sizes:
            if length:
                yield x[entry : entry + count * length].reshape(count, length, -1), slice(row, row + count)
            entry += count * length
            row += count

    def reduce(self, x: np.ndarray, with_: np.ufunc) -> np.ndarray:
        """Entries in their order [C, D] -> segments [S, D]."""
        out = np.zeros((len(self.order), x.shape[1]), np.float32)
        for entries, places in self.groups(x):
            with_.reduce(entries, axis=1, out=out[places])
        return out.take(self.place, axis=0)


# Messages: what the slots of an edge say, from their projections to one row for each cell


Groups = list[tuple[slice, int]]
"""Edges by size: their cells, and how many slots each of them has."""


class _Attention:
    """Multi-head self-attention among the slots of an edge."""

    def __init__(self, weights: _Weights, name: str, architecture: Architecture) -> None:
        dim, self.heads = architecture.dim, architecture.heads
        self.project = _Linear(weights, f"{name}.qkv", dim, 3 * dim)
        scale = (dim // self.heads) ** -0.5
        self.project.weight[:, :dim] *= scale
        self.project.bias = np.append(self.project.bias[:dim] * np.float32(scale), self.project.bias[dim:])
        self.out = _Linear(weights, f"{name}.out", dim, dim)

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

    def __init__(self, weights: _Weights, name: str, architecture: Architecture) -> None:
        dim = architecture.dim
        self.project, slot = (_Linear(weights, f"{name}.{part}", dim, dim) for part in ("phi", "slot"))
        self.project.weight = np.concatenate([self.project.weight, slot.weight], axis=1)
        self.project.bias = np.concatenate([self.project.bias, slot.bias])
        self.rho = [_Linear(weights, f"{name}.rho.{index}", dim, dim) for index in (0, 2)]
        self.summary = _Linear(weights, f"{name}.summary", dim, dim, bias=False)

    def mix(self, x: np.ndarray, groups: Groups) -> np.ndarray:
        """Phi and W of the cells [C, 2D] -> messages [C, D]."""
        phi, slot = np.split(x, 2, axis=1)
        _relu(phi)
        for cells, slots in groups:
            q = phi[cells].reshape(-1, slots, phi.shape[1]).sum(axis=1)
            q = self.summary(self.rho[1](_relu(self.rho[0](q))))
            slot[cells] += q.repeat(slots, axis=0)
        return _relu(slot)

    def finish(self, mixed: np.ndarray) -> np.ndarray:
        """They are messages already."""
        return mixed


_MESSAGES = {"AttentionMessage": _Attention, "DeepSetMessage": _DeepSet}


# Aggregates: from the messages to a node to its one update


class _Reduction:
    """Maximum, sum or mean."""

    def __init__(self, weights: _Weights, name: str, architecture: Architecture) -> None:
        self._with = _REDUCTIONS[architecture.aggregate]
        self._mean = architecture.aggregate == "MeanAggregate"

    def __call__(self, m: np.ndarray, h: np.ndarray, nodes: _Pool) -> np.ndarray:
        """Messages to nodes [C, D] and states [N, D] -> updates [N, D]."""
        if self._mean:
            for messages, _ in nodes.groups(m):
                messages /= messages.shape[1]
        return nodes.reduce(m, self._with)


class _CrossAttention:
    """Multi-head attention with the node state as query, messages as keys and values."""

    def __init__(self, weights: _Weights, name: str, architecture: Architecture) -> None:
        dim, self.heads = architecture.dim, architecture.heads
        self.query = _Linear(weights, f"{name}.query", dim, dim)
        self.key_value = _Linear(weights, f"{name}.key_value", dim, 2 * dim)
        self.out = _Linear(weights, f"{name}.out", dim, dim)

    def __call__(self, m: np.ndarray, h: np.ndarray, nodes: _Pool) -> np.ndarray:
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


class _Update:
    """q = LN(h + u);  h' = LN(q + FFN(q)), or q without the feed-forward part"""

    def __init__(self, weights: _Weights, name: str, architecture: Architecture) -> None:
        dim, hidden, part = architecture.dim, architecture.hidden, f"{name}.feed_forward"
        self.norm = _Norm(weights, f"{name}.norm", dim)
        self.feed_forward = architecture.feed_forward == "FeedForward"
        if self.feed_forward:
            self.widen = _Linear(weights, f"{part}.widen", dim, hidden)
            self.narrow = _Linear(weights, f"{part}.narrow", hidden, dim)
            self.second_norm = _Norm(weights, f"{part}.norm", dim)

    def __call__(self, h: np.ndarray, u: np.ndarray, out: np.ndarray) -> None:
        """States and updates [N, D] -> new states in `out` [N, D]; `u` is overwritten."""
        u += h
        q = self.norm(u)
        if not self.feed_forward:
            out[...] = q
            return
        self.narrow(_relu(self.widen(q)), out=out)
        out += q
        self.second_norm(out)


class _Layer:
    """One round of messages."""

    def __init__(self, weights: _Weights, name: str, architecture: Architecture, *, last: bool) -> None:
        self.qualifier = None
        if architecture.qualifier == "QualifierProjection":
            self.qualifier = _Linear(weights, f"{name}.qualifier", architecture.dim, architecture.dim)
        self.message = _MESSAGES[architecture.message](weights, f"{name}.message", architecture)
        self.aggregate = _AGGREGATES[architecture.aggregate](weights, f"{name}.aggregate", architecture)
        self.node_update = self.edge_update = _Update(weights, f"{name}.update.node", architecture)
        if (last and not architecture.final_edges) or architecture.edge_update == "KeepState":
            self.edge_update = None
        elif architecture.edge_update == "OwnUpdate":
            self.edge_update = _Update(weights, f"{name}.update.edge", architecture)

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
        self.nodes = _Pool(segments, nodes)
        own = segments.entries[segments.offsets[edges]]
        self.cells = np.concatenate([self.nodes.entries, own])  # of the messages, to nodes and then to edges


class _Qualifiers:
    """`W r_tau` for every layer, in a table that is kept from one batch to the next.

    Each row is computed by itself, so that it does not depend on what was asked before. Rows that are in use are never
    overwritten: when the table is full, another one is begun.
    """

    def __init__(self, names: np.ndarray, layers: list[_Layer]) -> None:
        self._names, self._layers = names, layers
        self._lock = threading.Lock()
        self._width = layers[0].message.project.weight.shape[1]
        self._most = max(_FIRST_ROWS, _KEPT_NUMBERS // (len(layers) * self._width))
        self._clear(_FIRST_ROWS)

    def _clear(self, rows: int) -> None:
        self._row: dict[int | tuple[int, ...], int] = {}  # row 0 is for cells without a qualifier
        self.table = np.zeros((len(self._layers), rows, self._width), np.float32)

    def find(self, batch: HypergraphBatch[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The table [layers, *, X] and the row in it of each qualifier of the batch, at last that of none [Q+1]."""
        offsets, tokens = batch.names.owner.offsets.tolist(), batch.names.tokens.tolist()
        used = np.flatnonzero(np.bincount(batch.qualifier, minlength=batch.num_qualifiers)).tolist()
        num_names = len(offsets) - 1
        positions = batch.positions.tolist()
        keys = [
            tuple(tokens[offsets[q] : offsets[q + 1]]) if q < num_names else positions[q - num_names]
            for q in used
        ]
        rows = np.zeros(batch.num_qualifiers + 1, dtype=np.int64)
        with self._lock:
            new = dict.fromkeys(key for key in keys if key not in self._row)
            if len(self._row) + len(new) >= self._most:
                new = dict.fromkeys(keys)
                self._clear(len(new) + 1)
            self._add(list(new))
            rows[used] = [self._row[key] for key in keys]
            return self.table, rows

    def _add(self, keys: list[int | tuple[int, ...]]) -> None:
        short = len(self._row) + 1 + len(keys) - self.table.shape[1]
        if short > 0:
            room = np.zeros((len(self._layers), max(short, self.table.shape[1]), self._width), np.float32)
            self.table = np.concatenate([self.table, room], axis=1)
        for row, key in enumerate(keys, start=len(self._row) + 1):
            r = self._position(key) if isinstance(key, int) else self._names[list(key)].sum(axis=0)
            for layer, table in zip(self._layers, self.table, strict=True):
                table[row] = layer.qualify(r)
            self._row[key] = row

    def _position(self, position: int) -> np.ndarray:
        """[sin(p w_1), ..., cos(p w_1), ...] with w_i = 10000^(-2(i-1)/D)"""
        dim = self._names.shape[1]
        angles = position * np.exp(-math.log(10000.0) * np.arange(0, dim, 2) / dim)
        return np.concatenate([np.sin(angles), np.cos(angles)]).astype(np.float32)


class _Encoder:
    """A batch of hypergraphs in, states of chosen nodes out."""

    def __init__(self, weights: _Weights, architecture: Architecture, vocab: Vocabulary) -> None:
        dim, count = architecture.dim, architecture.layers
        self.label = weights.take("encoder.embedding.label.weight", len(vocab.labels), dim)
        self.name = weights.take("encoder.embedding.name.weight", len(vocab.names), dim)
        self.layers = [
            _Layer(weights, f"encoder.layers.{index}", architecture, last=index == count - 1)
            for index in range(count)
        ]
        self.qualifiers = _Qualifiers(self.name, self.layers)

    def __call__(self, batch: HypergraphBatch[np.ndarray], chosen: np.ndarray) -> np.ndarray:
        """The states of the chosen nodes [*, D]."""
        num_nodes, num_edges = batch.num_nodes, batch.num_edges
        labels = _embed(self.label, batch.labels, np.maximum)
        h = np.concatenate([labels, _embed(self.name, batch.names, np.add)])  # the distinct first states
        first = np.concatenate([batch.label, len(labels) + batch.relation])  # of each node and edge [N+E]
        state, qualifier = batch.plan.slots.pairs.T  # [C]
        kept, rows = self.qualifiers.find(batch)
        qualifier = rows[qualifier - (num_nodes + num_edges)]
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


def _embed(table: np.ndarray, strings: Strings[np.ndarray], with_: np.ufunc) -> np.ndarray:
    """The subtokens of each string, reduced [*, D]."""
    pool = _Pool(strings.owner)
    return pool.reduce(table.take(strings.tokens[pool.entries], axis=0), with_)


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


# The head


class _Scorer:
    """Joined inputs to hidden features, and a score of these."""

    def __init__(self, weights: _Weights, name: str, inputs: int, dim: int) -> None:
        self.hidden = _Linear(weights, f"{name}.hidden", inputs * dim, dim)
        self.score = _Linear(weights, f"{name}.score", dim, 1)

    def __call__(self, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inputs [*, D] -> features [*, D] and scores [*]."""
        features = _relu(self.hidden(np.concatenate(inputs, axis=1)))
        return features, self.score(features)[:, 0]


class _Head:
    """States of the nodes that matter in, scores of locations and rewrites out."""

    def __init__(self, weights: _Weights, dim: int) -> None:
        self.text = weights.take("head.text.weight", len(TEXTS), dim)
        self.put_text, self.put_variable, self.swap, self.location = (
            _Scorer(weights, f"head.{name}", inputs, dim)
            for name, inputs in (("put_text", 2), ("put_variable", 2), ("swap", 3), ("location", 3))
        )
        self.summary = _Linear(weights, "head.summary", 2 * dim, dim)
        self.no_bug = _Linear(weights, "head.no_bug", dim, 1)

    def __call__(self, taken: np.ndarray, batch: BugBatch[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """States of locations, variables, first and second arguments -> scores of choices [L + G], rewrites [R]."""
        texts, variables, swaps = batch.forms
        ends = np.cumsum([len(batch.by_sample.owner), variables, swaps])
        h, variable, first, second = np.split(taken, ends)  # [L, D], ...
        at = h.take(batch.by_location.owner, axis=0)  # [R, D]
        at_text, at_variable, at_swap = np.split(at, [texts, texts + variables])
        scored = (
            self.put_text(at_text, self.text.take(batch.text, axis=0)),
            self.put_variable(at_variable, variable),
            self.swap(at_swap, first, second),
        )
        z = np.concatenate([features for features, _ in scored])  # [R, D]
        rewrites = np.concatenate([score for _, score in scored])  # [R]
        z = _largest(z, batch.by_location)  # [L, D]
        s = _largest(self.summary(np.concatenate([h, z], axis=1)), batch.by_sample)  # [G, D]
        _, pointed = self.location(h, z, s.take(batch.by_sample.owner, axis=0))  # [L]
        return np.concatenate([pointed, self.no_bug(s)[:, 0]]), rewrites


def _largest(x: np.ndarray, segments: Segments[np.ndarray]) -> np.ndarray:
    pool = _Pool(segments)
    return pool.reduce(x.take(pool.entries, axis=0), np.maximum)


class Network:
    """A detector: a batch of samples in, scores before normalisation out."""

    def __init__(
        self, tensors: Mapping[str, np.ndarray], architecture: Architecture, vocab: Vocabulary
    ) -> None:
        weights = _Weights(tensors)
        self.encoder = _Encoder(weights, architecture, vocab)
        self.head = _Head(weights, architecture.dim)
        weights.end()

    def __call__(self, batch: BugBatch[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the choices of locations [L + G], "no bug" last, and of the rewrites [R]."""
        chosen, place = np.unique(batch.nodes.owner, return_inverse=True)
        with np.errstate(all="ignore"):  # the caller checks for NaN
            return self.head(self.encoder(batch.graphs, chosen).take(place, axis=0), batch)
