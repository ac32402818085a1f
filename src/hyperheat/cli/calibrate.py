"""`hyperheat calibrate`: how the checker does on your own code."""

import json as json_module
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.cli.options import DEFAULTS, read_settings
from hyperheat.cli.refusal import fail
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.check.own_code import OwnCode, Planted
    from hyperheat.detector.measuring import Share

__all__ = ["calibrate"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def calibrate(
    paths: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    model: Path | None = None,
    samples: _Positive = 500,
    seed: int = 0,
    jobs: Annotated[_Positive | None, Parameter(alias="-j")] = None,
    json: bool = False,
) -> None:
    """Plant bugs in the functions of your own code, in memory, and tell how many are found.

    The files are those of hyperheat check, by the settings in pyproject.toml. None is changed and no code is run.
    A finding in a function as it is counts as a false alarm, but may be a real bug.

    Parameters
    ----------
    paths
        Files and folders of Python code.
    model
        A folder that bugs export and bugs calibrate wrote; the model in the package unless given.
    samples
        At most so many functions, each of which is looked at as it is and with one bug.
    seed
        Decides the functions and the bugs.
    jobs
        Processes that work at the same time; as many as the settings say, or as there are processors, unless given.
    json
        Print one JSON object.
    """
    from hyperheat.check.detector import load_detector
    from hyperheat.check.discover import Selection, discover
    from hyperheat.check.own_code import judge_own_code, plant_bugs
    from hyperheat.check.settings import processors
    from hyperheat.workers.serve import WorkersError

    try:
        detector = load_detector(model)
        settings = read_settings([str(path) for path in paths], DEFAULTS)
        selection = Selection(exclude=settings.exclude, gitignore=settings.gitignore)
        found = discover(paths, root=Path.cwd(), selection=selection)
        with Progress("calibrating", every=None) as progress:
            planted = plant_bugs(
                found.files,
                detector,
                samples=samples,
                seed=seed,
                jobs=jobs or settings.jobs or processors(),
                progress=lambda done: progress.show(done / samples, f"{done:,} functions"),
            )
        own = judge_own_code(planted, detector.calibration)
    except (ValueError, OSError, WorkersError) as error:
        fail(error)
    if json:
        content = _content(planted, own, seed=seed, bug_rate=detector.calibration.bug_rate)
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write(_text(planted, own, detector.calibration.bug_rate) + "\n")


def _content(planted: "Planted", own: "OwnCode", **settings: Any) -> dict[str, Any]:
    counts = {"files": planted.files, "unread": planted.unread, "functions": planted.functions}
    return {**counts, **settings, **asdict(own)}


def _text(planted: "Planted", own: "OwnCode", bug_rate: float) -> str:
    unread = f"; {planted.unread:,} files could not be read" if planted.unread else ""
    return "\n".join(
        [
            f"{planted.functions:,} functions of {planted.files:,} files, each as it is and with one planted bug{unread}",
            "",
            f"at the default, tier A, confidence from {own.threshold:g}:",
            f"  recall        {_share(own.recall)}: planted bugs whose place and repair are found",
            f"  false alarms  {_share(own.false_alarms, 2)}: functions that have a finding as they are",
            "                Some of these may be real bugs: look at them with hyperheat check.",
            "",
            f"{'kind':<22} {'planted':>8} {'found':>8} {'false alarms':>13}",
            *(
                f"{kind:<22} {row.planted:>8,} {row.found:>8,} {row.false_alarms:>13,}"
                for kind, row in own.kinds.items()
            ),
            "",
            _recommendation(own, bug_rate),
        ]
    )


def _share(share: "Share", digits: int = 1) -> str:
    value, lower, upper = (
        f"{100 * number:.{digits}f} %" for number in (share.value, share.lower, share.upper)
    )
    return f"{value} ({lower} to {upper})"


def _recommendation(own: "OwnCode", bug_rate: float) -> str:
    point = own.recommended
    if point is None:
        return f"no threshold is recommended for this code, keep the default: {own.problem}"
    return (
        f"recommended for this code: --min-confidence {point.confidence:g}\n"
        f"  {point.precision:.0%} of findings are right (at least {point.lower:.0%}, with 97.5 % certainty) "
        f"if {bug_rate:.1%} of functions have a bug;\n  {point.recall:.1%} of planted bugs are found"
    )
