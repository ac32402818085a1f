"""The section on pull requests, from figures made up by hand."""

import runpy
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"
since_section = runpy.run_path(str(TOOLS / "write_results.py"))["since_section"]

FOUND = {"since": 2, "since_functions": 5, "absolute": 3, "absolute_functions": 10}
ALARMS = {"since": 7, "since_commits": 6, "absolute": 1_234, "absolute_commits": 100}
CONTENT = {
    "model": "0" * 64,
    "split": "valid",
    "margin": 0.693,
    "tiers": {"A": 0.5, "B": 0.2},
    "bugs": {"count": 200, "found": dict.fromkeys(("A", "B", "C", "all"), FOUND)},
    "commits": {
        "asked": 400,
        "count": 400,
        "repositories": {"owner+name": 300, "plain": 100},
        "functions": 2_000,
        "alarms": dict.fromkeys(("A", "B", "C", "all"), ALARMS),
    },
}


def test_the_figures_are_shares_of_bugs_and_commits():
    text = "\n".join(since_section(CONTENT))
    assert "| tier A | `--since` | **1.0 %** (2) | 2.5 % (5) | **1.8** (7) | 1.5 % (6) |" in text
    assert (
        "| all (`--show-all`) | `--since --absolute` | **1.5 %** (3) | 5.0 % (10) | **308.5** (1,234) | 25.0 % (100) |"
        in text
    )
    assert "Repositories: owner/name (300), plain (100)." in text
    assert "--split valid --commits 400 --work WORK --json > docs/results/since.json" in text
    assert "stopped before" not in text
    assert "This detector has earned no tier C, so nothing is in it." in text


def test_fewer_commits_than_asked_for_are_told():
    fewer = {**CONTENT, "commits": {**CONTENT["commits"], "count": 0}}
    text = "\n".join(since_section(fewer))
    assert "The command asks for 400; it was stopped before" in text
    assert "| tier A | `--since` | **1.0 %** (2) | 2.5 % (5) | **700.0** (7) | - (6) |" in text
