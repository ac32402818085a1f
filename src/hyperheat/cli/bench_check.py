"""`hyperheat bench check`: how long scans take, and how much memory, beside pylint."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.bench.check import find_pylint, measure_check
from hyperheat.cli.refusal import fail

__all__ = ["STEPS", "bench_check"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
STEPS = {
    "start": "start, nothing to scan",
    "ready": "start with worker and model",
    "cold": "cold scan, empty cache",
    "warm": "warm scan, nothing changed",
    "changed": "one function changed",
    "pylint": "pylint",
}


def bench_check(
    path: Path | None = None,
    /,
    *,
    model: Path | None = None,
    repeats: _Positive = 3,
    jobs: Annotated[_Positive, Parameter(alias="-j")] = 2,
    pylint: bool = True,
    json: bool = False,
) -> None:
    """Scan a copy of some code with an empty cache, again, and after a change, in turns with pylint if it is installed.

    Parameters
    ----------
    path
        A file or folder of Python code; the source of hyperheat itself unless given.
    model
        A folder that bugs export wrote; the model in the package unless given.
    repeats
        Turns that each takes; the median counts.
    jobs
        Processes of each scan, those of pylint too.
    pylint
        Whether to measure pylint beside it, if it is there.
    json
        Print one JSON object.
    """
    source = path or Path(__file__).parents[1]
    if not source.exists():
        fail(f"{source}: expected a file or folder, got nothing there")
    try:
        measured = measure_check(
            source,
            model=model,
            repeats=repeats,
            jobs=jobs,
            pylint=find_pylint() if pylint else None,
            progress=lambda line: sys.stderr.write(f"{line}\n"),
        )
    except (ValueError, OSError, SyntaxError) as error:
        fail(error)
    content = {"code": source.resolve().name, **measured}
    sys.stdout.write((json_module.dumps(content, indent=1) if json else _table(content)) + "\n")


def _table(content: dict[str, Any]) -> str:
    rows = [
        f"{content['code']}: {content['files']:,} files, {content['lines']:,} lines; medians of {content['repeats']} turns, "
        f"{content['jobs']} processes",
        "",
    ]
    for step, seconds in content["seconds"].items():
        peak = content["peak_mb"].get(step)
        rows.append(f"{STEPS[step]:<28} {seconds:>8.2f} s" + (f"  {peak:>7,} MB" if peak else ""))
    after = content["changed_after"]
    rows += [
        "",
        f"one changed function: {after['ready']:.2f} s after the start with worker and model,",
        f"{after['start']:.2f} s after the start without",
    ]
    if content["over_pylint"] is None:
        rows.append("pylint was not measured: it is not installed, or was not asked for")
    else:
        rows.append(f"a cold scan takes {content['over_pylint']:.2f} times as long as pylint")
    return "\n".join(rows)
