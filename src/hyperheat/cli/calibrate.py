"""`hyperheat calibrate`: the checker on your own code."""

import json as json_module
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.cli.options import DEFAULTS, read_settings
from hyperheat.cli.refusal import fail
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hyperheat.check.planted_bugs import OfTier, Planted

__all__ = ["calibrate"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def calibrate(
    paths: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    model: str | None = None,
    samples: _Positive = 500,
    seed: int = 0,
    jobs: Annotated[_Positive | None, Parameter(alias="-j")] = None,
    json: bool = False,
) -> None:
    """Plant bugs in your own functions, in memory, and report how many are found.

    Checks the same files as `hyperheat check`, with the settings in pyproject.toml. No file is changed and no code is run.
    A finding in unchanged code counts as an alarm, although it may be a real bug.

    Parameters
    ----------
    paths
        Files and folders of Python code.
    model
        Name of an installed model, or folder of an exported and calibrated detector. Default: the model in the package.
    samples
        Maximum number of functions; each is checked unchanged and with one planted bug.
    seed
        Seed for choosing functions and bugs.
    jobs
        Number of processes. Default: the `jobs` setting, or the number of processors.
    json
        Print the result as JSON.
    """
    from hyperheat.check.discovery import Selection, discover
    from hyperheat.check.installed_models import load_model
    from hyperheat.check.planted_bugs import measure_planted, plant_bugs
    from hyperheat.check.settings import processors
    from hyperheat.workers.outcomes import WorkersError

    try:
        settings = read_settings([str(path) for path in paths], DEFAULTS)
        detector = load_model(model, setting=settings.model)
        selection = Selection(exclude=settings.exclude, gitignore=settings.gitignore)
        found = discover(paths, root=Path.cwd(), selection=selection)
        found = replace(found, files=tuple(file for file in found.files if not file.is_notebook))
        with Progress("calibrating", every=None) as progress:
            planted = plant_bugs(
                found.files,
                detector,
                samples=samples,
                seed=seed,
                jobs=jobs or settings.jobs or processors(),
                progress=lambda done: progress.show(done / samples, f"{done:,} functions"),
            )
        own = measure_planted(planted, detector.calibration)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    empty = detector.calibration.why_empty("A")
    if json:
        sys.stdout.write(json_module.dumps(_own_content(planted, own, seed), indent=1) + "\n")
    else:
        sys.stdout.write("\n".join(_own_text(planted, own, empty)) + "\n")


def _own_content(planted: "Planted", own: "Mapping[str, OfTier]", seed: int) -> dict[str, Any]:
    counts = {"files": planted.files, "unread": planted.unread, "functions": planted.functions}
    return {**counts, "seed": seed, "tiers": {tier: asdict(row) for tier, row in own.items()}}


def _own_text(planted: "Planted", own: "Mapping[str, OfTier]", empty: str | None) -> "Iterator[str]":
    unread = f"; {planted.unread:,} files could not be read" if planted.unread else ""
    yield f"{planted.functions:,} functions in {planted.files:,} files, each unchanged and with one planted bug{unread}"
    yield ""
    if empty:
        yield f"Tier A is empty: {empty}."
    for tier, row in own.items():
        recall, alarms = row.recall, row.alarms
        yield (
            f"tier {tier}{' and better' if tier != 'A' else ''}: "
            f"{100 * recall.value:.1f} % of planted bugs are found, with the right repair "
            f"({100 * recall.lower:.1f} % to {100 * recall.upper:.1f} %);"
        )
        yield (
            f"  {1000 * alarms.value:.2g} alarms per 1,000 unchanged functions "
            f"({1000 * alarms.lower:.2g} to {1000 * alarms.upper:.2g})"
        )
    if own:
        yield "Alarms may be real bugs: review them with `hyperheat check`."
        yield ""
        yield " ".join([f"{'kind':<22} {'planted':>8}", *(f"{f'tier {tier}':>8}" for tier in own)])
    rows = list(own.values())
    for kind, (count, _) in rows[0].kinds.items() if rows else ():
        yield " ".join([f"{kind:<22} {count:>8,}", *(f"{row.kinds[kind][1]:>8,}" for row in rows)])
