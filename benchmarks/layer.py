"""How fast a stack of HEAT layers is, beside the paper's algorithm and peers, and how far from the machine's limit."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from benchmarks.command import Positive, print_records, run, use_kernel
from benchmarks.paper import PaperLayer, paper_plan
from benchmarks.timing import interleaved_ms, peak_mb
from benchmarks.workloads import WORKLOADS
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.peers.allset import AllSetConfig, AttentionPool
from hyperheat.tensors import HypergraphBatch, Vocabulary, collate

__all__ = ["FF", "Pass", "main", "measure_layers", "useful_flops"]

Pass = Literal["forward", "forward+backward"]
PASSES: tuple[Pass, ...] = ("forward", "forward+backward")
FF = {128: 512, 256: 2048}


def measure_layers(
    workloads: Sequence[str], dims: Sequence[int], depths: Sequence[int], *, repeats: int, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """One record per workload, width, depth and pass. Planning a batch is done before, for all contestants."""
    for name in workloads:
        graphs = WORKLOADS[name](seed=seed)
        batch = collate(graphs, Vocabulary.build(graphs))
        for dim in dims:
            for layers in depths:
                torch.manual_seed(seed)
                setting = _Setting.build(batch, HeatConfig(dim=dim, layers=layers, ff=FF[dim], dropout=0.0))
                for which in PASSES:
                    yield {
                        "workload": name,
                        "dim": dim,
                        "layers": layers,
                        **_measure(setting, which, repeats),
                    }


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """The contestants: each maps the same first states [N+E, D] to new ones."""

    config: HeatConfig
    batch: HypergraphBatch[Tensor]
    h: Tensor
    upstream: Tensor
    """The gradient of the result; a sum of normalised states would have none."""
    contestants: dict[str, tuple[nn.Module, Callable[[Tensor], Tensor]]]

    @classmethod
    def build(cls, numpy_batch: HypergraphBatch, config: HeatConfig) -> "_Setting":
        batch, plan = numpy_batch.to_torch(), paper_plan(numpy_batch)
        h = torch.randn(batch.num_nodes + batch.num_edges, config.dim)
        r = torch.randn(batch.num_qualifiers, config.dim)
        ours = [HeatLayer(config) for _ in range(config.layers)]
        paper = [PaperLayer(layer, config) for layer in ours]
        contestants = {
            "ours": _stack(ours, r, batch.plan),
            "paper": _stack(paper, r, plan),
            "AllSetTransformer": _allset(config, batch),
            **_hypergraph_conv(config, batch),
        }
        if config.layers == 1:  # for orientation; a deep stack of them would only take long
            lean = [PaperLayer(layer, config) for layer in ours]
            contestants["paper, lean"] = _stack(lean, r, paper_plan(numpy_batch, masks_for=config.heads))
        return cls(config=config, batch=batch, h=h, upstream=torch.randn_like(h), contestants=contestants)


def _stack(
    layers: Sequence[nn.Module], r: Tensor, plan: object
) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    def run(h: Tensor) -> Tensor:
        for layer in layers:
            h = layer(h, r, plan)
        return h

    return nn.ModuleList(layers), run


def _allset(
    config: HeatConfig, batch: HypergraphBatch[Tensor]
) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    own = AllSetConfig(
        dim=config.dim, layers=config.layers, heads=config.heads, ff=config.hidden, dropout=0.0
    )
    pools = nn.ModuleList(AttentionPool(own) for _ in range(2 * config.layers))

    def run(h: Tensor) -> Tensor:
        nodes = h[: batch.num_nodes]
        for to_edges, to_nodes in zip(pools[::2], pools[1::2], strict=True):
            edges = to_edges(nodes, batch.by_node, batch.by_edge)
            nodes = to_nodes(edges, batch.by_edge, batch.by_node)
        return nodes

    return pools, run


def _hypergraph_conv(
    config: HeatConfig, batch: HypergraphBatch[Tensor]
) -> dict[str, tuple[nn.Module, Callable[[Tensor], Tensor]]]:
    """PyTorch Geometric's layer, if that is installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch_geometric.nn import HypergraphConv
    except ImportError:
        return {}
    layers = nn.ModuleList(HypergraphConv(config.dim, config.dim) for _ in range(config.layers))
    index = torch.stack([batch.by_node.owner, batch.by_edge.owner])

    def run(h: Tensor) -> Tensor:
        nodes = h[: batch.num_nodes]
        for layer in layers:
            nodes = layer(nodes, index, num_edges=batch.num_edges)
        return nodes

    return {"HypergraphConv": (layers, run)}


