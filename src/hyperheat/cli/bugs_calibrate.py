"""`hyperheat bugs calibrate`: how far the findings of an exported detector can be trusted."""

import json as json_module
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail
from hyperheat.progress import Progress

if TYPE_CHECKING:
    from hyperheat.bugs.calibration import Measured
    from hyperheat.detector.calibration import Curve, Point
    from hyperheat.detector.measuring import Outcome

__all__ = ["calibrate"]

_Share = Annotated[float, Parameter(validator=validators.Number(gt=0, lt=1))]
_Tags = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]


def calibrate(
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
    """Fit the confidence of findings on validation packages, measure it on test packages and real fixes.

    Writes calibration.json into the folder of the model, and what was measured into its model card.

    Parameters
    ----------
    model
        A folder that bugs export wrote.
    data
        A folder that bugs corpus wrote, with packages that the model was not trained on in valid and test.
    realbugs
        A folder that bugs mine or bugs realise wrote, best with --with-clean.
    tag
        Only real fixes with these tags, such as fix.
    without
        No real fixes with these tags, such as test.
    bug_rate
        The share of functions with a bug that precision is computed for.
    limit
        At most so many samples of each split, half of them without a bug, and as many of real fixes.
    json
        Print one JSON object.
    """
    from hyperheat.bugs.calibrated import add_calibration
    from hyperheat.bugs.calibration import calibrate as calibrate_scorer
    from hyperheat.bugs.calibration import draw_functions
    from hyperheat.detector import Scorer

    try:
        scorer = Scorer.load(model)
        fixes = draw_functions(realbugs, "test", limit, tags=tag, without=without) if realbugs else ()
        measured = calibrate_scorer(
            scorer, data, fixes=fixes, bug_rate=bug_rate, limit=limit, progress=_progress
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
    with Progress(data, unit="functions") as progress:
        for outcome in outcomes:
            yield outcome
            progress.advance()


def _content(measured: "Measured") -> dict[str, Any]:
    from hyperheat.detector.measuring import count_by_kind, measure_at

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
