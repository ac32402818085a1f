"""`hyperheat bugs calibrate`: measure an exported detector, from which its tiers follow."""

import json as json_module
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail
from hyperheat.cli.unedited_packages import look_at_packages
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.check.unedited import SeenPackage
    from hyperheat.detector.calibration import Calibration, Curve
    from hyperheat.detector.measurement import Measured, Outcome
    from hyperheat.detector.sample import Sample

__all__ = ["calibrate_detector"]

_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
_Share = Annotated[float, Parameter(validator=validators.Number(gt=0, lt=1))]
_Tags = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]
_SUREST = 50


def calibrate_detector(
    *,
    model: Path,
    data: Path | None = None,
    realbugs: Path | None = None,
    unedited: Path | None = None,
    workspace: Path | None = None,
    functions: _Positive = 500,
    tag: _Tags = (),
    without: _Tags = (),
    bug_rate: _Share = 0.05,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=2))] = 4_000,
    jobs: Annotated[_Positive, Parameter(alias="-j")] = 1,
    json: bool = False,
) -> None:
    """Measure a detector and write calibration.json, from which its tiers follow.

    Confidence is fitted on validation packages; bugs are counted in test packages, where they are planted, and among real
    fixes; alarms are counted in packages as they were released. What is not given is taken from the earlier calibration,
    if there is one. The measured figures are added to the model card. After an interruption, run the same command again.

    Parameters
    ----------
    model
        Folder written by `bugs export`.
    data
        Folder written by `bugs corpus`, whose valid and test packages the model was not trained on.
    realbugs
        Folder written by `bugs mine` or `bugs realise`, preferably with --with-clean.
    unedited
        Packages that the model was not trained on, in which alarms are counted: a file with one name or name==version
        per line, or a folder with a sub-folder for each.
    workspace
        Folder for the wheels of these packages and for what was found in each.
    functions
        Maximum number of functions of each of these packages.
    tag
        Only use real fixes with these tags, such as fix.
    without
        Skip real fixes with these tags, such as test.
    bug_rate
        Share of functions with a bug that confidence assumes; tiers do not depend on it.
    limit
        Maximum number of samples of each split, half of them without a bug, and of real fixes.
    jobs
        Number of processes that look at unedited packages.
    json
        Print the result as JSON.
    """
    from hyperheat.bugs.held_out import draw_functions
    from hyperheat.detector import Scorer
    from hyperheat.detector.calibration import add_calibration
    from hyperheat.detector.detector import load_detector
    from hyperheat.workers.outcomes import WorkersError

    try:
        if data is None and realbugs is None and unedited is None:
            raise ValueError("give at least one of --data, --realbugs and --unedited")
        if (unedited is None) != (workspace is None):
            raise ValueError("--unedited and --workspace are given together")
        scorer = Scorer.load(model)
        fixes = draw_functions(realbugs, "test", limit, tags=tag, without=without) if realbugs else ()
        measured = _measure(scorer, model, data, fixes, bug_rate, limit)
        add_calibration(model, measured.calibration)
        seen: dict[str, SeenPackage] = {}
        if unedited is not None and workspace is not None:
            detector = load_detector(model)
            seen = look_at_packages(unedited, workspace, detector, functions=functions, jobs=jobs)
            measured = replace(measured, calibration=_with_alarms(measured.calibration, seen))
            add_calibration(model, measured.calibration)
    except (ValueError, OSError, ImportError, WorkersError) as error:
        fail(error)
    if json:
        options = {"limit": limit, "tag": list(tag), "without": list(without), "functions": functions}
        options |= {"realbugs": realbugs is not None, "unedited": unedited is not None}
        content = {"model": scorer.fingerprint, "options": options, **_content(measured, seen)}
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write("\n".join(_table(measured.calibration)) + "\n")


def _measure(
    scorer: Any, model: Path, data: Path | None, fixes: "Iterable[Sample]", bug_rate: float, limit: int
) -> "Measured":
    """Curves over known bugs: new ones, or those of the earlier calibration where nothing new is given."""
    from hyperheat.bugs.held_out import draw_functions
    from hyperheat.detector.detector import load_detector
    from hyperheat.detector.measurement import calibrate, measure_fixes

    if data is not None:
        valid, test = (draw_functions(data, split, limit) for split in ("valid", "test"))
        return calibrate(scorer, valid, test, fixes=fixes, bug_rate=bug_rate, progress=_progress)
    return measure_fixes(scorer, load_detector(model).calibration, fixes, progress=_progress)


