"""What the commands have in common: arguments, the compiled kernel, and records as a table or as JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from hyperheat.cli.refusal import fail

__all__ = ["Positive", "fail", "print_records", "run", "use_kernel"]

Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def run(command: Callable[..., None]) -> None:
    """Run a function as the command of its module."""
    name = sys.modules["__main__"].__spec__
    app = App(
        name=f"python -m {name.name if name else 'benchmarks'}", help_format="plaintext", version_flags=[]
    )
    app.default(command)
    app()


def use_kernel(wanted: bool | None) -> bool:
    """Load the compiled kernel if it is wanted, or by default if it can be built; return whether it is used."""
    from hyperheat.nn.fast import kernel

    try:
        return kernel.use(wanted)
    except RuntimeError as error:
        fail(error)


def print_records(records: Iterable[dict[str, Any]], columns: dict[str, str], *, as_json: bool) -> None:
    """Each record as a row as soon as it is there, or all of them as JSON."""
    if as_json:
        sys.stdout.write(json.dumps(list(records), indent=1) + "\n")
        return
    widths = [max(len(title), 10) for title in columns.values()]
    _print_row(list(columns.values()), widths)
    for record in records:
        _print_row([_cell(record.get(key)) for key in columns], widths)


def _print_row(cells: Sequence[str], widths: Sequence[int]) -> None:
    sys.stdout.write("  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) + "\n")
    sys.stdout.flush()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
