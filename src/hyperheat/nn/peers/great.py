"""GREAT, the relational Transformer (Hellendoorn et al., ICLR 2020) as PyBugLab has it, a peer of HEAT.

It reads the tokens of a function as a sequence. A pair of tokens adds to their attention score, along the pair and
against it, with a vector b per kind of pair, direction and head:

    h^(0)  = LN(label + position)
    a_ij   = q_i . (k_j + sum of b_k over the kinds k of the pairs from i to j) / sqrt(K)
    h'     = LN(x + FFN(x)),  x = LN(h + W_o softmax_j(a_ij) v_j)

Positions are learned, one for each of `max_tokens`. Longer functions cannot be read; `GreatConfig.fits` checks that.
What differs from the published code: labels are read as HEAT reads them, and, as in HEAT, attention weights have
no dropout. `_Attention` keeps no scores for the gradient but computes them again, chunk by chunk.
Letters: N tokens, C cells of the padded rows (those of a group are B rows of L), S scores that pairs add to, H heads,
R relations, D width, K = D / H.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from hyperheat.hypergraph import Hypergraph
from hyperheat.nn.embedding import pool_labels
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_sum, spread
from hyperheat.nn.heat import States, check_batch
from hyperheat.nn.peers.relations import RelationConfig, check_relations
from hyperheat.nn.update import FeedForward
from hyperheat.tensors import TokenBatch, Vocabulary

__all__ = ["GreatConfig", "GreatEncoder", "GreatLayer"]

_CHUNK = 1 << 19  # attention scores computed at a time


@dataclass(frozen=True, kw_only=True)
class GreatConfig(RelationConfig):
    """Sizes and relations; the defaults are the published model, but for the number of tokens."""

    layers: int = 5
    heads: int = 8
    ff: int = 1024
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim % self.heads:
            raise ValueError(f"dim: expected a multiple of heads={self.heads}, got {self.dim}")

    @property
    def hidden(self) -> int:
        """Hidden width of the feed-forward part."""
        return self.ff

    def fits(self, graph: Hypergraph) -> bool:
        """Whether the encoder can read a graph of tokens."""
        return graph.num_nodes <= self.max_tokens


class GreatLayer(nn.Module):
    """Attention with relations, then the feed-forward part."""

    def __init__(self, config: GreatConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.dim, 3 * config.dim)
        self.bias = nn.Parameter(  # first the kinds along the pairs, then those against
            torch.randn(2 * len(config.relations), config.heads, config.dim // config.heads)
        )
        self.out = nn.Linear(config.dim, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)
        self.feed_forward = FeedForward(config)

    def forward(self, h: Tensor, batch: TokenBatch[Tensor]) -> Tensor:
        """States [N, D] -> states [N, D]."""
        qkv = self.qkv(h)
        attended = _Attention.apply(qkv, self._raise_scores(qkv, batch), batch, self.heads)
        return self.feed_forward(self.norm(h + self.dropout(self.out(attended))))

    def _raise_scores(self, qkv: Tensor, batch: TokenBatch[Tensor]) -> Tensor:
        """What the pairs add to their scores [S, H], from the queries of their tokens."""
        query = qkv[:, : qkv.shape[1] // 3].unflatten(1, (self.heads, -1))  # [N, H, K]
        by_kind = torch.einsum("nhk,rhk->nrh", query, self.bias) * query.shape[-1] ** -0.5  # [N, 2R, H]
        return segment_sum(spread(by_kind.flatten(0, 1), batch.bias.terms), batch.bias.scores)


class GreatEncoder(nn.Module):
    """A batch of sequences of tokens in, states of the tokens out; there are no states of edges."""

    def __init__(self, config: GreatConfig, vocab: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocab = config, vocab
        self.label = nn.Embedding(len(vocab.labels), config.dim)
        self.position = nn.Embedding(config.max_tokens, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(GreatLayer(config) for _ in range(config.layers))

    def forward(self, batch: TokenBatch[Tensor]) -> States:
        check_batch(batch, self.vocab)
        check_relations(batch, self.config.relations)
        longest = max(group.width for group in batch.groups)
        if longest > self.config.max_tokens:
            raise ValueError(
                f"batch: expected graphs of at most {self.config.max_tokens} tokens (max_tokens), "
                f"got one of {longest}; leave out those that `config.fits` refuses"
            )
        h = self.dropout(self.norm(pool_labels(self.label, batch) + self.position(batch.position)))
        for layer in self.layers:
            h = layer(h, batch)
        return States(h, h.new_zeros(0, self.config.dim))


class _Chunk(NamedTuple):
    """Some rows of a group and some heads: cells, scores that pairs add to, heads, first row, and width of the rows."""

    cells: slice
    scores: slice
    heads: slice
    row: int
    width: int


class _Attention(torch.autograd.Function):
    """softmax(q k^T / sqrt(K) + what pairs add) v inside each row, queries, keys and values [N, 3D] -> [N, D]."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, raised: Tensor, batch: TokenBatch[Tensor], heads: int) -> Tensor:
        cells = qkv.index_select(0, batch.node).unflatten(1, (3, heads, -1))  # [C, 3, H, K]
        out = cells[:, 0].new_empty(cells[:, 0].shape)  # [C, H, K]
        for chunk in _chunks(batch, heads):
            q, k, v = _rows(cells, chunk)
            weights = _weights(q, k, raised, batch, chunk)
            out[chunk.cells, chunk.heads] = (weights @ v).transpose(1, 2).flatten(0, 1)
        out = out.flatten(1).index_select(0, batch.cell)
        ctx.save_for_backward(qkv, raised, out)
        ctx.batch, ctx.heads = batch, heads
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        qkv, raised, out = ctx.saved_tensors
        batch, heads = ctx.batch, ctx.heads
        cells = qkv.index_select(0, batch.node).unflatten(1, (3, heads, -1))
        outs = torch.stack([grad_out, out], dim=1).index_select(0, batch.node).unflatten(2, (heads, -1))
        outs[batch.padding, 0] = 0  # [C, 2, H, K]; what padding attends to is not used
        grad, grad_raised = torch.empty_like(cells), torch.empty_like(raised)
        for chunk in _chunks(batch, heads):
            q, k, v = _rows(cells, chunk)
            g, o = _rows(outs, chunk)
            weights = _weights(q, k, raised, batch, chunk)
            grad_scores = (g @ v.transpose(2, 3)).sub_((g * o).sum(-1, keepdim=True)).mul_(weights)
            row, place = _scores_of_pairs(batch, chunk)
            grad_raised[chunk.scores, chunk.heads] = grad_scores.flatten(2)[row, :, place].to(raised.dtype)
            grad_scores *= q.shape[-1] ** -0.5
            grads = grad_scores @ k, grad_scores.transpose(2, 3) @ q, weights.transpose(2, 3) @ g
            for index, value in enumerate(grads):
                grad[chunk.cells, index, chunk.heads] = value.transpose(1, 2).flatten(0, 1)
        return grad.flatten(1).index_select(0, batch.cell), grad_raised, None, None


