"""GNN-MLP, PyBugLab's graph neural network, a peer of HEAT for graphs of pairs.

A message runs along every pair, against it, and from every node to itself, each kind k with weights of its own:

    m_k(s -> t) = W_k [h_s; h_t];    h_t' = tanh(W LN(GELU(max of the messages to t)) + b)

Layers come in blocks: some of width D, then one that reads the states at the block's beginning beside the present
ones and whose messages are 2D wide. The published model has two blocks of 3 + 1 layers.

It is computed as W_k [h_s; h_t] = A_k h_s + B_k h_t, with each end of the pairs of a kind projected once.
What differs from the published code: the message of a node to itself has one matrix where that has two whose sum
counts, W [h; h] = (A + B) h; labels are read as HEAT reads them.
Letters: N nodes, K kinds, U distinct ends of the pairs of each kind, D width of states, M width of messages.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.nn.embedding import pool_labels
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import pair_sum, segment_max, spread
from hyperheat.nn.heat import States, check_batch
from hyperheat.nn.peers.relations import RelationConfig, check_relations
from hyperheat.tensors import HAS_SUBTOKEN, MessagePlan, PairBatch, Vocabulary

__all__ = ["GnnConfig", "GnnEncoder", "GnnLayer"]


@dataclass(frozen=True, kw_only=True)
class GnnConfig(RelationConfig):
    """Sizes and relations; the defaults are the published model."""

    blocks: int = 2
    block_layers: int = 4
    """Layers of a block, the wide one at its end included."""
    dropout: float = 0.2
    subtokens: bool = True
    """Whether batches have a node per subtoken: `collate_pairs(..., subtokens=True)`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.subtokens) is not bool:
            raise ValueError(f"subtokens: expected True or False, got {self.subtokens!r}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The relations, and that between tokens and subtokens."""
        return (*self.relations, HAS_SUBTOKEN) if self.subtokens else self.relations


class GnnLayer(nn.Module):
    """One round of messages: states of width `dim_in` -> messages as wide -> states of width `dim_out`."""

    def __init__(self, dim_in: int, dim_out: int, kinds: int, dropout: float) -> None:
        super().__init__()
        # For the sources and the targets of each kind: the part of the message along and of that against the pair.
        self.ends = nn.Parameter(torch.empty(2 * kinds, 2 * dim_in, dim_in))
        nn.init.uniform_(
            self.ends, -((2 * dim_in) ** -0.5), (2 * dim_in) ** -0.5
        )  # as Linear on [h_s; h_t] has it
        self.oneself = nn.Linear(dim_in, dim_in, bias=False)
        self.norm = nn.LayerNorm(dim_in)
        self.out = nn.Linear(dim_in, dim_out)
        self.dropout = Dropout(dropout)

    def forward(self, h: Tensor, plan: MessagePlan[Tensor]) -> Tensor:
        """States [N, dim_in] -> states [N, dim_out]."""
        ends = spread(h, plan.ends).split(plan.sizes)
        parts = [F.linear(x, weight) for x, weight in zip(ends, self.ends, strict=True)]  # 2K times [u, 2M]
        own = self.oneself(h)
        table = torch.cat(
            [*(part.view(-1, own.shape[1]) for part in parts), own, own.new_zeros(1, own.shape[1])]
        )
        u = segment_max(pair_sum(table, plan.sums), plan.receivers)  # [N, M]
        return self.dropout(self.out(self.norm(F.gelu(u))).tanh())


class GnnBlock(nn.Module):
    """Layers of width D, then a wide one that reads the states before them, too."""

    def __init__(self, config: GnnConfig) -> None:
        super().__init__()
        dim, kinds = config.dim, len(config.kinds)
        self.layers = nn.ModuleList(
            GnnLayer(dim, dim, kinds, config.dropout) for _ in range(config.block_layers - 1)
        )
        self.wide = GnnLayer(2 * dim, dim, kinds, config.dropout)

    def forward(self, h: Tensor, plan: MessagePlan[Tensor]) -> Tensor:
        """States [N, D] -> states [N, D]."""
        before = h
        for layer in self.layers:
            h = layer(h, plan)
        return self.wide(torch.cat([before, h], dim=1), plan)


class GnnEncoder(nn.Module):
    """A batch of graphs of pairs in, states of its nodes out; there are no states of edges."""

    def __init__(self, config: GnnConfig, vocab: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocab = config, vocab
        self.label = nn.Embedding(len(vocab.labels), config.dim)
        self.dropout = Dropout(config.dropout)
        self.blocks = nn.ModuleList(GnnBlock(config) for _ in range(config.blocks))

    def forward(self, batch: PairBatch[Tensor]) -> States:
        check_batch(batch, self.vocab)
        check_relations(batch, self.config.kinds)
        h = self.dropout(pool_labels(self.label, batch))
        for block in self.blocks:
            h = block(h, batch.messages)
        return States(h[: batch.num_nodes], h.new_zeros(0, self.config.dim))
