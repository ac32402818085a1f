"""The decoder: from questions and the encoded table to vectors z, whose product with an entity is its score.

A question is read as the tokens `relation, subject, object, value, ...`. Each is a row of the table

    entities [N], relations [R], relations asked backwards [R], and one more row that stands for the blank

beside a role: 0 the relation, 1 the subject, 2 the object, 3 + r the qualifier r. Any of them may be the blank. So
qualifiers are a set, and a value keeps its qualifier. Questions with equally many qualifiers stand together, without
padding.

The decoder is a Transformer over these tokens; z is read at the blank. What only the blank will read is computed for the
blank alone: the last layer's queries and feed-forward part. Everything but attention runs on the tokens of all questions at
once. StarE's decoder reads the same tokens (stare.py).
Letters: T tokens, B questions, G questions of a group, L their tokens, H heads, K width of a head, D width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.graph_encoders import Table
from hyperheat.kg.questions import SUBJECT, Questions
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.tensors.indices import ArrayT

__all__ = ["DecoderLayer", "MaskDecoder", "MaskReader", "QuestionTokens", "tokenise"]

_RELATION_ROLE, _SUBJECT_ROLE, _OBJECT_ROLE, _FIRST_QUALIFIER_ROLE = range(4)


@dataclass(frozen=True, kw_only=True)
class QuestionTokens(Generic[ArrayT]):
    """What a network reads: tokens of questions in groups of equal length, one after the other."""

    groups: tuple[tuple[int, int], ...]
    """(questions, tokens per question) of each group"""
    entry: ArrayT
    """[T] the row of the table"""
    role: ArrayT
    """[T]"""
    blank: ArrayT
    """[B] the place of each question's blank among the tokens"""


def tokenise(questions: Questions) -> tuple[QuestionTokens[np.ndarray], np.ndarray]:
    """The tokens of questions, and the order in which the questions then stand."""
    statements, blank = questions.statements, questions.blank
    num_entities, num_relations = len(statements.entities), len(statements.relations)
    sizes = statements.num_qualifiers
    groups, entries, roles, orders = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        places = statements.offsets[rows][:, None] + np.arange(size)
        entry = np.empty((len(rows), 3 + size), np.int64)
        role = np.empty_like(entry)
        backwards = blank[rows] == SUBJECT
        entry[:, 0] = num_entities + statements.relation[rows] + num_relations * backwards
        entry[:, 1], entry[:, 2] = statements.subject[rows], statements.object[rows]
        entry[:, 3:] = statements.value[places]
        entry[np.arange(len(rows)), 1 + blank[rows]] = num_entities + 2 * num_relations
        role[:, :3] = _RELATION_ROLE, _SUBJECT_ROLE, _OBJECT_ROLE
        role[:, 3:] = _FIRST_QUALIFIER_ROLE + statements.qualifier[places]
        groups.append(entry.shape)
        entries.append(entry.ravel())
        roles.append(role.ravel())
        orders.append(rows)
    order = np.concatenate(orders) if orders else np.zeros(0, np.int64)
    tokens = QuestionTokens(
        groups=tuple(groups),
        entry=np.concatenate(entries),
        role=np.concatenate(roles),
        blank=_first_tokens(groups) + 1 + blank[order],
    )
    return tokens, order


def _first_tokens(groups: Sequence[tuple[int, int]]) -> np.ndarray:
    """The place of each question's first token."""
    widths = np.concatenate([np.zeros(0, np.int64), *(np.full(rows, width) for rows, width in groups)])
    return np.cumsum(widths) - widths


@dataclass(frozen=True, kw_only=True)
class MaskDecoder:
    """A blank that is a token like others, qualifiers without order, no padding."""

    layers: int = 2
    heads: int = 4
    ff: int = 512
    dropout: float = 0.1


class MaskReader(nn.Module):
    """The improved decoder; any slot may be blank."""

    def __init__(self, config: MaskDecoder, dim: int) -> None:
        super().__init__()
        self.blank = nn.Parameter(torch.randn(1, dim))
        self.role = nn.Parameter(torch.randn(3, dim))
        self.qualifier = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(DecoderLayer(config, dim) for _ in range(config.layers))
        self.out = nn.Linear(dim, dim)

    def forward(self, table: Table, tokens: QuestionTokens[Tensor]) -> Tensor:
        """The vector of each question [B, D]."""
        names = table.relations[: len(table.relations) // 2]
        entries = F.embedding(tokens.entry, torch.cat([*table, self.blank]))  # [T, D]
        roles = F.embedding(tokens.role, torch.cat([self.role, self.qualifier(names)]))
        x = self.dropout(self.norm(entries + roles))
        for layer in self.layers[:-1]:
            x = layer(x, tokens, None)
        z = self.layers[-1](x, tokens, tokens.blank)
        return self.out(z) * z.shape[1] ** -0.5


class DecoderLayer(nn.Module):
    """A post-norm Transformer layer; with `read` only these tokens are computed."""

    def __init__(self, config: MaskDecoder, dim: int) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(dim, dim)
        self.key_value = nn.Linear(dim, 2 * dim)
        self.attended = nn.Linear(dim, dim)
        self.widen, self.narrow = nn.Linear(dim, config.ff), nn.Linear(config.ff, dim)
        self.attention_norm, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, tokens: QuestionTokens[Tensor], read: Tensor | None) -> Tensor:
        """Tokens [T, D] -> the next ones [T, D], or those of `read` [B, D]."""
        key_value = self.key_value(x)
        x = x if read is None else x[read]
        u = self.attended(self._attend(self.query(x), key_value, tokens))
        q = self.attention_norm(x + self.dropout(u))
        return self.norm(q + self.dropout(self.narrow(self.dropout(F.relu_(self.widen(q))))))

    def _attend(self, query: Tensor, key_value: Tensor, tokens: QuestionTokens[Tensor]) -> Tensor:
        """Attention of each question to its own tokens, per group of equal length."""
        sizes = [questions * length for questions, length in tokens.groups]
        asking = sizes if len(query) == len(key_value) else [questions for questions, _ in tokens.groups]
        outs = []
        for q, kv, (questions, _) in zip(
            query.split(asking), key_value.split(sizes), tokens.groups, strict=True
        ):
            q = q.view(questions, -1, self.heads, q.shape[1] // self.heads).transpose(1, 2)  # [G, H, L, K]
            k, v = kv.view(questions, -1, 2, *q.shape[1::2]).permute(2, 0, 3, 1, 4)
            out = F.scaled_dot_product_attention(q, k, v)
            outs.append(out.transpose(1, 2).reshape(-1, query.shape[1]))
        return torch.cat(outs)
