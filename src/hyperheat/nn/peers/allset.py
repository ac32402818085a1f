"""AllSet (Chien et al., ICLR 2022), a peer of HEAT for hypergraphs without types and qualifiers.

A layer pools the nodes of each edge, then the edges of each node, both with a learned function of a multiset:

    h_e = f({h_n : n in e});   h_n' = g({h_e : e contains n})

    DeepSetPool     f(X) = MLP(sum of MLP(x))
    AttentionPool   f(X) = LN(y + MLP(y)),  y = LN(s + MHA(s, X, X)) with a learned query s

It reads the same batches as HEAT and returns the same states, but ignores relations and qualifiers.
Letters: N nodes, E edges, I incidences, D width, H heads, K = D / H.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.embedding import pool_labels
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_softmax, segment_sum, spread
from hyperheat.nn.heat import States, check_batch
from hyperheat.tensors import HypergraphBatch, Segments, Vocabulary

__all__ = ["AllSetConfig", "AllSetEncoder", "AttentionPool", "DeepSetPool"]


def _mlp(config: "AllSetConfig") -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(config.dim, config.ff),
        nn.ReLU(),
        Dropout(config.dropout),
        nn.Linear(config.ff, config.dim),
    )


class DeepSetPool(nn.Module):
    """AllDeepSets."""

    def __init__(self, config: "AllSetConfig") -> None:
        super().__init__()
        self.before, self.after = _mlp(config), _mlp(config)
        self.norm = nn.LayerNorm(config.dim)

    def forward(self, x: Tensor, source: Segments[Tensor], target: Segments[Tensor]) -> Tensor:
        """States of the members [R, D] -> states of the sets [S, D]."""
        pooled = segment_sum(spread(self.before(x), source), target)
        return self.norm(self.after(pooled))


class AttentionPool(nn.Module):
    """AllSetTransformer."""

    def __init__(self, config: "AllSetConfig") -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Parameter(torch.randn(config.heads, config.dim // config.heads))
        self.key = nn.Linear(config.dim, config.dim)
        self.value = nn.Linear(config.dim, config.dim)
        self.mlp = _mlp(config)
        self.norm, self.norm_mlp = nn.LayerNorm(config.dim), nn.LayerNorm(config.dim)

    def forward(self, x: Tensor, source: Segments[Tensor], target: Segments[Tensor]) -> Tensor:
        """States of the members [R, D] -> states of the sets [S, D]."""
        keys = self.key(x).unflatten(1, (self.heads, -1))  # [R, H, K]
        scores = (keys * self.query).sum(-1) * keys.shape[
            -1
        ] ** -0.5  # [R, H]: the query is the same for all sets
        weights = segment_softmax(spread(scores, source), target)  # [I, H]
        values = spread(self.value(x), source).unflatten(1, (self.heads, -1))  # [I, H, K]
        attended = segment_sum((weights[..., None] * values).flatten(1), target)  # [S, D]
        y = self.norm(self.query.flatten() + attended)
        return self.norm_mlp(y + self.mlp(y))


@dataclass(frozen=True, kw_only=True)
class AllSetConfig:
    """Sizes, and how a set is pooled."""

    dim: int = 256
    layers: int = 6
    heads: int = 8
    ff: int = 1024
    dropout: float = 0.1
    pool: type[DeepSetPool] | type[AttentionPool] = AttentionPool

    def __post_init__(self) -> None:
        for name in ("dim", "layers", "heads", "ff"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name}: expected an int of at least 1, got {value!r}")
        if self.dim % self.heads:
            raise ValueError(f"dim: expected a multiple of heads={self.heads}, got {self.dim}")


class AllSetEncoder(nn.Module):
    """A batch of hypergraphs in, states of its nodes and edges out."""

    def __init__(self, config: AllSetConfig, vocab: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocab = config, vocab
        self.label = nn.Embedding(len(vocab.labels), config.dim)
        self.dropout = Dropout(config.dropout)
        self.to_edges = nn.ModuleList(config.pool(config) for _ in range(config.layers))
        self.to_nodes = nn.ModuleList(config.pool(config) for _ in range(config.layers))

    def forward(self, batch: HypergraphBatch[Tensor]) -> States:
        check_batch(batch, self.vocab)
        nodes = pool_labels(self.label, batch)
        edges = nodes.new_zeros(batch.num_edges, self.config.dim)
        in_edge = batch.by_node.offsets.diff()[:, None] > 0  # a node in no edge keeps its state
        for to_edges, to_nodes in zip(self.to_edges, self.to_nodes, strict=True):
            edges = F.relu(to_edges(self.dropout(nodes), batch.by_node, batch.by_edge))
            pooled = F.relu(to_nodes(self.dropout(edges), batch.by_edge, batch.by_node))
            nodes = torch.where(in_edge, pooled, nodes)
        return States(nodes, edges)
