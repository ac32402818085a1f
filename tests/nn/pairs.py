"""Graphs of pairs, and checks that the tests of all encoders of pairs share."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from tests.nn.models import read_states
from torch import Tensor, nn

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder

__all__ = ["RELATIONS", "assert_same_values_and_gradients", "pair_graph", "set_weights", "vectors"]

RELATIONS = ("NextToken", "Reads", "Writes")


def pair_graph(labels: str, *edges: tuple[str, int, int]) -> Hypergraph:
    """A graph of the words of `labels`, each followed by the next, and of other pairs."""
    b = HypergraphBuilder()
    nodes = [b.add_node(label) for label in labels.split()]
    following = [("NextToken", *pair) for pair in pairwise(nodes)]
    for relation, source, target in [*following, *edges]:
        b.relate(relation, ("source", source), ("target", target))
    return b.build()


def set_weights(encoder: nn.Module) -> nn.Module:
    """Fixed random weights, biases and norms included, in double precision and without dropout."""
    generator = torch.Generator().manual_seed(1)
    encoder.double()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return encoder.eval()


def vectors(embedding: nn.Embedding, rows: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """The maximum over the subtokens of each label."""
    return [torch.stack([embedding.weight[i] for i in row]).amax(0) for row in rows]


def assert_same_values_and_gradients(encoder: nn.Module, fast: Callable, slow: Callable) -> None:
    """Compare states, and the gradients of all parameters."""
    results = []
    for compute in (fast, slow):
        states = compute()
        encoder.zero_grad()
        read_states(states).backward()
        results.append((states.nodes, {name: p.grad for name, p in encoder.named_parameters()}))
    (nodes, grads), (expected, expected_grads) = results
    assert torch.allclose(nodes, expected, rtol=0, atol=1e-9)
    for name, grad in grads.items():
        assert grad is not None, name
        assert torch.allclose(grad, expected_grads[name], rtol=0, atol=1e-9), name
