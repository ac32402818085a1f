"""What the card of a model says of its findings: alarms on unedited code, and bugs found at the same confidence."""

import re
from collections.abc import Iterator

from hyperheat.alarm_rate import describe_rate
from hyperheat.detector.alarms import LEAST_GAIN, RATES, SAFE, Alarms
from hyperheat.detector.calibration import Calibration

__all__ = ["with_measured"]

_TITLE = "## What was measured"


def with_measured(card: str, calibration: Calibration) -> str:
    """The card with its section of measured figures replaced, or added at the end."""
    rest = re.sub(rf"\n*^{_TITLE}\n.*?(?=^## |\Z)", "\n\n", card, flags=re.DOTALL | re.MULTILINE)
    return "\n".join([rest.rstrip(), "", _TITLE, "", *_section(calibration), ""])


def _section(calibration: Calibration) -> Iterator[str]:
    yield f"Functions with fewer than {calibration.min_candidates} candidate changes are not judged."
    if calibration.alarms is None:
        yield "Alarms on unedited code were not measured, so no finding has a tier."
        return
    alarms = calibration.alarms
    yield (
        f"Alarms are findings in {alarms.functions:,} functions of {alarms.packages:,} packages outside the training data, "
        "as they were released. A tier begins where alarms are at most as frequent as it allows, at the upper end of their "
        f"95 % interval; tier A, and what is safe to repair, must also find {calibration.evidence.data} at least "
        f"{LEAST_GAIN:g} times as often."
    )
    yield ""
    found = [f"{curve.data}: bugs found" for curve in calibration.curves]
    yield _row(["tier", "at most", "confidence from", "alarms", *found])
    yield _row(["---"] * (4 + len(found)))
    for tier, rate in RATES.items():
        name = "safe repairs" if tier == SAFE else tier
        yield _row([name, describe_rate(rate), *_figures(calibration, alarms, tier)])


def _figures(calibration: Calibration, alarms: Alarms, tier: str) -> list[str]:
    threshold = calibration.tiers.get(tier)
    if threshold is None:
        return ["empty", *[""] * (1 + len(calibration.curves))]
    point = next(point for point in alarms.points if point.confidence == threshold)
    found = [
        f"{curve.found(threshold):,} of {curve.bugs:,} ({curve.recall(threshold):.1%})"
        for curve in calibration.curves
    ]
    return [
        f"{threshold:.3f}",
        f"{point.alarms:,} (at most {1000 * point.upper:.2g} per 1,000 functions)",
        *found,
    ]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
