"""`hyperheat bench layer|growth|collate`: tables for people, JSON for machines."""

import json as json_module
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail

__all__ = ["collate", "growth", "layer", "use_kernel"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def use_kernel(wanted: bool | None) -> bool:
    """Load the kernel if it is wanted, or nobody says that it is not and it can be; say whether it is used."""
    from hyperheat.nn.fast import kernel

    if wanted is False:
        kernel.unload()
        return False
    try:
        kernel.load()
    except RuntimeError as error:
        if wanted:
            fail(error)
        return False
    return True


def layer(
    *,
    workload: list[Literal["code", "wd50k"]] | None = None,
    dim: list[Literal[128, 256]] | None = None,
    layers: list[_Positive] | None = None,
    repeats: _Positive = 5,
    threads: _Positive | None = None,
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
    import torch

    from hyperheat.bench.layer import measure_layers

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
    _print(
        ({**record.pop("others_ms"), **record} if not json else record for record in records),
        columns,
        json=json,
    )


def growth(*, json: bool = False) -> None:
    """Encode graphs of 10,000, 50,000 and 200,000 nodes, with twice as many edges, and show the growth.

    Parameters
    ----------
    json
        Print a list of records.
    """
    from hyperheat.bench.growth import measure_growth

    columns = {
        "nodes": "nodes",
        "edges": "edges",
        "plan_ms": "plan ms",
        "encode_ms": "encode ms",
        "encode_us_per_node": "us per node",
        "peak_mb": "peak MB",
        "peak_kb_per_node": "KB per node",
    }
    _print(measure_growth(), columns, json=json)


def collate(*, json: bool = False) -> None:
    """Measure `collate` beside a training step of 4 layers of width 128 on the same batch of 16 functions.

    Parameters
    ----------
    json
        Print a list with one record.
    """
    from hyperheat.bench.growth import measure_collate

    _print(
        [measure_collate()],
        {"collate_ms": "collate ms", "step_ms": "step ms", "collate_share": "share"},
        json=json,
    )


def _print(records: Iterable[dict[str, Any]], columns: dict[str, str], *, json: bool) -> None:
    """Each record as a row as soon as it is there, or all of them as JSON."""
    if json:
        sys.stdout.write(json_module.dumps(list(records), indent=1) + "\n")
        return
    widths = [max(len(title), 10) for title in columns.values()]
    _row(list(columns.values()), widths)
    for record in records:
        _row([_cell(record.get(key)) for key in columns], widths)


def _row(cells: Sequence[str], widths: Sequence[int]) -> None:
    sys.stdout.write("  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) + "\n")
    sys.stdout.flush()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