def _measure(setting: _Setting, which: Pass, repeats: int) -> dict[str, Any]:
    runs = {name: _runner(setting, name, which) for name in setting.contestants}
    gemm, gemm_flops = _gemm(setting)
    ms = interleaved_ms({**runs, "gemm": gemm}, repeats=repeats)
    flops_per_ms = gemm_flops / ms.pop("gemm")
    flops = useful_flops(setting.config, setting.batch) * (1 if which == "forward" else 3)
    peaks = {name: peak_mb(runs[name]) for name in ("ours", "paper")}
    return {
        "pass": which,
        "ms": round(ms["ours"], 2),
        "speedup_over_paper": round(ms["paper"] / ms["ours"], 3),
        "peak_mb": _rounded(peaks["ours"]),
        "paper_peak_mb": _rounded(peaks["paper"]),
        "share_of_limit": round(flops / ms["ours"] / flops_per_ms, 3),
        "others_ms": {name: round(value, 2) for name, value in ms.items() if name != "ours"},
    }


def _runner(setting: _Setting, name: str, which: Pass) -> Callable[[], None]:
    module, run = setting.contestants[name]
    module.train(which == "forward+backward")

    def forward() -> None:
        with torch.no_grad():
            run(setting.h)

    def forward_and_backward() -> None:
        h = setting.h.detach().requires_grad_()
        out = run(h)
        out.backward(setting.upstream[: len(out)])
        module.zero_grad(set_to_none=True)

    return forward if which == "forward" else forward_and_backward


def _gemm(setting: _Setting) -> tuple[Callable[[], object], int]:
    """The largest matrix product of a layer and its floating-point operations: the machine's practical limit."""
    rows, dim, hidden = len(setting.h), setting.config.dim, setting.config.hidden
    weight, out = torch.randn(hidden, dim), torch.empty(rows, hidden)
    return lambda: torch.mm(setting.h, weight.T, out=out), 2 * rows * dim * hidden


def useful_flops(config: HeatConfig, batch: HypergraphBatch[Tensor]) -> int:
    """Floating-point operations that a forward pass cannot do without: nothing projected twice, nothing padded."""
    states = batch.num_nodes + batch.num_edges
    widths = batch.by_edge.offsets.diff() + 1
    slots = int(widths.sum())
    d, f = config.dim, config.hidden
    projections = 2 * d * d * (3 * states + 4 * batch.num_qualifiers + slots)
    attention = 4 * d * int(widths.square().sum())
    return config.layers * (projections + attention + 4 * states * d * f)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def main(
    *,
    workload: list[Literal["code", "wd50k"]] | None = None,
    dim: list[Literal[128, 256]] | None = None,
    layers: list[Positive] | None = None,
    repeats: Positive = 5,
    threads: Positive | None = None,
    kernel: bool = False,
    json: bool = False,
) -> None:
    """Measure forward and forward+backward of stacks of HEAT layers on the CPU, in plain PyTorch unless told otherwise.

    The paper's algorithm (packed rows, masked nn.MultiheadAttention, scattered maximum), a lean form of it, AllSet and,
    where installed, PyTorch Geometric's HypergraphConv take turns with ours in the same process.

    Parameters
    ----------
    workload
        code: 16 Python functions; wd50k: a knowledge graph with qualifiers. Both unless given.
    dim
        Width of the states; 128 has a feed-forward width of 512, 256 of 2048. Both unless given.
    layers
        Depth of the stack; 1 and 6 unless given.
    repeats
        Turns each contestant takes; the median counts.
    threads
        Threads of torch; as many as it chooses unless given.
    kernel
        Ours uses the compiled kernel for small edges; needs a C compiler.
    json
        Print a list of records.
    """
    if kernel:
        use_kernel(True)
    if threads is not None:
        torch.set_num_threads(threads)
    records = measure_layers(
        workload or ["code", "wd50k"], dim or [128, 256], layers or [1, 6], repeats=repeats
    )
    columns = {
        "workload": "workload",
        "dim": "dim",
        "layers": "layers",
        "pass": "pass",
        "ms": "ms",
        "speedup_over_paper": "over paper",
        "peak_mb": "peak MB",
        "paper_peak_mb": "paper MB",
        "share_of_limit": "of limit",
        "paper, lean": "lean paper ms",
        "AllSetTransformer": "AllSet ms",
        "HypergraphConv": "PyG conv ms",
    }
    print_records(
        ({**record.pop("others_ms"), **record} if not json else record for record in records),
        columns,
        as_json=json,
    )


if __name__ == "__main__":
    run(main)
