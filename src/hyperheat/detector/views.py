"""How each family of encoders reads a sample: which graph, and which of its nodes are meant.

    Hyperedges     the hypergraph as it is                      HEAT with and without roles, AllSet
    BinaryEdges    the hypergraph, cut into pairs               HEAT on pairs
    Pairs          the graph of pairs                           GNN
    Tokens         the tokens alone and the pairs between them  GREAT

All views take the same samples. `problem` says what keeps a view from reading one, which then counts as a wrong answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from hyperheat.detector.sample import Sample
from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.transforms import binarise
from hyperheat.pycode.pairs import between_tokens
from hyperheat.tensors import Vocabulary, collate, collate_pairs, collate_roles, collate_tokens

__all__ = ["BinaryEdges", "Hyperedges", "Pairs", "Tokens", "View"]


class View(Protocol):
    """What an encoder reads of samples."""

    needs_pairs: ClassVar[bool]

    def problem(self, sample: Sample) -> str | None:
        """Why the sample cannot be read, or None."""
        ...

    def graph(self, sample: Sample) -> Hypergraph:
        """The graph that the encoder reads."""
        ...

    def nodes(self, sample: Sample, nodes: np.ndarray) -> np.ndarray:
        """Which nodes of that graph stand for nodes of the hypergraph."""
        ...

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> Any:
        """The batch of such graphs."""
        ...


@dataclass(frozen=True)
class Hyperedges:
    needs_pairs: ClassVar[bool] = False

    def problem(self, sample: Sample) -> str | None:
        return None

    def graph(self, sample: Sample) -> Hypergraph:
        return sample.graph

    def nodes(self, sample: Sample, nodes: np.ndarray) -> np.ndarray:
        return nodes

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> Any:
        return collate_roles(graphs, vocab) if vocab.roles else collate(graphs, vocab)


@dataclass(frozen=True)
class BinaryEdges(Hyperedges):
    def graph(self, sample: Sample) -> Hypergraph:
        return binarise(sample.graph)


@dataclass(frozen=True)
class Pairs(Hyperedges):
    relations: tuple[str, ...]
    subtokens: bool
    needs_pairs: ClassVar[bool] = True

    def graph(self, sample: Sample) -> Hypergraph:
        return _pairs(sample)

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> Any:
        return collate_pairs(graphs, vocab, self.relations, subtokens=self.subtokens)


@dataclass(frozen=True)
class Tokens:
    relations: tuple[str, ...]
    max_tokens: int
    needs_pairs: ClassVar[bool] = True

    def problem(self, sample: Sample) -> str | None:
        tokens = int((sample.token_of == np.arange(len(sample.token_of))).sum())
        if tokens > self.max_tokens:
            return f"expected at most {self.max_tokens} tokens, got {tokens}"
        candidates = sample.candidates
        for nodes in (candidates.location, candidates.first, candidates.second):
            if (sample.token_of[nodes[nodes >= 0]] < 0).any():
                return "expected a token for every candidate's nodes, got none for some"
        return None

    def graph(self, sample: Sample) -> Hypergraph:
        return between_tokens(_pairs(sample), sample.token_of)

    def nodes(self, sample: Sample, nodes: np.ndarray) -> np.ndarray:
        return sample.token_of[nodes]

    def collate(self, graphs: Sequence[Hypergraph], vocab: Vocabulary) -> Any:
        return collate_tokens(graphs, vocab, self.relations)


def _pairs(sample: Sample) -> Hypergraph:
    if sample.pairs is None:
        raise ValueError("samples: expected the graphs of pairs, got samples that were read without them")
    return sample.pairs
