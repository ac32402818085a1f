"""The page of the checker: what its findings are worth, and how long scans take."""

from collections.abc import Iterator
from typing import Any

from tables import fixes_command, number, percent, table
from why_section import why_section

from benchmarks.check import STEPS
from hyperheat.alarm_rate import describe_rate
from hyperheat.detector.alarms import LEAST_GAIN, RATES, SAFE, Alarms
from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration

_PER_1000 = (0.03, 0.1, 0.3, 1, 3, 10, 30)
_BUGS = {HELD_OUT: "planted bugs", REAL_FIXES: "real bugs"}
_SHOWN = 12


def check_page(content: dict[str, Any], why: dict[str, Any] | None = None) -> str:
    """The page from what `tools/collect_check.py` wrote, and from `python -m benchmarks.why --json`."""
    measured, speed, fixes = (content[key] for key in ("calibration", "speed", "realbugs"))
    calibration = Calibration.from_plain(measured["calibration"])
    assert calibration.alarms is not None
    return "\n".join(
        [
            "# The checker: what findings are worth, and how long scans take",
            "",
            *_what_was_measured(calibration, calibration.alarms),
            *_seen_before(fixes),
            "",
            "## Tiers",
            "",
            *_tiers(calibration, calibration.alarms),
            "",
            "## Bugs found against alarms",
            "",
            "The lowest confidence that raised at most so many alarms, and the share of bugs that are found there.",
            "",
            *_recall(calibration, calibration.alarms),
            "",
            *_kinds(measured["kinds"]),
            *_surest(measured["surest"]),
            "## Confidence",
            "",
            *_confidence(calibration, fixes),
            "",
            *(why_section(why) if why else ()),
            "## Speed",
            "",
            *_speed(speed),
            "",
            "## Commands",
            "",
            "`CORPUS` and `RUN` are made as the page on [bugs](../bugs.md) says; all names in capitals are folders of your choice.",
            "",
            "```sh",
            *_commands(measured, calibration, speed, fixes),
            "```",
            "",
        ]
    )


def _seen_before(fixes: dict[str, Any] | None) -> list[str]:
    """A warning where real bugs are those by which the training was steered."""
    if fixes is None or "split=valid" not in fixes["where"]:
        return []
    return [
        "- These real bugs are of validation packages, not of the test split: the state of the detector was chosen by its loss on them,",
        "  so their figures may flatter it.",
    ]


def _what_was_measured(calibration: Calibration, alarms: Alarms) -> Iterator[str]:
    bugs = {curve.data: curve for curve in calibration.curves}
    yield "Written by `python tools/write_results.py` from `check.json` and `why.json`."
    yield ""
    yield (
        f"- *alarm*: a finding in code as it was released: {alarms.functions:,} functions of {alarms.packages:,} popular packages "
        "that the model was not trained on,"
    )
    yield (
        f"  listed in `data/unedited_packages.txt`. {alarms.not_judged:,} more functions were not judged: they have fewer than "
        f"{calibration.min_candidates} candidate changes, or are"
    )
    yield "  too large. Some alarms may be real bugs; nobody knows how many, and no figure here assumes it. *upper bound*: the upper end of the"
    yield "  95 % interval, which takes in that functions of one package are alike."
    yield f"- *planted bugs*: {bugs[HELD_OUT].bugs:,} of them, one in each function of other held-out packages."
    if REAL_FIXES in bugs:
        yield f"- *real bugs*: {bugs[REAL_FIXES].bugs:,} that people made and fixed. Those in functions that are not judged count as not found."
    yield "- *found*: both the place and the repair are those of the bug."


def _tiers(calibration: Calibration, alarms: Alarms) -> Iterator[str]:
    yield "`hyperheat check` shows tier A unless it is told. A tier begins at the lowest confidence whose alarms are at most as frequent as the"
    yield (
        "tier allows, at the upper end of their interval. Saying less and less is no merit: tier A, and what is *safe* to repair, must also find"
    )
    yield (
        f"{_BUGS[calibration.evidence.data]} at least {LEAST_GAIN:g} times as often as it raises alarms, at the lower end of that interval; "
        "otherwise it is empty."
    )
    yield ""
    titles = ["tier", "at most", "confidence from", "alarms", "per 1,000 functions", "upper bound"]
    rows = []
    for tier, rate in RATES.items():
        threshold = calibration.tiers.get(tier)
        name = "safe repairs" if tier == SAFE else tier
        if threshold is None:
            rows.append([name, describe_rate(rate), "empty", *[""] * (3 + len(calibration.curves))])
        else:
            rows.append([name, describe_rate(rate), *_figures(calibration, alarms, threshold)])
    yield from table([*titles, *(_BUGS[curve.data] for curve in calibration.curves)], rows)
    reasons = {tier: calibration.why_empty(tier) for tier in RATES}
    if any(reasons.values()):
        yield ""
    for tier, reason in reasons.items():
        if reason:
            yield f"- {'Safe repairs' if tier == SAFE else f'Tier {tier}'}: {reason}."


def _figures(calibration: Calibration, alarms: Alarms, threshold: float) -> list[str]:
    point = next(point for point in alarms.points if point.confidence == threshold)
    found = (
        f"{curve.found(threshold):,} of {curve.bugs:,} ({percent(curve.recall(threshold))})"
        for curve in calibration.curves
    )
    rates = [f"{1000 * rate:.2g}" for rate in (point.alarms / alarms.functions, point.upper)]
    return [f"{threshold:.3f}", f"{point.alarms:,}", *rates, *found]


