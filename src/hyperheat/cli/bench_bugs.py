"""`hyperheat bench bugs`: how fast samples are made, and how fast each encoder trains on them and answers."""

import json as json_module
import sys
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

__all__ = ["bench_bugs"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def bench_bugs(
    *,
    encoder: list[Literal["heat", "gnn", "great", "allset", "binarised"]] | None = None,
    dim: _Positive = 128,
    repeats: _Positive = 5,
    threads: _Positive | None = None,
    json: bool = False,
) -> None:
    """Make samples of a part of the standard library; then all encoders train on some of them and answer, in turns.

    Samples are counted per second that one core works, graphs per second of waiting; planning a batch is included.

    Parameters
    ----------
    encoder
        binarised is HEAT on hypergraphs cut into pairs. All unless given.
    dim
        Width of the states of all encoders; each is as deep as in its recipe.
    repeats
        Turns each contestant takes; the median counts.
    threads
        Threads of torch; as many as it chooses unless given.
    json
        Print a list of records.
    """
    import torch

    from hyperheat.bench.bugs import ENCODERS, measure_bugs

    if threads is not None:
        torch.set_num_threads(threads)
    try:
        records = list(measure_bugs(encoder or ENCODERS, dim, repeats=repeats))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    sys.stdout.write((json_module.dumps(records, indent=1) if json else _table(records, dim)) + "\n")


def _table(records: Iterable[dict[str, Any]], dim: int) -> str:
    rates = {(record["what"], record["encoder"]): record["per_second"] for record in records}
    title = f"graphs per second at width {dim}"
    rows = [
        f"samples made per second of one core: {rates['making', None]:,.1f}",
        "",
        f"{title}  {'training':>10}  {'inference':>10}",
    ]
    for what, name in rates:
        if what == "training":
            cells = (f"{rates[step, name]:>10,.1f}" for step in ("training", "inference"))
            rows.append("  ".join([f"{name:<{len(title)}}", *cells]))
    return "\n".join(rows)
