"""HEAT, the hyperedge attention network.

One layer, with h the states of nodes and edges and r the qualifier embeddings:

    r_t = W_t r + b_t                                        qualifier      (embedding.py)
    m   = messages inside each edge from h and r_t           message        (message.py)
    u_n = Agg of the messages to n                           aggregate      (aggregate.py)
    h'  = LN(q + FFN(q)), q = LN(h + u)                      update         (update.py)

`HeatEncoder` reads graphs with names, `Heat` reads plain tensors; both run the same layers.
Letters: N nodes, E edges, I incidences, Q distinct qualifiers, C cells, D width.
"""

import json
from pathlib import Path
from typing import NamedTuple

from torch import Tensor, nn

from hyperheat.configuration import from_dict, to_dict
from hyperheat.files import parse_json, write_whole_text
from hyperheat.nn.config import HeatConfig
from hyperheat.nn.embedding import HypergraphEmbedding, TypeEmbedding
from hyperheat.tensors import AttentionPlan, HypergraphBatch, NodeBatch, Vocabulary, plan_incidences

__all__ = ["Heat", "HeatEncoder", "HeatLayer", "States", "check_batch"]


class States(NamedTuple):
    """What an encoder returns: a vector for each node [N, D] and each edge [E, D]."""

    nodes: Tensor
    edges: Tensor


class HeatLayer(nn.Module):
    """One round of messages."""

    def __init__(self, config: HeatConfig) -> None:
        super().__init__()
        self.qualifier = config.qualifier(config)
        self.message = config.message(config)
        self.aggregate = config.aggregate(config)
        self.update = config.edge_update(config)

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
        """A batch from `collate(graphs, encoder.vocab).to_torch()` -> states."""
        check_batch(batch, self.vocab)
        h, r = self.embedding(batch)
        for layer in self.layers:
            h = layer(h, r, batch.plan)
        return States(h[: batch.num_nodes], h[batch.num_nodes :])

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `model.safetensors`, `config.json` and `vocab.json`; each file appears whole or not at all."""
        from hyperheat.nn.weights import save_weights  # only files need the package safetensors

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocab.save(folder / "vocab.json")
        write_whole_text(folder / "config.json", json.dumps(to_dict(self.config), indent=2) + "\n")
        save_weights(self, folder / "model.safetensors")

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> "HeatEncoder":
        """Read what `save_pretrained` wrote. Loading runs no code from the folder."""
        from hyperheat.nn.weights import load_weights

        folder = Path(folder)
        try:
            values = parse_json((folder / "config.json").read_text(encoding="utf-8"))
            config = from_dict(HeatConfig, values)
            if absent := to_dict(config).keys() - values.keys():
                raise ValueError(f"expected all settings, got none for {', '.join(sorted(absent))}")
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{folder}: expected the folder of an encoder, got no config.json"
            ) from None
        except (ValueError, TypeError) as error:
            raise ValueError(f"{folder / 'config.json'}: not a configuration: {error}") from error
        encoder = cls(config, Vocabulary.load(folder / "vocab.json"))
        load_weights(encoder, folder / "model.safetensors")
        return encoder


class Heat(nn.Module):
    """HEAT on plain tensors, for data without names: numeric node features, relations and qualifiers as integers.

    `relations` and `qualifiers` count the types; each has a learned vector. `features` is the width of the node
    features, which a linear map takes to `config.dim`; without it they must be `config.dim` wide and are used as they are.

    >>> heat = Heat(HeatConfig(dim=16, layers=2, heads=2), features=3, relations=4, qualifiers=5)
    >>> x = torch.randn(6, 3)                                            # six nodes
    >>> incidence_index = torch.tensor([[0, 1, 2, 2, 3], [0, 0, 0, 1, 1]])  # node and edge of each incidence
    >>> states = heat(x, incidence_index, relation=torch.tensor([3, 0]), qualifier=torch.tensor([0, 1, 1, 4, 2]))
    >>> states.nodes.shape, states.edges.shape
    (torch.Size([6, 16]), torch.Size([2, 16]))
    """

    def __init__(
        self, config: HeatConfig, *, relations: int, qualifiers: int, features: int | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.embedding = TypeEmbedding(config, relations=relations, qualifiers=qualifiers, features=features)
        self.layers = nn.ModuleList(HeatLayer(layer) for layer in config.layer_configs())

    def forward(self, x: Tensor, incidence_index: Tensor, relation: Tensor, qualifier: Tensor) -> States:
        """Features [N, F], (node, edge) pairs [2, I], types of edges [E] and of incidences [I] -> states.

        Incidences may come in any order.
        """
        plan = self.plan(incidence_index, qualifier, num_nodes=len(x), num_edges=len(relation))
        return self.run(x, relation, plan)

    def plan(
        self, incidence_index: Tensor, qualifier: Tensor, *, num_nodes: int, num_edges: int
    ) -> AttentionPlan[Tensor]:
        """How to compute one graph. Where the graph stays the same, plan it once and call `run` in every step."""
        planned = plan_incidences(
            incidence_index.cpu().numpy(),
            qualifier.cpu().numpy(),
            num_nodes=num_nodes,
            num_edges=num_edges,
            num_qualifiers=self.embedding.qualifier.num_embeddings,
        )
        return planned.to_torch(incidence_index.device)

    def run(self, x: Tensor, relation: Tensor, plan: AttentionPlan[Tensor]) -> States:
        """Features [N, F] and types of edges [E] of a planned graph -> states."""
        h, r = self.embedding(x, relation)
        for layer in self.layers:
            h = layer(h, r, plan)
        return States(h[: plan.num_nodes], h[plan.num_nodes :])


def check_batch(batch: NodeBatch[Tensor], vocab: Vocabulary) -> None:
    """Refuse a batch that the encoder would misread."""
    if not isinstance(batch.label, Tensor):
        raise TypeError("batch: expected torch tensors, got numpy arrays; call batch.to_torch()")
    if batch.vocabulary != vocab.fingerprint:
        raise ValueError(
            f"batch: expected vocabulary {vocab.fingerprint} (the encoder's), got {batch.vocabulary}; "
            "collate with the vocabulary that the encoder was made with"
        )
