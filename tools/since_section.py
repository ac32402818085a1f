"""The section on pull requests of the checker's page: what `--since` reports."""

from typing import Any

from tables import number, percent, table

_SHOWN = {"A": "tier A", "B": "tiers A and B", "all": "all (`--show-all`)"}
_MODES = {"since": "`--since`", "absolute": "`--since --absolute`"}


def since_section(content: dict[str, Any]) -> list[str]:
    """The lines of the section, from what `python -m benchmarks.since --json` wrote."""
    bugs, commits = content["bugs"], content["commits"]
    named = ", ".join(
        f"{name.replace('+', '/')} ({count})" for name, count in commits["repositories"].items()
    )
    return [
        "## Pull requests",
        "",
        "What `hyperheat check --since` reports, beside `--absolute`, which shows all findings in functions that changed. From `since.json`.",
        "",
        f"- *bugs found*: {bugs['count']:,} real bugs at the moment they are made, a fix reversed: the repaired file is the version before, the file",
        f"  with the bug the change. They are the {content['split']} split of [`data/released_bugs.jsonl.gz`](../../data/README.md), as far as it can be",
        "  had. Place and repair must be right.",
        f"- *alarms*: findings in {commits['count']:,} commits that are no merges, change one to twenty Python files, and whose subject speaks of no fix,",
        f"  the newest of each repository; {commits['functions']:,} functions changed. Some of these findings may be right: nobody read them.",
        "",
        *table(
            ["shown", "", "bugs found", "alarms per 100 commits", "commits with an alarm"],
            [_row(content, level, mode) for level in _SHOWN for mode in _MODES],
        ),
        "",
        f"Repositories: {named}.",
        "",
        "```sh",
        "python -m benchmarks.since REPOS/* --bugs data/released_bugs.jsonl.gz --split "
        f"{content['split']} --commits {commits['asked']} --work WORK --json > docs/results/since.json",
        "python tools/write_results.py",
        "```",
        "",
    ]


def _row(content: dict[str, Any], level: str, mode: str) -> list[str]:
    bugs, commits = content["bugs"], content["commits"]
    found, alarms = bugs["found"][level][mode], commits["alarms"][level]
    with_alarm = alarms[f"{mode}_commits"]
    return [
        _SHOWN[level],
        _MODES[mode],
        f"**{percent(found / bugs['count'] if bugs['count'] else None)}** ({number(found)})",
        f"**{100 * alarms[mode] / commits['count']:.1f}** ({number(alarms[mode])})"
        if commits["count"]
        else "-",
        f"{percent(with_alarm / commits['count'] if commits['count'] else None)} ({number(with_alarm)})",
    ]
