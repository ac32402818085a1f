"""`hyperheat explain`: rules, and lines of code."""

import json
import re

import pytest
from tests.cli.scans import BUGGY, CLEAN, Project

from hyperheat.alarm_rate import MEANING, describe_rate
from hyperheat.report import RULES
from hyperheat.report.finding_causes import METHOD


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_has_a_page(project: Project, rule):
    for name in (rule.id, rule.id.lower(), rule.name):
        code, out, _ = project.run("explain", name)
        assert code == 0
        assert out.startswith(f"{rule.id} {rule.name}\n{rule.summary}\n\n")
        assert out.count("What is reported (-)") == len(rule.kinds)
        assert ("# hyperheat: ignore[" in out) == bool(rule.kinds)


def test_a_page_shows_the_bug_and_its_repair(project: Project):
    assert project.run("explain", "HH201").out.endswith(
        "What is reported (-) and the suggested repair (+):\n\n"
        "      def f(a, b):\n"
        "    -     g(b, a, k=1)\n"
        "    +     g(a, b, k=1)\n\n"
        "To suppress it on a line:  # hyperheat: ignore[HH201] and why\n"
    )


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("HH1O1", "did you mean HH101?"),
        ("hh3O1", "did you mean HH301?"),
        ("variable-missuse", "did you mean variable-misuse?"),
        ("what", "the rules are HH101, HH201, HH301, HH302, HH401, HH900, HH901"),
    ],
)
def test_an_unknown_rule_has_a_nearest_one(project: Project, target: str, hint: str):
    code, out, err = project.run("explain", target)
    assert (code, out) == (2, "")
    assert err == f"{target}: neither a rule nor FILE:LINE[:COLUMN]; {hint}\n"


def test_a_line(project: Project):
    project.write(a=BUGGY)
    code, out, _ = project.run("explain", "a.py:5")
    assert code == 0
    assert out == (
        "a.py:5 in scale, lines 5 to 6\n\n"
        "Nothing to explain at a.py:5: no rule applies to what is there.\n\n"
        "     > 5 | def scale(a, b):\n"
        "0.65   6 |     return a - a  # 0.65\n\n"
        "The numbers beside the code, and confidences, compare places; they are not shares of right findings.\n"
        f"{MEANING}\n\n"
        "What may be wrong, most likely first:\n\n"
        "6:16  HH101  did you mean `b` instead of `a`?  [tier B, 1 alarm in 400 functions]\n"
        "         Not reported: only tier A and better are shown (--tier, --show-all).\n"
    )


@pytest.mark.parametrize("target", ["a.py:2:16", "a.py:2"])
def test_a_place(project: Project, target: str):
    project.write(a=BUGGY)
    code, out, _ = project.run("explain", target)
    assert code == 0
    assert out.startswith(f"{target} in area, lines 1 to ")
    _, shown, _ = project.run("check", "a.py", "--no-cache")
    assert shown.strip() in out  # number, tier, message and repair are what `check` says
    assert (
        "\n\nReported.\n\n"
        "1 | def area(a, b):\n"
        "  |             1\n"
        "2 |     return a * a  # 0.95\n"
        "  |                ^\n\n"
        "Why: without one of these, the confidence of 0.950 falls to\n"
        "  1  0.125  `b` (line 1)\n"
        "7 parts were tried; 2 others, farther from the place, were not.\n"
    ) in out
    assert METHOD in " ".join(out.split())


def test_other_places_of_the_function_are_listed_below(project: Project):
    project.write(a=BUGGY.replace("# 0.95\n", "# 0.95\n    return b - a  # 0.65\n"))
    assert (
        "\nWhat else may be wrong, most likely first:\n\n3:16  HH101  did you mean"
        in project.run("explain", "a.py:2").out
    )
    project.write(a=BUGGY)
    assert project.run("explain", "a.py:2").out.endswith("\nNothing else is suspicious.\n")


def test_a_column_without_anything_to_judge(project: Project):
    project.write(a=BUGGY)
    code, out, _ = project.run("explain", "a.py:2:3")
    assert code == 0
    assert "\nNothing to explain at a.py:2:3: no rule applies to what is there.\n" in out


def test_what_check_prints_can_be_explained(project: Project):
    project.write(a=BUGGY)
    _, shown, _ = project.run("check", "a.py", "--no-cache")
    (place,) = re.findall(r"--> (\S+) in", shown)
    code, out, _ = project.run("explain", place)
    assert (code, out.startswith(f"{place} in area, ")) == (0, True)


