"""The page of the checker: what its findings are worth, and how long scans take."""

from typing import Any

from tables import fixes_command, number, percent, table
from why_section import why_section

from benchmarks.check import STEPS


def check_page(content: dict[str, Any], why: dict[str, Any] | None = None) -> str:
    """The page from what `tools/collect_check.py` wrote, and from `python -m benchmarks.why --json`."""
    measured, speed, fixes = (content[key] for key in ("calibration", "speed", "realbugs"))
    calibration = measured["calibration"]
    return "\n".join(
        [
            "# The checker: what findings are worth, and how long scans take",
            "",
            "A finding counts as right only if both the place and the repair are those of the bug. Every function counts once as it is and,",
            "on held-out packages, once with a planted bug; functions with fewer than six candidate rewrites",
            "are not among them, since `hyperheat check` does not judge them; real bugs in such functions count as not found.",
            "Written by `python tools/write_results.py` from `check.json` and `why.json`.",
            "",
            "- *recall*: bugs that are found. *false alarms*: functions without a bug that have a finding.",
            f"- *precision*: findings that are right, if {percent(calibration['bug_rate'])} of functions have a bug. That share is an assumption: data with",
            "  planted bugs cannot tell it, and in real code it is lower. *at least*: where the 95 % interval begins; it takes in",
            "  that false alarms are counted on few functions, and that functions of one package are alike.",
            "- *calibration error*: how far confidence is from the share that is right, over findings with a confidence of 0.1 or more.",
            "",
            "## Tiers",
            "",
            "`hyperheat check` shows tier A unless it is told. Tiers are chosen on held-out packages: A begins at the lowest confidence, of 0.5 or",
            "more, whose precision reaches 0.8 there, B at the lowest that reaches 0.5; or where *at least* is highest if none does.",
            "",
            *_tiers(measured),
            "",
            *_data(calibration, fixes),
            "",
            "## Tier A by kind of bug",
            "",
            *_kinds(measured["tiers"]),
            "",
            "## By confidence",
            "",
            *_curves(calibration["curves"]),
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
            *_commands(measured, speed, fixes),
            "```",
            "",
        ]
    )


def _tiers(measured: dict[str, Any]) -> list[str]:
    titles = ["data", "tier", "confidence from", "recall", "false alarms", "precision", "at least"]
    return table(titles, [_tier(row, measured["calibration"]["tiers"]) for row in measured["tiers"]])


def _tier(row: dict[str, Any], thresholds: dict[str, float]) -> list[str]:
    point = row["point"]
    precision = ["too few were found to say", ""]
    if point is not None:
        precision = [percent(point[key]) for key in ("precision", "lower")]
    clean, alarms = row["kinds"]["clean"]
    bugs, found = (sum(counts[i] for kind, counts in row["kinds"].items() if kind != "clean") for i in (0, 1))
    return [
        row["data"],
        row["tier"],
        f"{thresholds[row['tier']]:.3f}",
        f"**{percent(found / bugs)}** ({found:,} of {bugs:,})",
        f"{percent(alarms / clean, 2)} ({alarms:,} of {clean:,})",
        *precision,
    ]


def _data(calibration: dict[str, Any], fixes: dict[str, Any] | None) -> list[str]:
    lines = [
        f"- Calibration error on {curve['data']}: {percent(curve['error'])}."
        for curve in calibration["curves"]
    ]
    if fixes:
        after = "after the fix" if fixes["with_clean"] else "of held-out packages"
        lines.append(
            f"- Real fixes: the functions with a bug are those before a fix, the others those {after}."
        )
    return lines


def _kinds(tiers: list[dict[str, Any]]) -> list[str]:
    counted = {row["data"]: row["kinds"] for row in tiers if row["tier"] == "A"}
    kinds = sorted({kind for kinds in counted.values() for kind in kinds} - {"clean"})
    titles = ["kind", *(title for data in counted for title in (f"{data}: bugs", "found"))]
    rows = [[kind, *(cell for data in counted.values() for cell in _found(data.get(kind)))] for kind in kinds]
    return table(titles, rows)


def _found(counts: list[int] | None) -> list[str]:
    if counts is None:
        return ["0", ""]
    total, found = counts
    return [number(total), f"{found:,} ({percent(found / total)})"]


def _curves(curves: list[dict[str, Any]]) -> list[str]:
    """Every tenth, and the highest that was measured."""
    points = {curve["data"]: {point["confidence"]: point for point in curve["points"]} for curve in curves}
    thresholds = sorted(
        {c for found in points.values() for c in found if round(100 * c) % 10 == 0 or c == max(found)}
    )
    titles = ["confidence from"]
    for data in points:
        titles += [f"{data}: precision", "at least", "recall", "false alarms"]
    keys = {"precision": 1, "lower": 1, "recall": 1, "false_alarms": 2}
    rows = []
    for c in thresholds:
        cells = [f"{c:.3f}"]
        for found in points.values():
            cells += [percent(found[c][key], digits) if c in found else "" for key, digits in keys.items()]
        rows.append(cells)
    return table(titles, rows)


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


def _commands(measured: dict[str, Any], speed: dict[str, Any], fixes: dict[str, Any] | None) -> list[str]:
    options = measured["options"]
    given = [f"--limit {options['limit']}", f"--bug-rate {measured['calibration']['bug_rate']}"]
    lines, told = [], ""
    if fixes:
        lines, told = [fixes_command(fixes)], " --realbugs REALBUGS"
        given.append("--realbugs REALBUGS")
        given += [f"--{name} {value}" for name in ("tag", "without") for value in options[name]]
    bench = f"--repeats {speed['repeats']} -j {speed['jobs']}"
    return [
        *lines,
        "hyperheat bugs export --model RUN/best --data CORPUS --out MODEL",
        f"hyperheat bugs calibrate --model MODEL --data CORPUS {' '.join(given)} --json > calibration.json",
        f"python -m benchmarks.check {speed['code'].upper()} --model MODEL {bench} --json > speed.json",
        f"python tools/collect_check.py --calibration calibration.json --speed speed.json{told}",
        "python tools/write_results.py",
    ]
