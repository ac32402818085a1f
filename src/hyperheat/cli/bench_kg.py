"""`hyperheat bench kg`: how long an epoch of training takes with each encoder, beside a naive path."""

import json as json_module
import sys
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from hyperheat.cli.bench import use_kernel
from hyperheat.cli.refusal import fail

__all__ = ["bench_kg"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
_KEYS = ("encoder", "kernel", "seconds_per_epoch", "speedup_over_naive", "with_memory_kept")


def bench_kg(
    *,
    data: str | None = None,
    encoder: list[Literal["no-encoder", "stare", "heat", "heat-crossatt"]] | None = None,
    dim: _Positive = 128,
    batch: _Positive = 1024,
    naive_batch: _Positive = 1024,
    repeats: _Positive = 3,
    threads: _Positive = 1,
    kernel: bool | None = None,
    json: bool = False,
) -> None:
    """Train each encoder on statements, lean and in a naive way with equal scores, in turns.

    Seconds are those that cores work, whatever else the machine does: with one thread, what an epoch takes on an idle one.
    An epoch is one step times the number of steps, without the update of the weights.

    Parameters
    ----------
    data
        A folder of statements or the name of a published data set; made up in the sizes of WD50K(100) unless given.
    encoder
        All unless given.
    dim
        Width of all encoders and of the decoder.
    batch
        Questions in a step, for which the graph is encoded once.
    naive_batch
        Questions for which the naive way encodes the graph once; the paper's batch has 512.
    repeats
        Turns each way takes; the median counts.
    threads
        Threads of torch.
    kernel
        Whether ours uses the compiled kernel for small edges; unless told, if there is a C compiler.
    json
        Print a list of records.
    """
    import torch

    from hyperheat.bench.kg import ENCODERS, measure, synthetic
    from hyperheat.kg.datasets import read_dataset

    torch.set_num_threads(threads)
    sizes = (f"model.encoder.dim={dim}", f"batch={batch}")
    records = []
    compiled = use_kernel(kernel)
    try:
        chosen = synthetic() if data is None else read_dataset(data)
        measured = measure(chosen, encoder or ENCODERS, sizes, naive_batch=naive_batch, repeats=repeats)
        for record in measured:
            records.append(record | {"kernel": compiled})
            sys.stderr.write(
                f"{record['encoder']}: scores differ by at most {record['difference']:.1e} of the largest\n"
            )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        shown = json_module.dumps([{key: record[key] for key in _KEYS} for record in records], indent=1)
    else:
        shown = _table(records, dim)
    sys.stdout.write(shown + "\n")


def _table(records: list[dict[str, Any]], dim: int) -> str:
    title = f"width {dim}"
    rows = [f"{title:<14}  {'seconds per epoch':>17}  {'over naive':>10}  {'with memory kept':>16}"]
    for record in records:
        rows.append(
            f"{record['encoder']:<14}  {record['seconds_per_epoch']:>17,.1f}  {record['speedup_over_naive']:>9.2f}x"
            f"  {record['with_memory_kept']:>15.2f}x"
        )
    rows.append(f"ours {'with' if records[0]['kernel'] else 'without'} the compiled kernel")
    return "\n".join(rows)
