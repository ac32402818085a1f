"""HEAT, the hyperedge attention network: read this file first, then the parts in the order it calls them.

One layer, with h the states of nodes and edges and r the qualifier embeddings:

    r_t = W_t r + b_t                                        qualifier      (embedding.py)
    m   = messages inside each edge from h and r_t           message        (message.py, attention.py)
    u_n = Agg of the messages to n                           aggregate      (aggregate.py)
    h'  = LN(q + FFN(q)), q = LN(h + u)                      update         (update.py)

`reference.py` says the same in plain loops. Letters: N nodes, E edges, Q distinct qualifiers, C cells, D width.
"""

from typing import NamedTuple

from torch import Tensor, nn

from hyperheat.nn.config import HeatConfig
from hyperheat.nn.embedding import HypergraphEmbedding
from hyperheat.tensors import AttentionPlan, HypergraphBatch, NodeBatch, Vocabulary

__all__ = ["HeatEncoder", "HeatLayer", "States", "check_batch"]


class States(NamedTuple):
    """What an encoder returns: a vector for each node [N, D] and each edge [E, D]."""

    nodes: Tensor
    edges: Tensor


class HeatLayer(nn.Module):
    """One round of messages."""

    def __init__(self, config: HeatConfig) -> None:
        super().__init__()
        self.qualifier = config.qualifier.build(config)
        self.message = config.message.build(config)
        self.aggregate = config.aggregate.build(config)
        self.update = config.edge_update.build(config)

    def forward(self, h: Tensor, r: Tensor, plan: AttentionPlan[Tensor]) -> Tensor:
        """States [N+E, D] and qualifier embeddings [Q, D] -> states [N+E, D]."""
        m = self.message(h, self.qualifier(r), plan)  # [C, D]
        u = self.aggregate(m, h, plan)  # [N+E, D]
        return self.update(h, u, plan.num_nodes)


class HeatEncoder(nn.Module):
    """A batch of hypergraphs in, states of its nodes and edges out."""

    def __init__(self, config: HeatConfig, vocab: Vocabulary) -> None:
        super().__init__()
        self.config = config
        self.vocab = vocab
        self.embedding = HypergraphEmbedding(config.dim, vocab, config.dropout)
        self.layers = nn.ModuleList(HeatLayer(layer) for layer in config.layer_configs())

    def forward(self, batch: HypergraphBatch[Tensor]) -> States:
        check_batch(batch, self.vocab)
        h, r = self.embedding(batch)
        for layer in self.layers:
            h = layer(h, r, batch.plan)
        return States(h[: batch.num_nodes], h[batch.num_nodes :])


def check_batch(batch: NodeBatch[Tensor], vocab: Vocabulary) -> None:
    """Refuse a batch that the encoder would misread."""
    if not isinstance(batch.label, Tensor):
        raise TypeError("batch: expected torch tensors, got numpy arrays; call batch.to_torch()")
    if batch.vocabulary != vocab.fingerprint:
        raise ValueError(
            f"batch: expected vocabulary {vocab.fingerprint} (the encoder's), got {batch.vocabulary}; "
            "collate with the vocabulary that the encoder was made with"
        )
