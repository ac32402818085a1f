"""Small encoders and graphs that the tests of the network share."""

from dataclasses import replace

import torch

from hyperheat import VARIANTS, HeatConfig, HeatEncoder, Hypergraph, HypergraphBuilder, Vocabulary

__all__ = ["example_graph", "make_encoder", "read_states"]


def make_encoder(
    variant: str | HeatConfig, vocab: Vocabulary, dtype: torch.dtype = torch.float32, **sizes: int | float
) -> HeatEncoder:
    """A variant with small sizes and fixed random weights, biases and norms included, without dropout."""
    config = VARIANTS[variant] if isinstance(variant, str) else variant
    torch.manual_seed(0)
    encoder = HeatEncoder(replace(config, **{"dim": 8, "layers": 2, "heads": 2, "ff": 12, **sizes}), vocab)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.to(dtype).eval()


def read_states(states) -> torch.Tensor:
    """A number that depends on every state unevenly, to take gradients of."""
    values = torch.cat([states.nodes, states.edges])
    weights = torch.linspace(-1, 1, values.numel(), dtype=values.dtype).view_as(values)
    return (values * weights).sum()


def example_graph() -> Hypergraph:
    """Edges of several sizes, a sequence, a repeated incidence, an isolated node."""
    b = HypergraphBuilder()
    a, c, d, _ = (b.add_node(label) for label in ("fooBar", "bar", "x2", "lonely"))
    b.relate("BinOp", ("left", a), ("right", c))
    b.relate("call", ("rval", a), ("arg", c), ("arg", c), ("kw", d))
    b.relate_sequence("Tokens", [a, c, d, a])
    b.relate("Flag", ("self", d))
    b.relate("Nothing")
    return b.build()
