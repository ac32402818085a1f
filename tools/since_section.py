"""The section on pull requests of the checker's page: what `--since` reports."""

from typing import Any

from built_in_model import earlier_note
from tables import number, percent, table

_SHOWN = {"A": "tier A", "B": "tiers A and B", "C": "tiers A to C", "all": "all (`--show-all`)"}
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
        *earlier_note(content["model"]),
        f"- *bugs found*: {bugs['count']:,} real bugs at the moment they are made, a fix reversed: the repaired file is the version before, the file",
        f"  with the bug the change. They are the {content['split']} split of [`data/released_bugs.jsonl.gz`](../../data/README.md), as far as it can be",
        "  had. Place and repair must be right. *functions pointed at*: functions with such a bug in which anything is reported.",
        f"- *alarms*: findings in {commits['count']:,} commits that are no merges, change one to twenty Python files, and whose subject speaks of no fix,",
        f"  the newest of each repository; {commits['functions']:,} functions changed. Some of these findings may be right: nobody read them.",
        *_fewer(commits),
        *_unearned(content["tiers"]),
        "",
        *table(
            [
                "shown",
                "",
                "bugs found",
                "functions pointed at",
                "alarms per 100 commits",
                "commits with an alarm",
            ],
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


def _unearned(tiers: dict[str, float]) -> list[str]:
    """Which tiers are empty, because alarms on unedited code do not allow them."""
    missing = [tier for tier in ("A", "B", "C") if tier not in tiers]
    return (
        [f"- This detector has earned no tier {' or '.join(missing)}, so nothing is in it."]
        if missing
        else []
    )


def _row(content: dict[str, Any], level: str, mode: str) -> list[str]:
    bugs, commits = content["bugs"], content["commits"]
    found, alarms = bugs["found"][level], commits["alarms"][level]
    return [
        _SHOWN[level],
        _MODES[mode],
        f"**{_share(found[mode], bugs['count'])}** ({number(found[mode])})",
        f"{_share(found[f'{mode}_functions'], bugs['count'])} ({number(found[f'{mode}_functions'])})",
        f"**{100 * alarms[mode] / max(commits['count'], 1):.1f}** ({number(alarms[mode])})",
        f"{_share(alarms[f'{mode}_commits'], commits['count'])} ({number(alarms[f'{mode}_commits'])})",
    ]


def _share(part: int, whole: int) -> str:
    return percent(part / whole if whole else None)


def _fewer(commits: dict[str, Any]) -> list[str]:
    """What to say if the command was stopped before all commits were looked at."""
    if commits["count"] >= commits["asked"]:
        return []
    return [
        f"  The command asks for {commits['asked']:,}; it was stopped before, and goes on when it is given again."
    ]
