"""Models of statements the naive way: the same function from the same weights, computed as published code does.

The naive path builds and projects every slot of every edge and packs edges as the paper does (HEAT), or multiplies every
message by a matrix (StarE); pads questions to one length and computes all of their tokens to the last layer; scores all
entities at once and hides those that do not compete.
Letters: N entities, M statements, I incidences, B questions, L padded tokens, D width, H heads.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.paper import PaperLayer, PaperPlan, paper_plan
from hyperheat.kg.neural.decoder import DecoderLayer, QuestionTokens
from hyperheat.kg.neural.graph_encoders import HeatGraph, Table
from hyperheat.kg.neural.stare import StareGraph, StareLayer
from hyperheat.kg.neural.statement_model import ModelConfig, StatementModel
from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.tensors import Vocabulary, collate

__all__ = ["NaiveModel"]


class NaiveModel(nn.Module):
    """A model with a MaskDecoder, computed the long way; statements are the whole graph."""

    def __init__(self, model: StatementModel, config: ModelConfig, statements: Statements) -> None:
        super().__init__()
        self.model = model
        self.encoder = _naive_encoder(model, config, statements)
        self.layers = nn.ModuleList(_transformer_layer(layer, config) for layer in model.decoder.layers)

    def scores(self, tokens: QuestionTokens[np.ndarray]) -> Tensor:
        """The scores of all entities for questions in the order of the tokens: [B, N]."""
        first = Table(self.model.entity, self.model.relation)
        table = self.model.pass_by(first, self.encoder(first))
        table = Table(self.model.dropout(table.entities), table.relations)
        decoder = self.model.decoder
        entry, role, blank = _padded(tokens, len(table.entities) + len(table.relations))
        names = table.relations[: len(table.relations) // 2]
        rows = torch.cat([*table, decoder.blank])
        roles = torch.cat([decoder.role, decoder.qualifier(names)])
        x = decoder.dropout(decoder.norm(rows[entry.clamp(min=0)] + roles[role]))  # [B, L, D]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=entry < 0)
        z = decoder.out(x[torch.arange(len(x)), blank]) * x.shape[-1] ** -0.5
        return z @ table.entities.T

    def loss(self, tokens: QuestionTokens[np.ndarray], targets: Tensor, candidates: Tensor) -> Tensor:
        """The softmax loss of targets [B, N], summed."""
        scores = self.scores(tokens).masked_fill(~candidates, -1e6)
        return F.cross_entropy(scores, targets, reduction="sum")


def _naive_encoder(
    model: StatementModel, config: ModelConfig, statements: Statements
) -> Callable[[Table], Table]:
    if isinstance(model.encoder, HeatGraph):
        assert isinstance(config.encoder, HeatConfig)
        return NaiveHeat(model.encoder, config.encoder, statements)
    if isinstance(model.encoder, StareGraph):
        return NaiveStare(model.encoder, statements)
    return lambda first: model.encoder(first, None)


class NaiveHeat(nn.Module):
    """HEAT by the paper's algorithm, every edge with a state of its own."""

    def __init__(self, encoder: HeatGraph, config: HeatConfig, statements: Statements) -> None:
        super().__init__()
        self.heat = encoder
        self.relation = torch.as_tensor(statements.relation.astype(np.int64))
        layers: list[Any] = list(encoder.layers)
        pairs = zip(layers, config.layer_configs(), strict=True)
        kind = NaiveCrossAttention if config.aggregate is CrossAttentionAggregate else PaperLayer
        self.layers = nn.ModuleList(kind(layer, part) for layer, part in pairs)
        self.plan = _paper_plan(statements, config.heads)

    def forward(self, first: Table) -> Table:
        entities, relations = self.heat.tables(first, None)
        names = relations[: len(relations) // 2]
        h = self.heat.dropout(torch.cat([entities, names[self.relation]]))
        r = self.heat.dropout(torch.cat([self.heat.role, names]))
        for layer in self.layers:
            h = layer(h, r, self.plan)
        return Table(h[: len(entities)], relations)


def _paper_plan(statements: Statements, heads: int) -> PaperPlan:
    graph = statements.to_hypergraph()
    batch = collate([graph], Vocabulary.build([graph]))
    _, _, name = statements.incidences()
    return replace(paper_plan(batch, masks_for=heads), qualifier=torch.as_tensor(name))


class NaiveCrossAttention(PaperLayer):
    """The same with cross-attention as aggregation, by scattered maxima and sums."""

    def __init__(self, layer: HeatLayer, config: HeatConfig) -> None:
        super().__init__(layer, config)
        self.cross: Any = layer.aggregate

    def aggregate(self, m: Tensor, h: Tensor, node: Tensor) -> Tensor:
        query = self.cross.query(h)[node].unflatten(1, (self.heads, -1))  # [I, H, D/H]
        key, value = self.cross.key_value(m).unflatten(1, (2, self.heads, -1)).unbind(1)
        scores = (query * key).sum(-1) * query.shape[-1] ** -0.5  # [I, H]
        index = node[:, None].expand_as(scores)
        empty = scores.new_zeros(len(h), self.heads)
        highest = empty.scatter_reduce(0, index, scores.detach(), "amax", include_self=False)
        weights = (scores - highest[node]).exp()
        weights = weights / empty.index_add(0, node, weights)[node]
        attended = torch.zeros_like(h).index_add(0, node, (weights[..., None] * value).flatten(1))
        has_message = torch.bincount(node, minlength=len(h))[:, None] > 0
        return self.cross.out(attended) * has_message


class NaiveStare(nn.Module):
    """StarE with a product of a matrix and a vector per message."""

    def __init__(self, encoder: StareGraph, statements: Statements) -> None:
        super().__init__()
        self.stare = encoder
        owner = np.repeat(np.arange(len(statements)), statements.num_qualifiers)
        columns = statements.subject, statements.relation, statements.object
        columns += owner, statements.qualifier, statements.value
        self.columns = [torch.as_tensor(column.astype(np.int64)) for column in columns]

    def forward(self, first: Table) -> Table:
        x, r = first
        layers: list[Any] = list(self.stare.layers)
        for index, layer in enumerate(layers):
            x, r = self._layer(layer, self.stare.dropout(x) if index else x, r)
        return Table(x, r)

    def _layer(self, layer: StareLayer, x: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        subject, relation, obj, owner, qualifier, value = self.columns
        pairs = rotate(x[value], r[qualifier])
        q = layer.qualifier(torch.zeros(len(subject), x.shape[1]).index_add(0, owner, pairs))
        backwards = relation + len(r) // 2
        total = layer.loop(rotate(x, layer.loop_relation))
        for linear, receiver, sender, kind in (
            (layer.inwards, subject, obj, relation),
            (layer.outwards, obj, subject, backwards),
        ):
            degree = torch.bincount(receiver, minlength=len(x)).to(x.dtype)
            scale = degree.pow(-0.5).masked_fill(degree == 0, 0)
            g = layer.weight * r[kind] + (1 - layer.weight) * q
            messages = linear(rotate(x[sender], g)) * (scale[receiver] * scale[sender])[:, None]
            total = total + layer.dropout(torch.zeros_like(x).index_add(0, receiver, messages))
        return torch.tanh(layer.norm(total / 3)), layer.relation(r)


def rotate(x: Tensor, r: Tensor) -> Tensor:
    """The complex product of vectors whose halves are real and imaginary parts."""
    (a, b), (c, d) = x.chunk(2, dim=-1), r.chunk(2, dim=-1)
    return torch.cat([a * c - b * d, a * d + b * c], dim=-1)


def _transformer_layer(layer: Any, config: ModelConfig) -> nn.TransformerEncoderLayer:
    """Torch's own layer with the weights of a decoder layer."""
    assert isinstance(layer, DecoderLayer)
    dim, sizes = config.encoder.dim, config.decoder
    built = nn.TransformerEncoderLayer(dim, sizes.heads, sizes.ff, sizes.dropout, batch_first=True)
    state = {
        "self_attn.in_proj_weight": torch.cat([layer.query.weight, layer.key_value.weight]),
        "self_attn.in_proj_bias": torch.cat([layer.query.bias, layer.key_value.bias]),
    }
    names = {
        "self_attn.out_proj": layer.attended,
        "linear1": layer.widen,
        "linear2": layer.narrow,
        "norm1": layer.attention_norm,
        "norm2": layer.norm,
    }
    for name, part in names.items():
        state |= {f"{name}.weight": part.weight, f"{name}.bias": part.bias}
    built.load_state_dict(state)
    return built


def _padded(tokens: QuestionTokens[np.ndarray], blank_row: int) -> tuple[Tensor, Tensor, Tensor]:
    """Entries (-1 is padding), roles [B, L] and the place of each blank [B]."""
    longest = max(length for _, length in tokens.groups)
    count = sum(questions for questions, _ in tokens.groups)
    entry, role = np.full((count, longest), -1), np.zeros((count, longest), np.int64)
    row = cell = 0
    for questions, length in tokens.groups:
        for padded, flat in ((entry, tokens.entry), (role, tokens.role)):
            group = flat[cell : cell + questions * length].reshape(questions, length)
            padded[row : row + questions, :length] = group
        row, cell = row + questions, cell + questions * length
    blank = (entry == blank_row).argmax(1)
    return torch.as_tensor(entry), torch.as_tensor(role), torch.as_tensor(blank)