def _chunks(batch: TokenBatch[Tensor], heads: int) -> Iterator[_Chunk]:
    """All rows and heads, as many at a time as make `_CHUNK` scores, but at least one row and head."""
    first_row = first_cell = 0
    for group in batch.groups:
        area = max(group.width**2, 1)
        step = max(1, _CHUNK // (area * heads))
        head_step = min(heads, max(1, _CHUNK // area))
        for start in range(0, group.rows if group.width else 0, step):
            stop = min(start + step, group.rows)
            cells = slice(first_cell + start * group.width, first_cell + stop * group.width)
            scores = slice(batch.bias.offsets[first_row + start], batch.bias.offsets[first_row + stop])
            for head in range(0, heads, head_step):
                yield _Chunk(cells, scores, slice(head, head + head_step), start, group.width)
        first_row += group.rows
        first_cell += group.rows * group.width


def _rows(cells: Tensor, chunk: _Chunk) -> tuple[Tensor, ...]:
    """Each of the x quantities of a chunk's cells [C, x, H, K], seen as [B, h, L, K]."""
    rows = cells[chunk.cells, :, chunk.heads].unflatten(0, (-1, chunk.width))
    return rows.permute(2, 0, 3, 1, 4).unbind()


def _weights(q: Tensor, k: Tensor, raised: Tensor, batch: TokenBatch[Tensor], chunk: _Chunk) -> Tensor:
    """The attention weights of a chunk [B, h, L, L]."""
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(2, 3)
    row, place = _scores_of_pairs(batch, chunk)
    scores.flatten(2)[row, :, place] += raised[chunk.scores, chunk.heads].to(scores.dtype)
    padding = batch.padding[chunk.cells].view(len(scores), 1, 1, -1)
    return scores.masked_fill_(padding, float("-inf")).softmax(-1)


def _scores_of_pairs(batch: TokenBatch[Tensor], chunk: _Chunk) -> tuple[Tensor, Tensor]:
    """Row within the chunk and place within the row of the scores that pairs add to."""
    return batch.bias.row[chunk.scores] - chunk.row, batch.bias.place[chunk.scores]