def _with_alarms(calibration: "Calibration", seen: "Mapping[str, SeenPackage]") -> "Calibration":
    from hyperheat.detector.measurement import count_alarms

    alarms = count_alarms(
        {name: package.functions for name, package in seen.items()},
        not_judged=sum(package.not_judged for package in seen.values()),
        slope=calibration.slope,
        intercept=calibration.intercept,
    )
    return replace(calibration, alarms=alarms)


def _progress(outcomes: "Iterable[Outcome]", data: str) -> "Iterator[Outcome]":
    """Pass outcomes on, with their number and rate on stderr."""
    count = 0
    with Progress(data, unit="functions") as progress:
        for outcome in outcomes:
            yield outcome
            count += 1
            progress.advance()
        progress.say(f"{data}: {count:,} functions")


def _content(measured: "Measured", seen: "Mapping[str, SeenPackage]") -> dict[str, Any]:
    from hyperheat.detector.measurement import count_by_kind

    calibration = measured.calibration
    kinds = [
        {"data": data, "tier": tier, "kinds": count_by_kind(outcomes, threshold)}
        for data, outcomes in measured.outcomes.items()
        for tier, threshold in calibration.tiers.items()
    ]
    return {
        "calibration": json_module.loads(calibration.to_json()),
        "tiers": dict(calibration.tiers),
        "empty": {tier: calibration.why_empty(tier) for tier in ("safe", *"ABC")},
        "kinds": kinds,
        "surest": list(_surest(calibration, seen)),
    }


def _surest(calibration: "Calibration", seen: "Mapping[str, SeenPackage]") -> Iterator[dict[str, Any]]:
    """The surest findings in unedited code, for a reader to judge."""
    findings = [(finding, name) for name, package in seen.items() for finding in package.sure]
    findings.sort(key=lambda pair: (-pair[0].log_probability, pair[1], pair[0].path, pair[0].line))
    for finding, package in findings[:_SUREST]:
        values = asdict(finding)
        sure = calibration.confidence(values.pop("log_probability"))
        yield {"package": package, "confidence": sure, "tier": calibration.tier(sure), **values}


def _table(calibration: "Calibration") -> Iterator[str]:
    from hyperheat.alarm_rate import describe_rate
    from hyperheat.detector.alarms import RATES

    yield f"confidence = logistic({calibration.slope:.3f} * log-odds {calibration.intercept:+.3f})"
    for curve in calibration.curves:
        yield (
            f"{curve.data}: {curve.functions:,} functions, {curve.bugs:,} with a bug; calibration error {curve.error:.1%} "
            f"if {calibration.bug_rate:.1%} of functions have a bug"
        )
    if calibration.alarms is None:
        yield "no tiers: alarms were not measured (--unedited)"
        return
    alarms = calibration.alarms
    yield f"unedited packages: {alarms.functions:,} functions of {alarms.packages:,} packages"
    yield ""
    yield " ".join(
        [
            f"{'':>6} {'confidence':>10} {'alarms':>7} {'per 1,000':>10} {'at most':>8}",
            *_heads(calibration.curves),
        ]
    )
    begins = {threshold: tier for tier, threshold in reversed(list(calibration.tiers.items()))}
    last = None
    for point in alarms.points:
        if point.confidence not in begins and (point.alarms == last or round(point.confidence * 1000) % 100):
            continue
        last = point.alarms
        rate = 1000 * point.alarms / alarms.functions
        found = (
            f"{curve.found(point.confidence):>8,} {curve.recall(point.confidence):>7.1%}"
            for curve in calibration.curves
        )
        name = begins.get(point.confidence, "")
        yield " ".join(
            [
                f"{name:>6} {point.confidence:>10.3f} {point.alarms:>7,} {rate:>10.3f} {1000 * point.upper:>8.3f}",
                *found,
            ]
        )
    for tier, rate in RATES.items():
        if reason := calibration.why_empty(tier):
            yield f"{tier} (at most {describe_rate(rate)}) is empty: {reason}"


def _heads(curves: "Iterable[Curve]") -> list[str]:
    return [f"{curve.data.split()[0] + ' bugs found':>16}" for curve in curves]
