"""What planning a batch costs beside a training step."""

from typing import Any

import torch

from benchmarks.command import print_records, run
from benchmarks.timing import interleaved_ms
from benchmarks.workloads import code_like
from hyperheat.nn import HeatConfig, HeatEncoder
from hyperheat.tensors import Vocabulary, collate

__all__ = ["main", "measure_collate"]


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


def main(*, json: bool = False) -> None:
    """Measure `collate` beside a training step of 4 layers of width 128 on the same batch of 16 functions.

    Parameters
    ----------
    json
        Print a list with one record.
    """
    print_records(
        [measure_collate()],
        {"collate_ms": "collate ms", "step_ms": "step ms", "collate_share": "share"},
        as_json=json,
    )


if __name__ == "__main__":
    run(main)
