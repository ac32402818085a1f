"""How time and memory grow with the size of a graph."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from benchmarks.command import print_records, run
from benchmarks.timing import interleaved_ms, peak_mb
from benchmarks.workloads import random_hypergraph
from hyperheat.nn import HeatConfig, HeatEncoder
from hyperheat.tensors import Vocabulary, collate

__all__ = ["main", "measure_growth"]


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


def main(*, json: bool = False) -> None:
    """Encode graphs of 10,000, 50,000 and 200,000 nodes, with twice as many edges, and show the growth.

    Parameters
    ----------
    json
        Print a list of records.
    """
    columns = {
        "nodes": "nodes",
        "edges": "edges",
        "plan_ms": "plan ms",
        "encode_ms": "encode ms",
        "encode_us_per_node": "us per node",
        "peak_mb": "peak MB",
        "peak_kb_per_node": "KB per node",
    }
    print_records(measure_growth(), columns, as_json=json)


if __name__ == "__main__":
    run(main)
