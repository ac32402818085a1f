"""`hyperheat calibrate` on your own code, and `hyperheat bugs calibrate` for an exported detector."""

import json as json_module
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.cli.options import DEFAULTS, read_settings
from hyperheat.cli.refusal import fail
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.check.planted_bugs import OwnCode, Planted
    from hyperheat.detector.calibration import Curve, Point
    from hyperheat.detector.measurement import Measured, Outcome, Share

__all__ = ["calibrate", "calibrate_detector"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
_Share = Annotated[float, Parameter(validator=validators.Number(gt=0, lt=1))]
_Tags = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]


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
    """Plant bugs in your own functions, in memory, and report how many are found.

    Checks the same files as `hyperheat check`, with the settings in pyproject.toml. No file is changed and no code is run.
    A finding in unchanged code counts as a false alarm, although it may be a real bug.

    Parameters
    ----------
    paths
        Files and folders of Python code.
    model
        Folder of an exported and calibrated detector. Default: the model in the package.
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
    from hyperheat.check.planted_bugs import measure_planted, plant_bugs
    from hyperheat.check.settings import processors
    from hyperheat.detector.detector import load_detector
    from hyperheat.workers.worker import WorkersError

    try:
        detector = load_detector(model)
        settings = read_settings([str(path) for path in paths], DEFAULTS)
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
    if json:
        content = _own_content(planted, own, seed=seed, bug_rate=detector.calibration.bug_rate)
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write(_own_text(planted, own, detector.calibration.bug_rate) + "\n")


def _own_content(planted: "Planted", own: "OwnCode", **settings: Any) -> dict[str, Any]:
    counts = {"files": planted.files, "unread": planted.unread, "functions": planted.functions}
    return {**counts, **settings, **asdict(own)}


def _own_text(planted: "Planted", own: "OwnCode", bug_rate: float) -> str:
    unread = f"; {planted.unread:,} files could not be read" if planted.unread else ""
    return "\n".join(
        [
            f"{planted.functions:,} functions in {planted.files:,} files, each unchanged and with one planted bug{unread}",
            "",
            f"with the default settings (tier A, confidence {own.threshold:g} or more):",
            f"  recall        {_percentage(own.recall)} of planted bugs are found, with the right repair",
            f"  false alarms  {_percentage(own.false_alarms, 2)} of unchanged functions have a finding",
            "                Some of these may be real bugs: review them with `hyperheat check`.",
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


def _percentage(share: "Share", digits: int = 1) -> str:
    value, lower, upper = (
        f"{100 * number:.{digits}f} %" for number in (share.value, share.lower, share.upper)
    )
    return f"{value} ({lower} to {upper})"


def _recommendation(own: "OwnCode", bug_rate: float) -> str:
    point = own.recommended
    if point is None:
        return f"no recommendation for this code, keep the default: {own.problem}"
    return (
        f"recommended for this code: --min-confidence {point.confidence:g}\n"
        f"  {point.precision:.0%} of findings are right (at least {point.lower:.0%}, with 97.5 % certainty) "
        f"if {bug_rate:.1%} of functions have a bug;\n  {point.recall:.1%} of planted bugs are found"
    )


def calibrate_detector(
    *,
    model: Path,
    data: Path,
    realbugs: Path | None = None,
    tag: _Tags = (),
    without: _Tags = (),
    bug_rate: _Share = 0.05,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 4_000,
    json: bool = False,
) -> None:
    """Fit a detector's confidence on held-out packages and write calibration.json.

    Confidence is fitted on validation packages and measured on test packages and real fixes. The measured figures are
    added to the model card.

    Parameters
    ----------
    model
        Folder written by `bugs export`.
    data
        Folder written by `bugs corpus`, whose valid and test packages the model was not trained on.
    realbugs
        Folder written by `bugs mine` or `bugs realise`, preferably with --with-clean.
    tag
        Only use real fixes with these tags, such as fix.
    without
        Skip real fixes with these tags, such as test.
    bug_rate
        Assumed share of functions with a bug, for which precision is computed.
    limit
        Maximum number of samples of each split, half of them without a bug, and of real fixes.
    json
        Print the result as JSON.
    """
    from hyperheat.bugs.held_out import draw_functions
    from hyperheat.detector import Scorer
    from hyperheat.detector.calibration import add_calibration
    from hyperheat.detector.measurement import calibrate as calibrate_scorer

    try:
        scorer = Scorer.load(model)
        fixes = draw_functions(realbugs, "test", limit, tags=tag, without=without) if realbugs else ()
        measured = calibrate_scorer(
            scorer,
            draw_functions(data, "valid", limit),
            draw_functions(data, "test", limit),
            fixes=fixes,
            bug_rate=bug_rate,
            progress=_progress,
        )
        add_calibration(model, measured.calibration)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        options = {
            "limit": limit,
            "tag": list(tag),
            "without": list(without),
            "realbugs": realbugs is not None,
        }
        content = {"model": scorer.fingerprint, "options": options, **_content(measured)}
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write(_table(measured) + "\n")


def _progress(outcomes: "Iterable[Outcome]", data: str) -> "Iterator[Outcome]":
    """Pass outcomes on, with their number and rate on stderr."""
    count = 0
    with Progress(data, unit="functions") as progress:
        for outcome in outcomes:
            yield outcome
            count += 1
            progress.advance()
        progress.say(f"{data}: {count:,} functions")


def _content(measured: "Measured") -> dict[str, Any]:
    from hyperheat.detector.measurement import count_by_kind, measure_at

    calibration = measured.calibration
    tiers = [
        {
            "data": data,
            "tier": tier,
            "point": (point := measure_at(outcomes, threshold, calibration.bug_rate)) and asdict(point),
            "kinds": count_by_kind(outcomes, threshold),
        }
        for data, outcomes in measured.outcomes.items()
        for tier, threshold in calibration.tiers.items()
    ]
    return {"calibration": json_module.loads(calibration.to_json()), "tiers": tiers}


def _table(measured: "Measured") -> str:
    calibration = measured.calibration
    rows = [
        f"confidence = logistic({calibration.slope:.3f} * log-odds {calibration.intercept:+.3f})",
        f"precision holds if {calibration.bug_rate:.1%} of functions have a bug; at least: its 95 % interval begins there",
    ]
    for curve in calibration.curves:
        rows += ["", *_rows(curve, {value: tier for tier, value in calibration.tiers.items()})]
    return "\n".join(rows)


def _rows(curve: "Curve", tiers: dict[float, str]) -> Iterator[str]:
    yield (
        f"{curve.data}: {curve.functions:,} functions, {curve.bugs:,} with a bug, calibration error {curve.error:.1%}"
    )
    yield f"{'':>6} {'confidence':>10} {'precision':>10} {'at least':>10} {'recall':>10} {'false alarms':>13}"
    for point in curve.points:
        tier = tiers.get(point.confidence)
        if tier or round(point.confidence * 100) % 10 == 0 or point.confidence >= 0.99:
            yield _row(point, f"tier {tier}" if tier else "")


def _row(point: "Point", name: str) -> str:
    return (
        f"{name:>6} {point.confidence:>10.3f} {point.precision:>10.1%} {point.lower:>10.1%} "
        f"{point.recall:>10.1%} {point.false_alarms:>13.2%}"
    )
