"""The first states: node labels, relation names and qualifiers as vectors.

    h_n^(0) = max over the subtokens of n's label            h_e^(0) = sum over the subtokens of e's relation
    r_tau   = sum over the subtokens of tau, or, for the position p of a sequence,
              [sin(p w_1), ..., sin(p w_{D/2}), cos(p w_1), ..., cos(p w_{D/2})] with w_i = 10000^(-2(i-1)/D)

and per layer `r_tau^(t) = W_t r_tau + b_t`. Letters: N nodes, E edges, Q qualifiers, D width.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_max, segment_sum
from hyperheat.tensors import EdgeBatch, NodeBatch, Vocabulary

if TYPE_CHECKING:
    from hyperheat.nn.config import HeatConfig

__all__ = [
    "HypergraphEmbedding",
    "NoQualifiers",
    "QualifierProjection",
    "TypeEmbedding",
    "pool_labels",
    "sinusoids",
]


class HypergraphEmbedding(nn.Module):
    """First states of all nodes and edges, and a vector for each distinct qualifier of the batch."""

    def __init__(self, dim: int, vocab: Vocabulary, dropout: float) -> None:
        super().__init__()
        self.label = nn.Embedding(len(vocab.labels), dim)
        self.name = nn.Embedding(len(vocab.names), dim)
        self.dropout = Dropout(dropout)

    def forward(self, batch: EdgeBatch[Tensor]) -> tuple[Tensor, Tensor]:
        """A batch -> states [N+E, D] and qualifiers [Q, D]."""
        names = segment_sum(self.name(batch.names.tokens), batch.names.owner)
        h = torch.cat([pool_labels(self.label, batch), F.embedding(batch.relation, names)])
        r = torch.cat([names, sinusoids(batch.positions, names)])
        return self.dropout(h), self.dropout(r)


class TypeEmbedding(nn.Module):
    """First states where there are no names: features of nodes, and a vector for each type of edge and incidence."""

    def __init__(
        self, config: "HeatConfig", *, relations: int, qualifiers: int, features: int | None
    ) -> None:
        super().__init__()
        for name, count in (("relations", relations), ("qualifiers", qualifiers), ("features", features)):
            if count is not None and (type(count) is not int or count < 1):
                raise ValueError(f"{name}: expected an int of at least 1, got {count!r}")
        self.features = config.dim if features is None else features
        self.feature = nn.Identity() if features is None else nn.Linear(features, config.dim)
        self.relation = nn.Embedding(relations, config.dim)
        self.qualifier = nn.Embedding(qualifiers, config.dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
        """Features [N, F] and types of edges [E] -> states [N+E, D] and qualifiers [Q, D]."""
        if x.ndim != 2 or x.shape[1] != self.features:
            raise ValueError(f"x: expected shape [nodes, {self.features}], got {list(x.shape)}")
        h = torch.cat([self.feature(x), self.relation(relation)])
        return self.dropout(h), self.dropout(self.qualifier.weight)


def pool_labels(embedding: nn.Embedding, batch: NodeBatch[Tensor]) -> Tensor:
    """The maximum over the subtokens of each node's label [N, D], pooled once per distinct label."""
    return F.embedding(batch.label, segment_max(embedding(batch.labels.tokens), batch.labels.owner))


def sinusoids(positions: Tensor, like: Tensor) -> Tensor:
    """Fixed encodings of sequence positions, [P] -> [P, D] with the width and type of `like`."""
    dim = like.shape[1]
    exponents = torch.arange(0, dim, 2, dtype=torch.float64) / dim
    angles = positions.cpu()[:, None] * torch.exp(
        -math.log(10000.0) * exponents
    )  # not all devices have float64
    return torch.cat([angles.sin(), angles.cos()], dim=1).to(like)


class QualifierProjection(nn.Linear):
    """W_t r + b_t: a linear map of the qualifiers per layer (the paper's model)."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__(config.dim, config.dim)


class NoQualifiers(nn.Module):
    """Qualifiers are left out (the paper's ablation without qualifier embeddings)."""

    def __init__(self, config: "HeatConfig") -> None:
        super().__init__()

    def forward(self, r: Tensor) -> Tensor:
        """Zero for every qualifier [Q, D]."""
        return torch.zeros_like(r)
