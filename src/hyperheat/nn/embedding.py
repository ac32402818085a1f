"""The first states: node labels, relation names and qualifiers as vectors.

    h_n^(0) = max over the subtokens of n's label            h_e^(0) = sum over the subtokens of e's relation
    r_tau   = sum over the subtokens of tau, or, for the position p of a sequence,
              [sin(p w_1), ..., sin(p w_{D/2}), cos(p w_1), ..., cos(p w_{D/2})] with w_i = 10000^(-2(i-1)/D)

and per layer `r_tau^(t) = W_t r_tau + b_t`. Letters: N nodes, E edges, Q qualifiers, D width.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_max, segment_sum
from hyperheat.tensors import HypergraphBatch, NodeBatch, Vocabulary

if TYPE_CHECKING:
    from hyperheat.nn.config import HeatConfig

__all__ = ["HypergraphEmbedding", "NoQualifiers", "QualifierProjection", "pool_labels", "sinusoids"]


class HypergraphEmbedding(nn.Module):
    """First states of all nodes and edges, and a vector for each distinct qualifier of the batch."""

    def __init__(self, dim: int, vocab: Vocabulary, dropout: float) -> None:
        super().__init__()
        self.label = nn.Embedding(len(vocab.labels), dim)
        self.name = nn.Embedding(len(vocab.names), dim)
        self.dropout = Dropout(dropout)

    def forward(self, batch: HypergraphBatch[Tensor]) -> tuple[Tensor, Tensor]:
        """A batch -> states [N+E, D] and qualifiers [Q, D]."""
        names = segment_sum(self.name(batch.names.tokens), batch.names.owner)
        h = torch.cat([pool_labels(self.label, batch), F.embedding(batch.relation, names)])
        r = torch.cat([names, sinusoids(batch.positions, names)])
        return self.dropout(h), self.dropout(r)


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


@dataclass(frozen=True)
class QualifierProjection:
    """Qualifiers pass a linear map per layer and are added to the node states (the paper's model)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return nn.Linear(config.dim, config.dim)


@dataclass(frozen=True)
class NoQualifiers:
    """Qualifiers are left out (the paper's ablation without qualifier embeddings)."""

    def build(self, config: "HeatConfig") -> nn.Module:
        return Zeros()


class Zeros(nn.Module):
    def forward(self, r: Tensor) -> Tensor:
        """Zero for every qualifier [Q, D]."""
        return torch.zeros_like(r)
