"""StarE as published (Galkin et al. 2020): its graph network, with the sums reordered, and its decoder.

With rotate(x, r) the product of complex numbers whose halves are real and imaginary parts, for statement j in direction dir:

    g_j   = a r_j + (1 - a) W_q sum_k rotate(x_k, r_k)           over its qualifiers k
    x_v'  = tanh(BN((W_in sum_j w_j rotate(x_o, g_j) + W_out sum_j w_j rotate(x_s, g'_j) + W_loop rotate(x_v, r_loop)) / 3))
    r'    = W_rel r

where w_j = deg(receiver)^-1/2 deg(sender)^-1/2 counts, as in the published code, only the receivers of a direction: a sender
that never receives in it has degree 0, and its messages vanish; here they are not computed. The published code multiplies by
W_in and W_out per message; here they follow the sum, which is the same.

The decoder is `mean over 14 positions of Transformer([x_given, r, r_1, x_1, ..., r_6, x_6] + positions)`. Questions have at
most six qualifiers, further ones are cut off; shorter questions are padded, and the padding, which attends to the tokens but
is not attended to, is averaged like them. Only subject or object may be blank.
Letters: N entities, R relations, M statements, K qualifiers, J messages, B questions, D width.
"""

import math
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from hyperheat.kg.neural.decoder import QuestionTokens
from hyperheat.kg.neural.graph_encoders import Table
from hyperheat.kg.statements import Statements
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_sum, spread
from hyperheat.tensors import Segments, segments
from hyperheat.tensors.indices import ArrayT

__all__ = [
    "PairGraph",
    "StareConfig",
    "StareDecoder",
    "StareGraph",
    "StareLayer",
    "StareReader",
    "pair_graph",
    "rotate",
]

_QUALIFIERS = 6
_POSITIONS = 2 + 2 * _QUALIFIERS


@dataclass(frozen=True, kw_only=True)
class StareConfig:
    """The published sizes."""

    dim: int = 200
    layers: int = 2
    dropout: float = 0.1
    """of the sums of messages"""
    layer_dropout: float = 0.3
    """between layers"""
    relation_weight: float = 0.8
    """a: how much of the relation there is beside the qualifiers"""

    def __post_init__(self) -> None:
        if self.dim % 2 or self.dim < 2 or self.layers < 1:
            raise ValueError(
                f"expected an even dim and a layer or more, got dim={self.dim}, layers={self.layers}"
            )


@dataclass(frozen=True, kw_only=True)
class StareMessages(Generic[ArrayT]):
    """What StarE's GNN sends in one direction; messages of weight 0 are left out."""

    statement: Segments[ArrayT]
    """Messages [J] to statements [M]"""
    relation: Segments[ArrayT]
    """Messages [J] to relations [R]"""
    sender: Segments[ArrayT]
    """Messages [J] to entities [N]"""
    receiver: Segments[ArrayT]
    weight: ArrayT
    """[J]"""


@dataclass(frozen=True, kw_only=True)
class PairGraph(Generic[ArrayT]):
    """What StarE's GNN reads of the statements that send anything."""

    inwards: StareMessages[ArrayT]
    """from objects to subjects"""
    outwards: StareMessages[ArrayT]
    owner: Segments[ArrayT]
    """Qualifiers [K] to statements [M]"""
    value: Segments[ArrayT]
    """Qualifiers [K] to entities [N]"""
    qualifier: Segments[ArrayT]
    """Qualifiers [K] to relations [R]"""


