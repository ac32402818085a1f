"""How time and memory grow with the graph, and what planning a batch costs beside a training step."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from hyperheat.bench.timing import interleaved_ms, peak_mb
from hyperheat.bench.workloads import code_like, random_hypergraph
from hyperheat.nn import HeatConfig, HeatEncoder
from hyperheat.tensors import Vocabulary, collate

__all__ = ["measure_collate", "measure_growth"]


def measure_growth(sizes: tuple[int, ...] = (10_000, 50_000, 200_000)) -> Iterator[dict[str, Any]]:
    """Plan and encode one graph of each number of nodes, with twice as many edges of 2 to 5 incidences."""
    for num_nodes in sizes:
        widths = np.random.default_rng(0).integers(2, 6, 2 * num_nodes)
        graph = random_hypergraph(widths, num_nodes, skew=1.0, relations=20, qualifiers=20, seed=0)
        vocab = Vocabulary.build([], split="whole")  # the names do not matter here
        torch.manual_seed(0)
        encoder = HeatEncoder(HeatConfig(dim=64, layers=2, heads=8, ff=256), vocab).eval()
        start = time.perf_counter()
        batch = collate([graph], vocab).to_torch()
        plan_ms = 1e3 * (time.perf_counter() - start)

        def encode(encoder=encoder, batch=batch) -> None:
            with torch.no_grad():
                encoder(batch)

        ms = interleaved_ms({"encode": encode}, repeats=3)["encode"]
        peak = peak_mb(encode)
        yield {
            "nodes": num_nodes,
            "edges": 2 * num_nodes,
            "plan_ms": round(plan_ms, 1),
            "encode_ms": round(ms, 1),
            "encode_us_per_node": round(1e3 * ms / num_nodes, 2),
            "peak_mb": None if peak is None else round(peak, 1),
            "peak_kb_per_node": None if peak is None else round(1024 * peak / num_nodes, 2),
        }


def measure_collate(functions: int = 16, repeats: int = 7) -> dict[str, Any]:
    """The time of `collate` beside a training step of 4 layers of width 128 on the same functions."""
    graphs = code_like(functions)
    vocab = Vocabulary.build(graphs)
    torch.manual_seed(0)
    encoder = HeatEncoder(HeatConfig(dim=128, layers=4, ff=512), vocab)
    optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-4)
    batch = collate(graphs, vocab).to_torch()

    def step() -> None:
        states = encoder(batch)
        (states.nodes[:, 0].mean() + states.edges[:, 0].mean()).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    ms = interleaved_ms({"collate": lambda: collate(graphs, vocab), "step": step}, repeats=repeats)
    return {
        "collate_ms": round(ms["collate"], 2),
        "step_ms": round(ms["step"], 2),
        "collate_share": round(ms["collate"] / ms["step"], 4),
    }
