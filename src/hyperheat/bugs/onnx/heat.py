"""HEAT and the head of detectors as an ONNX graph, part by part in the order of `hyperheat.nn.heat` and `bugs.model`.

Every part is the counterpart of the torch module that it takes the weights from, in the same letters: N nodes, E edges,
Q qualifiers, C cells, D width, H heads, K = D / H; L locations, G samples, R rewrites.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from onnx import ModelProto
from torch import nn

from hyperheat.bugs.model import BugHead, BugModel
from hyperheat.bugs.model import Scorer as HeadScorer
from hyperheat.bugs.onnx.graph import Graph, Precision
from hyperheat.detector.interface import LABELS, LOCATIONS, NAMES, NODES, ROWS, SAMPLES, SEGMENTS, Pooled
from hyperheat.nn.aggregate import CrossAttentionAggregate, MaxAggregate, MeanAggregate, SumAggregate
from hyperheat.nn.embedding import HypergraphEmbedding, NoQualifiers
from hyperheat.nn.heat import HeatEncoder, HeatLayer
from hyperheat.nn.message import AttentionMessage, DeepSetMessage
from hyperheat.nn.update import FeedForward, KeepState, TiedUpdate, Update

__all__ = ["detector_graph"]


def detector_graph(model: BugModel, precision: Precision) -> ModelProto:
    """The graph of a detector whose encoder is HEAT: inputs as planned, out come scores before normalisation."""
    return _Translation(model, precision).model


class _Translation:
    def __init__(self, model: BugModel, precision: Precision) -> None:
        encoder = model.encoder
        if not isinstance(encoder, HeatEncoder):
            raise TypeError(f"encoder: expected HEAT, got {type(encoder).__name__}, which has no ONNX form")
        self.graph = Graph(precision)
        self.names = {module: name for name, module in model.named_modules()}
        self.dim = encoder.config.dim
        self.zero = self.graph.constant(np.zeros((1, self.dim)), np.float32)
        self.masks: dict[str, str] = {}
        nodes, edges, r = self.embed(encoder.embedding)
        layers = cast(list[HeatLayer], list(encoder.layers))
        for layer in layers:
            nodes, edges = self.layer(layer, nodes, edges, r, last=layer is layers[-1])
        self.model = self.graph.model(self.head(model.head, nodes))

    # Weights and rows

    def weight(self, module: nn.Module, name: str) -> str:
        value = getattr(module, name).detach().float().cpu().numpy()
        return self.graph.weight(f"{self.names[module]}.{name}", value)

    def linear(self, module: nn.Module, x: str, *, bias: bool = True) -> str:
        weights = [self.weight(module, "weight")]
        if bias and module.bias is not None:
            weights.append(self.weight(module, "bias"))
        return self.graph.op("Gemm", x, *weights, transB=1)

    def norm(self, module: nn.LayerNorm, x: str) -> str:
        weights = self.weight(module, "weight"), self.weight(module, "bias")
        return self.graph.op("LayerNormalization", x, *weights, axis=-1, epsilon=module.eps)

    def rows(self, table: str, index: str) -> str:
        return self.graph.op("Gather", table, index, axis=0)

    def pool(self, pooled: Pooled, reduce: Callable[[int, str], str], table: str) -> str:
        """Reduce the entries of each segment [S, D]; an empty one is zero."""
        parts = [
            reduce(step, self.rows(table, self.graph.input(pooled.take(step))))
            for step in range(len(SEGMENTS))
        ]
        return self.rows(self.graph.concat([*parts, self.zero], 0), self.graph.input(pooled.place))

    def largest(self, step: int, entries: str) -> str:
        return self.graph.op("ReduceMax", entries, self.graph.constant([1]), keepdims=0)

    def total(self, pooled: Pooled, step: int, entries: str) -> str:
        real = self.graph.input(pooled.real(step))
        real = self.graph.op("Unsqueeze", real, self.graph.constant([2]))
        kept = self.graph.op("Mul", entries, real)
        return self.graph.op("ReduceSum", kept, self.graph.constant([1]), keepdims=0)

    def mean(self, pooled: Pooled, step: int, entries: str) -> str:
        real = self.graph.input(pooled.real(step))
        count = self.graph.op("ReduceSum", real, self.graph.constant([1]), keepdims=1)
        return self.graph.op("Div", self.total(pooled, step, entries), count)

    # The encoder

    def embed(self, module: HypergraphEmbedding) -> tuple[str, str, str]:
        """States of nodes and edges, and qualifiers [Q, D]."""
        labels = self.pool(LABELS, self.largest, self.weight(module.label, "weight"))
        names = self.pool(NAMES, partial(self.total, NAMES), self.weight(module.name, "weight"))
        nodes = self.rows(labels, self.graph.input("label"))
        edges = self.rows(names, self.graph.input("relation"))
        return nodes, edges, self.graph.concat([names, self.graph.input("positions")], 0)

    def layer(self, layer: HeatLayer, nodes: str, edges: str, r: str, *, last: bool) -> tuple[str, str]:
        if isinstance(layer.qualifier, NoQualifiers):
            r = self.graph.op("Mul", r, self.graph.constant(0, np.float32))
        else:
            r = self.linear(layer.qualifier, r)
        h = self.graph.concat([nodes, edges], 0)
        m = _MESSAGES[type(layer.message)](self, layer.message, h, r)
        new_nodes = self.aggregate(layer.aggregate, m, nodes)
        update: Any = layer.update
        if last or isinstance(update, KeepState):  # the head reads nodes alone
            return self.update(update.node, nodes, new_nodes), edges
        passed_on = self.rows(m, self.graph.input("own_cell"))
        of_edges = update.node if isinstance(update, TiedUpdate) else update.edge
        return self.update(update.node, nodes, new_nodes), self.update(of_edges, edges, passed_on)

    def project(self, module: nn.Linear, h: str, r: str) -> str:
        """`[W h + b; W r; 0]`: cells are sums of two of these rows."""
        zero = self.graph.constant(np.zeros((1, module.out_features)), np.float32)
        return self.graph.concat([self.linear(module, h), self.linear(module, r, bias=False), zero], 0)

    def cells(self, table: str, group: int) -> str:
        """The sums in the cells of the rows of one width [B, L, X]."""
        first, second = self.graph.ops("Split", 2, self.graph.input(f"rows.{group}"), axis=2, num_outputs=2)
        last = self.graph.constant([2])
        first, second = (self.graph.op("Squeeze", index, last) for index in (first, second))
        return self.graph.op("Add", self.rows(table, first), self.rows(table, second))

    def same_edge(self, group: int) -> str:
        """Whether two cells of a row belong to one edge [B, L, L]."""
        edges = self.graph.input(f"edges.{group}")
        rows, columns = (self.graph.op("Unsqueeze", edges, self.graph.constant([axis])) for axis in (2, 1))
        return self.graph.op("Equal", rows, columns)

    def attention(self, module: AttentionMessage, h: str, r: str) -> str:
        table = self.project(module.qkv, h, r)
        heads, width = module.heads, self.dim // module.heads
        scale = self.graph.constant(width**-0.5, np.float32)
        outs = []
        for group in range(len(ROWS)):
            qkv = self.cells(table, group)  # [B, L, 3D]
            parts = self.graph.ops("Split", 3, qkv, axis=2, num_outputs=3)
            q, k, v = (self.graph.reshape(part, 0, 0, heads, width) for part in parts)
            q = self.graph.op("Transpose", self.graph.op("Mul", q, scale), perm=[0, 2, 1, 3])
            k = self.graph.op("Transpose", k, perm=[0, 2, 3, 1])
            v = self.graph.op("Transpose", v, perm=[0, 2, 1, 3])
            scores = self.graph.op("MatMul", q, k)  # [B, H, L, L]
            weights = self.graph.op("Softmax", self.graph.op("Add", scores, self.penalty(group)), axis=-1)
            out = self.graph.op("Transpose", self.graph.op("MatMul", weights, v), perm=[0, 2, 1, 3])
            outs.append(self.graph.reshape(out, -1, self.dim))
        return self.linear(module.out, self.graph.concat(outs, 0))  # [C, D]

    def penalty(self, group: int) -> str:
        """Zero between cells of one edge, minus infinity elsewhere [B, 1, L, L]; the same in all layers."""
        name = f"penalty.{group}"
        if name not in self.masks:
            allowed = self.graph.op("Unsqueeze", self.same_edge(group), self.graph.constant([1]))
            none, infinite = (self.graph.constant(value, np.float32) for value in (0, -np.inf))
            self.masks[name] = self.graph.op("Where", allowed, none, infinite)
        return self.masks[name]

    def deep_set(self, module: DeepSetMessage, h: str, r: str) -> str:
        phi, slot = self.project(module.phi, h, r), self.project(module.slot, h, r)
        sums, slots = [], []
        for group in range(len(ROWS)):
            features = self.graph.op("Relu", self.cells(phi, group))
            together = self.graph.op("Cast", self.same_edge(group), to=1)
            sums.append(self.graph.reshape(self.graph.op("MatMul", together, features), -1, self.dim))
            slots.append(self.graph.reshape(self.cells(slot, group), -1, self.dim))
        of_edges = self.rows(self.graph.concat(sums, 0), self.graph.input("own_cell"))  # [E, D]
        widen, _, narrow = module.rho
        q = self.linear(narrow, self.graph.op("Relu", self.linear(widen, of_edges)))
        q = self.graph.concat([self.linear(module.summary, q), self.zero], 0)  # the last row is for padding
        spread = self.rows(q, self.graph.input("edge_of_cell"))
        return self.graph.op("Relu", self.graph.op("Add", self.graph.concat(slots, 0), spread))

    def aggregate(self, module: nn.Module, m: str, nodes: str) -> str:
        """Messages in cells [C, D] -> updates of nodes [N, D]."""
        if isinstance(module, CrossAttentionAggregate):
            query, key_value = self.linear(module.query, nodes), self.linear(module.key_value, m)
            return self.pool(NODES, partial(self.cross, module, query), key_value)
        reduce = {
            MaxAggregate: self.largest,
            SumAggregate: partial(self.total, NODES),
            MeanAggregate: partial(self.mean, NODES),
        }
        return self.pool(NODES, reduce[type(module)], m)

    def cross(self, module: CrossAttentionAggregate, query: str, step: int, entries: str) -> str:
        """The attention of nodes to their messages: keys and values [S, X, 2D] -> [S, D]."""
        heads, width = module.heads, self.dim // module.heads
        parts = self.graph.ops("Split", 2, entries, axis=2, num_outputs=2)
        key, value = (self.graph.reshape(part, 0, 0, heads, width) for part in parts)
        own = self.rows(query, self.graph.input(NODES.owner(step)))
        own = self.graph.reshape(own, 0, 1, heads, width)
        products = self.graph.op("Mul", own, key)
        scores = self.graph.op("ReduceSum", products, self.graph.constant([3]), keepdims=1)  # [S, X, H, 1]
        scores = self.graph.op("Mul", scores, self.graph.constant(width**-0.5, np.float32))
        real = self.graph.op("Log", self.graph.input(NODES.real(step)))  # zero, or minus infinity for padding
        real = self.graph.op("Unsqueeze", real, self.graph.constant([2, 3]))
        weights = self.graph.op("Softmax", self.graph.op("Add", scores, real), axis=1)
        attended = self.graph.op(
            "ReduceSum", self.graph.op("Mul", weights, value), self.graph.constant([1]), keepdims=0
        )
        return self.linear(module.out, self.graph.reshape(attended, -1, self.dim))

    def update(self, module: Update, h: str, u: str) -> str:
        q = self.norm(module.norm, self.graph.op("Add", h, u))
        second = module.feed_forward
        if not isinstance(second, FeedForward):
            return q
        hidden = self.graph.op("Relu", self.linear(second.widen, q))
        return self.norm(second.norm, self.graph.op("Add", q, self.linear(second.narrow, hidden)))

    # The head

    def head(self, head: BugHead, nodes: str) -> dict[str, str]:
        get = self.graph.input
        h, variable, first, second = (
            self.rows(nodes, get(name)) for name in ("location", "variable", "first", "second")
        )
        at_text, at_variable, at_swap = (
            self.rows(h, get(f"{form}_location")) for form in ("text", "variable", "swap")
        )
        text = self.rows(self.weight(head.text, "weight"), get("text"))
        scored = (
            self.score(head.put_text, at_text, text),
            self.score(head.put_variable, at_variable, variable),
            self.score(head.swap, at_swap, first, second),
        )
        z = self.graph.concat([features for features, _ in scored], 0)  # [R, D]
        rewrites = self.graph.concat([score for _, score in scored], 0)  # [R, 1]
        z = self.pool(LOCATIONS, self.largest, z)  # [L, D]
        summary = self.linear(head.summary, self.graph.concat([h, z], 1))
        s = self.pool(SAMPLES, self.largest, summary)  # [G, D]
        _, pointed = self.score(head.location, h, z, self.rows(s, get("location_sample")))
        choices = self.graph.concat([pointed, self.linear(head.no_bug, s)], 0)  # [L + G, 1]
        last = self.graph.constant([1])
        return {
            "choices": self.graph.op("Squeeze", choices, last),
            "rewrites": self.graph.op("Squeeze", rewrites, last),
        }

    def score(self, module: HeadScorer, *inputs: str) -> tuple[str, str]:
        features = self.graph.op("Relu", self.linear(module.hidden, self.graph.concat(inputs, 1)))
        return features, self.linear(module.score, features)


_MESSAGES: dict[type, Any] = {
    AttentionMessage: _Translation.attention,
    DeepSetMessage: _Translation.deep_set,
}