def test_a_cell_of_a_file_without_cells(project: Project):
    project.write(a=BUGGY)
    code, out, err = project.run("explain", "a.py:cell 1:2:16")
    assert (code, out, err) == (2, "", "a.py: has no cells: only notebooks have\n")


def test_what_explain_says_is_what_check_says(project: Project):
    project.write(a=BUGGY)
    explained = project.run("explain", "a.py:1").out
    said = "did you mean `b` instead of `a`?  [tier A, 1 alarm in 40,000 functions]\n"
    assert f"2:16  HH101  {said}         Reported.\n" in explained
    assert said in project.run("check").out
    assert "tier A, 1 alarm in 40,000 functions" in project.run("check", "--output-format", "github").out
    assert "tier A, 1 alarm in 40,000 functions" in project.run("check", "--output-format", "html").out
    assert "tier A, 1 alarm in 40,000 functions" in project.run("check", "--output-format", "sarif").out
    (finding,) = json.loads(project.run("check", "--output-format", "json").out)["findings"]
    assert describe_rate(finding["alarm_rate"]) == "1 alarm in 40,000 functions"


def test_colours(project: Project):
    project.write(a=BUGGY)
    project.patch.setenv("FORCE_COLOR", "1")
    out = project.run("explain", "a.py:1").out
    assert "return a * \x1b[1;31ma\x1b[0m  # 0.95" in out
    assert "\x1b[1;31m[tier A, 1 alarm in 40,000 functions]\x1b[0m" in out


@pytest.mark.parametrize(
    ("settings", "comment", "reason"),
    [
        ('ignore = ["HH1"]', "", "HH101 is disabled for this file"),
        ("", "  # hyperheat: ignore", "suppressed by the comment in line 2"),
        ("min-confidence = 0.99", "", "its confidence of 0.950 is below 0.99 (min-confidence)"),
        ('baseline = "known.json"', "", "it is in the baseline"),
    ],
)
def test_why_a_finding_is_not_reported(project: Project, settings: str, comment: str, reason: str):
    project.write(a=BUGGY.replace("# 0.95", f"# 0.95{comment}"))
    project.run("check", "--baseline", "known.json", "--write-baseline")
    (project.folder / "pyproject.toml").write_text(f"[tool.hyperheat]\n{settings}\n")
    assert f"Not reported: {reason}.\n" in project.run("explain", "a.py:2").out


def test_a_file_that_is_excluded(project: Project):
    project.write(a=BUGGY)
    (project.folder / "pyproject.toml").write_text('[tool.hyperheat]\nexclude = ["a.py"]\n')
    sentence = "Reported if the file is named: it is excluded otherwise.\n"
    assert sentence in project.run("explain", "a.py:2").out
    assert project.run("check", "--no-cache").out == ""
    assert "HH101" in project.run("check", "--no-cache", "a.py").out


def test_a_finding_below_all_tiers_is_shown_on_request(project: Project):
    project.write(a="def f(a, b):\n    return a * a  # 0.01\n")
    out = project.run("explain", "a.py:1").out
    assert (
        "[tier D, 1 alarm in every function]\n         Not reported: only tier A and better are shown" in out
    )
    assert "did you mean `b`" in project.run("check", "--show-all").out
    assert project.run("check", "--tier", "C").out == ""


def test_a_function_that_is_not_judged(project: Project):
    project.write(a=CLEAN)
    assert project.run("explain", "a.py:1").out.endswith(
        "\nNot scored: the model was trained and measured on functions with at least 1 candidate changes.\n"
    )


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (
            "import os\n\n" + CLEAN,
            "a.py:1",
            "a.py:1: only functions are checked, and this line is not in one; the nearest is area in line 3",
        ),
        (
            "import os\n",
            "a.py:1",
            "a.py:1: only functions are checked, and this line is not in one; the file has none",
        ),
        ("what?", "a.py:7", "a.py:7: not checked: expected Python, got a question (line 1)"),
        ("", "b.py:1", "b.py: cannot be read: no such file or directory"),
    ],
)
def test_a_line_without_a_function(project: Project, source: str, target: str, sentence: str):
    project.write(a=source)
    code, out, err = project.run("explain", target)
    assert (code, out, err) == (2, "", f"{sentence}\n")
