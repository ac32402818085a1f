"""Decoders: from a question and the encoded table to a vector z whose product with an entity is its score.

    MaskDecoder    a Transformer over relation, subject, object and values, each with its role; z is read at the blank
    StareDecoder   a Transformer over 14 positions, padded, averaged over all of them   (stare_decoder.py)

What only the blank will read is computed for the blank alone: the last layer's queries and feed-forward part. Everything
but attention runs on the tokens of all questions at once, without padding.
Letters: T tokens, B questions, G questions of a group, L their tokens, H heads, K width of a head, D width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.encoders import Table
from hyperheat.kg.neural.questions import Tokens
from hyperheat.nn.fast.dropout import Dropout

__all__ = ["DecoderLayer", "MaskDecoder", "MaskReader"]


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

    def forward(self, table: Table, tokens: Tokens[Tensor]) -> Tensor:
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

    def forward(self, x: Tensor, tokens: Tokens[Tensor], read: Tensor | None) -> Tensor:
        """Tokens [T, D] -> the next ones [T, D], or those of `read` [B, D]."""
        key_value = self.key_value(x)
        x = x if read is None else x[read]
        u = self.attended(self._attend(self.query(x), key_value, tokens))
        q = self.attention_norm(x + self.dropout(u))
        return self.norm(q + self.dropout(self.narrow(self.dropout(F.relu_(self.widen(q))))))

    def _attend(self, query: Tensor, key_value: Tensor, tokens: Tokens[Tensor]) -> Tensor:
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