class StareGraph(nn.Module):
    """StarE's encoder."""

    def __init__(self, config: StareConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(StareLayer(config) for _ in range(config.layers))
        self.dropout = Dropout(config.layer_dropout)

    def plan(self, statements: Statements) -> "PairGraph[np.ndarray]":
        """What the network reads of statements."""
        return pair_graph(statements)

    def initialise(self, entities: Tensor, relations: Tensor) -> None:
        """Draw first vectors: relations are rotations by random angles, and backwards by the opposite ones."""
        nn.init.xavier_normal_(entities)
        with torch.no_grad():
            angles = torch.rand(len(relations) // 2, relations.shape[1] // 2) * (2 * math.pi)
            relations.copy_(torch.cat([_phases(angles), _phases(-angles)]))

    def forward(self, first: Table, graph: PairGraph[Tensor]) -> Table:
        x, r = first
        for index, layer in enumerate(self.layers):
            x, r = layer(self.dropout(x) if index else x, r, graph)
        return Table(x, r)


class StareLayer(nn.Module):
    """One round of messages in both directions."""

    def __init__(self, config: StareConfig) -> None:
        super().__init__()
        dim = config.dim
        self.weight = config.relation_weight
        self.qualifier, self.inwards, self.outwards, self.loop, self.relation = (
            nn.Linear(dim, dim, bias=False) for _ in range(5)
        )
        for linear in (self.qualifier, self.inwards, self.outwards, self.loop, self.relation):
            nn.init.xavier_normal_(linear.weight)
        self.loop_relation = nn.Parameter(nn.init.xavier_normal_(torch.empty(1, dim)))
        self.norm = nn.BatchNorm1d(dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, r: Tensor, graph: PairGraph[Tensor]) -> tuple[Tensor, Tensor]:
        """Entities [N, D] and relations [2R, D] -> the next ones."""
        forwards, backwards = r.chunk(2)
        pairs = rotate(spread(x, graph.value), spread(forwards, graph.qualifier))  # [K, D]
        q = self.qualifier(segment_sum(pairs, graph.owner))  # [M, D]
        inwards = self._messages(x, forwards, q, graph.inwards)
        outwards = self._messages(x, backwards, q, graph.outwards)
        loop = self.loop(rotate(x, self.loop_relation))
        summed = self.dropout(self.inwards(inwards)) + self.dropout(self.outwards(outwards)) + loop
        return torch.tanh(self.norm(summed / 3)), self.relation(r)

    def _messages(self, x: Tensor, r: Tensor, q: Tensor, messages: StareMessages[Tensor]) -> Tensor:
        """For every entity the weighted sum of what it receives in one direction [N, D]."""
        g = self.weight * spread(r, messages.relation) + (1 - self.weight) * spread(q, messages.statement)
        sent = rotate(spread(x, messages.sender), g) * messages.weight.to(x.dtype)[:, None]  # [J, D]
        return segment_sum(sent, messages.receiver)


def _phases(angles: Tensor) -> Tensor:
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def rotate(x: Tensor, r: Tensor) -> Tensor:
    """The complex product of vectors whose halves are real and imaginary parts."""
    return _Rotate.apply(x, r.expand_as(x))


class _Rotate(torch.autograd.Function):
    """Written into one tensor each way: chunks, products and a concatenation would take many."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, r: Tensor) -> Tensor:
        ctx.save_for_backward(x, r)
        return _product(x, r, 1.0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, r = ctx.saved_tensors
        return _product(grad, r, -1.0), _product(grad, x, -1.0)


def _product(x: Tensor, r: Tensor, sign: float) -> Tensor:
    """The product of x and r (sign 1), or of x and the conjugate of r (sign -1)."""
    (a, b), (c, d) = x.chunk(2, dim=-1), r.chunk(2, dim=-1)
    product = torch.empty_like(x, memory_format=torch.contiguous_format)
    real, imaginary = product.chunk(2, dim=-1)
    torch.mul(a, c, out=real).addcmul_(b, d, value=-sign)
    torch.mul(b, c, out=imaginary).addcmul_(a, d, value=sign)
    return product


def pair_graph(statements: Statements) -> PairGraph[np.ndarray]:
    """Plan the sums of StarE's messages."""
    num_entities, num_relations = len(statements.entities), len(statements.relations)
    ends = statements.subject, statements.object
    degrees = [np.bincount(end, minlength=num_entities) for end in ends]
    # A sender that never receives in a direction has degree 0 there, and the published code sends nothing then.
    sends = degrees[0][statements.object] > 0, degrees[1][statements.subject] > 0
    kept = statements[sends[0] | sends[1]]
    sends = [sent[sends[0] | sends[1]] for sent in sends]
    owner = np.repeat(np.arange(len(kept)), kept.num_qualifiers)

    def plan(column: np.ndarray, limit: int) -> Segments[np.ndarray]:
        return segments(column.astype(np.int64), limit)

    def messages(
        sent: np.ndarray, degree: np.ndarray, sender: np.ndarray, receiver: np.ndarray
    ) -> StareMessages[np.ndarray]:
        sender, receiver = sender[sent], receiver[sent]
        return StareMessages(
            statement=plan(np.flatnonzero(sent), len(kept)),
            relation=plan(kept.relation[sent], num_relations),
            sender=plan(sender, num_entities),
            receiver=plan(receiver, num_entities),
            weight=(degree[sender] * degree[receiver]) ** -0.5,
        )

    return PairGraph(
        inwards=messages(sends[0], degrees[0], kept.object, kept.subject),
        outwards=messages(sends[1], degrees[1], kept.subject, kept.object),
        owner=plan(owner, len(kept)),
        value=plan(kept.value, num_entities),
        qualifier=plan(kept.qualifier, num_relations),
    )


@dataclass(frozen=True, kw_only=True)
class StareDecoder:
    """The published sizes."""

    layers: int = 2
    heads: int = 4
    ff: int = 512
    dropout: float = 0.1


class StareReader(nn.Module):
    """The published decoder."""

    def __init__(self, config: StareDecoder, dim: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, config.heads, config.ff, config.dropout, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        self.padding = nn.Parameter(torch.zeros(1, dim))
        self.position = nn.Parameter(nn.init.xavier_normal_(torch.empty(_POSITIONS, dim)))
        self.out = nn.Linear(dim, dim)

    def forward(self, table: Table, tokens: QuestionTokens[Tensor]) -> Tensor:
        """The vector of each question [B, D]."""
        rows = torch.cat([*table, self.padding])
        entry = _positions(tokens, len(table.entities), len(rows) - 1)  # [B, 14]
        padded = entry == len(rows) - 1
        return self.out(
            self.layers(F.embedding(entry, rows) + self.position, src_key_padding_mask=padded).mean(1)
        )


def _positions(tokens: QuestionTokens[Tensor], num_entities: int, padding: int) -> Tensor:
    """The rows of the table at the 14 positions of each question."""
    sizes = [questions * length for questions, length in tokens.groups]
    groups = []
    for entry, role, shape in zip(
        tokens.entry.split(sizes), tokens.role.split(sizes), tokens.groups, strict=True
    ):
        entry, role = entry.view(shape), role.view(shape)
        relation, subject, object_ = entry[:, :3].unbind(1)
        given = torch.where(subject == padding, object_, subject)  # the blank has the row that padding has
        pairs = torch.stack([num_entities + role[:, 3:] - 3, entry[:, 3:]], dim=2)[:, :_QUALIFIERS]
        line = torch.cat([given[:, None], relation[:, None], pairs.flatten(1)], dim=1)
        groups.append(F.pad(line, (0, _POSITIONS - line.shape[1]), value=padding))
    return torch.cat(groups)
