"""`hyperheat demo`: the whole way from statements to vectors in a few lines."""

import sys

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder
from hyperheat.hypergraph.draw import to_text

__all__ = ["demo"]


def demo() -> None:
    """Draw the relation `studied(person, institution, major)` and encode it with HEAT."""
    graph = studied()
    sys.stdout.write(f"{to_text(graph)}\n\n")

    import torch

    from hyperheat import HeatConfig, HeatEncoder, Vocabulary, collate

    vocab = Vocabulary.build([graph])
    torch.manual_seed(0)
    config = HeatConfig(dim=64, layers=2, heads=4)
    encoder = HeatEncoder(config, vocab).eval()
    with torch.no_grad():
        states = encoder(collate([graph], vocab).to_torch())
    parameters = sum(parameter.numel() for parameter in encoder.parameters())
    sys.stdout.write(
        f"HEAT, {config.layers} layers of width {config.dim}, {parameters:,} untrained weights:\n"
    )
    shown = [*graph.display_labels(), *(f"{relation}(...)" for relation in graph.relations)]
    width = max(map(len, shown))
    for name, vector in zip(shown, torch.cat([states.nodes, states.edges]), strict=True):
        numbers = " ".join(f"{x:6.2f}" for x in vector[:6].tolist())
        sys.stdout.write(f"  {name:<{width}}  [{numbers}  ... {len(vector)} numbers]\n")


def studied() -> Hypergraph:
    """The paper's example: one person, one institution, two majors, and a second statement about the institution."""
    b = HypergraphBuilder()
    person, institution = b.add_node("Einstein"), b.add_node("ETH Zurich")
    mathematics, physics = b.add_node("mathematics"), b.add_node("physics")
    city = b.add_node("Zurich")
    b.relate(
        "studied",
        ("person", person),
        ("institution", institution),
        ("major", mathematics),
        ("major", physics),
    )
    b.relate("located", ("what", institution), ("where", city))
    return b.build()