def _recall(calibration: Calibration, alarms: Alarms) -> list[str]:
    titles = ["at most", "confidence from", "alarms", "per 1,000 functions", "upper bound"]
    rows = []
    for most in _PER_1000:
        if alarms.rate(alarms.points[-1].confidence) <= most / 1000:
            threshold = calibration.at_rate(most / 1000)
            rows.append([f"{most:g} per 1,000", *_figures(calibration, alarms, threshold)])
    return table([*titles, *(_BUGS[curve.data] for curve in calibration.curves)], rows)


def _kinds(kinds: list[dict[str, Any]]) -> list[str]:
    """For the lowest tier that there is, since others find few real bugs."""
    tier = max((row["tier"] for row in kinds if row["tier"] != SAFE), default=None)
    counted = {row["data"]: row["kinds"] for row in kinds if row["tier"] == tier}
    if not counted:
        return []
    names = sorted({kind for of_data in counted.values() for kind in of_data} - {"clean"})
    titles = ["kind", *(title for data in counted for title in (_BUGS[data], "found"))]
    rows = [[kind, *(cell for data in counted.values() for cell in _found(data.get(kind)))] for kind in names]
    better = "" if tier == "A" else " and better"
    return [f"## Tier {tier}{better}, by kind of bug", "", *table(titles, rows), ""]


def _found(counts: list[int] | None) -> list[str]:
    if counts is None:
        return ["0", ""]
    total, found = counts
    return [number(total), f"{found:,} ({percent(found / total)})"]


def _surest(findings: list[dict[str, Any]]) -> list[str]:
    if not findings:
        return []
    rows = [
        [
            f"{row['confidence']:.3f}",
            row["package"],
            f"`{row['path']}:{row['line']}`",
            row["message"].replace("|", "\\|"),
        ]
        for row in findings[:_SHOWN]
    ]
    return [
        "## The surest findings in unedited code",
        "",
        "Read them to see what the top of the ranking looks like.",
        "",
        *table(["confidence", "package", "place", "finding"], rows),
        "",
    ]


def _confidence(calibration: Calibration, fixes: dict[str, Any] | None) -> Iterator[str]:
    rate = percent(calibration.bug_rate)
    yield "Confidence ranks findings. It is fitted on planted bugs as the share of findings that are right if"
    yield (
        f"{rate} of functions have a bug: an assumption that no data can tell, and too many for real code. Tiers do not depend on it."
    )
    yield ""
    for curve in calibration.curves:
        yield (
            f"- Calibration error on {_BUGS[curve.data]}, if {rate} of functions have a bug: {percent(curve.error)}, over findings of a confidence "
            "of 0.1 or more."
        )
    if fixes:
        after = "after the fix" if fixes["with_clean"] else "of held-out packages"
        yield f"- Real bugs: the functions with a bug are those before a fix, the others those {after}."


def _speed(speed: dict[str, Any]) -> list[str]:
    names = {**STEPS, "pylint": f"pylint -j{speed['jobs']}"}
    rows = [
        [names[step], f"{seconds:.2f}", number(speed["peak_mb"].get(step) or "")]
        for step, seconds in speed["seconds"].items()
    ]
    lines = [
        f"The source of {speed['code']}: {speed['files']:,} files, {speed['lines']:,} lines; {speed['jobs']} processes, medians of "
        f"{speed['repeats']} turns. Memory is that",
        "of all processes together, what they share counted once.",
        "",
        *table(["", "seconds", "peak MB"], rows),
        "",
        f"One changed function costs {speed['changed_after']['ready']:.2f} s after the start with a worker and the model, "
        f"{speed['changed_after']['start']:.2f} s after the",
        "start alone.",
    ]
    if speed["over_pylint"] is not None:
        lines.append(
            f"A cold scan takes **{speed['over_pylint']:.2f} times** as long as pylint in the same run."
        )
    return lines


def _commands(
    measured: dict[str, Any], calibration: Calibration, speed: dict[str, Any], fixes: dict[str, Any] | None
) -> list[str]:
    options = measured["options"]
    given = [f"--limit {options['limit']}", f"--bug-rate {calibration.bug_rate}"]
    lines, told = [], ""
    if fixes:
        lines, told = [fixes_command(fixes)], " --realbugs REALBUGS"
        given.append("--realbugs REALBUGS")
        given += [f"--{name} {value}" for name in ("tag", "without") for value in options[name]]
    alarms = f"--unedited data/unedited_packages.txt --workspace WORK --functions {options['functions']}"
    bench = f"--repeats {speed['repeats']} -j {speed['jobs']}"
    return [
        *lines,
        "hyperheat bugs export --model RUN/best --data CORPUS --out MODEL",
        f"hyperheat bugs calibrate --model MODEL --data CORPUS {' '.join(given)} \\",
        f"  {alarms} --json > calibration.json",
        f"python -m benchmarks.check {speed['code'].upper()} --model MODEL {bench} --json > speed.json",
        f"python tools/collect_check.py --calibration calibration.json --speed speed.json{told}",
        "python tools/write_results.py",
    ]
