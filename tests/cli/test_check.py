"""`hyperheat check`: what is shown where, exit codes, and what every option does."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from tests.check.made_repairs import commit_all
from tests.cli.scans import BUGGY, CLEAN, Project

from hyperheat.report import RULES

FRAME = """\
HH101 variable-misuse: did you mean `b` instead of `a`?  [tier A, 1 alarm in 40,000 functions]
 --> a.py:2:16 in area
  |
1 | def area(a, b):
2 |     return a * a  # 0.95
  |                ^
+ |     return a * b  # 0.95
"""


def places(text: str) -> list[tuple[str, int, str]]:
    """Path, line and tier of the findings of a JSON report."""
    return [(finding["path"], finding["line"], finding["tier"]) for finding in json.loads(text)["findings"]]


def test_the_best_tier_is_shown_and_the_others_are_counted(project: Project):
    project.write(a=BUGGY)
    code, out, err = project.run("check")
    assert (code, out) == (1, FRAME)
    assert err.startswith("Checked 1 file, 2 functions in ")
    assert err.endswith("1 finding: 1 in tier A. Hidden: 1 in tier B (--show-all).\n")


def test_nothing_to_report(project: Project):
    project.write(a=CLEAN)
    code, out, err = project.run("check", "a.py")
    assert (code, out) == (0, "")
    assert "0 findings." in err


def test_a_folder_without_python_is_told(project: Project):
    code, out, err = project.run("check")
    assert (code, out) == (0, "")
    assert err.endswith("No Python files found.\n")


def test_a_file_that_cannot_be_checked_is_told_and_fails_only_with_strict(project: Project):
    project.write(a=CLEAN, b="what?")
    code, out, err = project.run("check")
    assert (code, out) == (0, "HH900 not-parsed: b.py:1: expected Python, got a question\n")
    assert "Not checked: 1 not parsed (--strict to fail)." in err
    assert project.run("check", "--strict").code == 3
    project.write(a=BUGGY)
    assert project.run("check").code == 1
    assert project.run("check", "--strict").code == 3
    assert project.run("check", "--strict", "--exit-zero").code == 3


def test_files_that_cannot_be_read_are_not_counted_as_checked(project: Project):
    project.write(a=CLEAN, b="what?", c=CLEAN)
    (project.folder / "d.py").mkdir()

    def unreadable(files, detector, **options):
        for file in files:
            if file.shown == "c.py":
                file.path.unlink()
            yield from fake([file], detector, **options)

    from hyperheat.check import checker

    fake = checker.scan_files
    project.patch.setattr(checker, "scan_files", unreadable)
    code, out, err = project.run("check", "--output-format", "json")
    assert code == 0
    summary = json.loads(out)["summary"]
    assert (summary["files"], summary["not_parsed"], summary["skipped"]) == (1, 1, 1)
    assert err.startswith("Checked 1 file, 1 function in ")


def test_errors_can_be_ignored_and_are_still_counted(project: Project):
    project.write(a=CLEAN, b="what?")
    code, out, err = project.run("check", "--strict", "--ignore", "HH900")
    assert (code, out) == (0, "")
    assert "1 not parsed, not listed because HH900 is ignored.\n" in err
    (project.folder / "pyproject.toml").write_text(
        '[tool.hyperheat]\nper-file-ignores = { "b.py" = ["HH900", "HH1"] }\n'
    )
    assert project.run("check", "--strict").code == 0
    project.write(c="what?")
    code, out, _ = project.run("check", "--strict")
    assert (code, out) == (3, "HH900 not-parsed: c.py:1: expected Python, got a question\n")
    code, _, err = project.run("check", "--select", "HH900")
    assert (code, err) == (2, "--select: HH900 cannot be selected: it is always on unless it is ignored\n")


THREE = "".join(
    f"def f{n}(a, b):\n    return a * a  # {confidence}\n" for n, confidence in enumerate([0.85, 0.95, 0.65])
)


def test_findings_in_order_of_confidence(project: Project):
    project.write(a=THREE, b=BUGGY)
    _, out, _ = project.run("check", "--show-all", "--output-format", "json")
    assert [f["confidence"] for f in json.loads(out)["findings"]] == [0.85, 0.95, 0.65, 0.95, 0.65]
    _, out, _ = project.run("check", "--show-all", "--output-format", "json", "--sort", "confidence")
    sorted_by = [(f["confidence"], f["path"]) for f in json.loads(out)["findings"]]
    assert sorted_by == [(0.95, "a.py"), (0.95, "b.py"), (0.85, "a.py"), (0.65, "a.py"), (0.65, "b.py")]


def test_the_surest_findings_only(project: Project):
    project.write(a=THREE, b=BUGGY)
    code, out, err = project.run("check", "--show-all", "--output-format", "json", "--top", "3")
    assert code == 1
    assert places(out) == [("a.py", 2, "A"), ("a.py", 4, "A"), ("b.py", 2, "A")]
    assert err.endswith("Showing the 3 surest of 5 findings (--top).\n")
    assert "--top" not in project.run("check", "--show-all", "--top", "5").err
    assert project.run("check", "--top", "0").code == 2


def test_the_order_does_not_change_fingerprints(project: Project):
    project.write(a=BUGGY.replace("scale", "area").replace("-", "*"))
    names = []
    for order in ("path", "confidence"):
        _, out, _ = project.run("check", "--show-all", "--output-format", "sarif", "--sort", order)
        results = json.loads(out)["runs"][0]["results"]
        names.append({(r["rank"], r["partialFingerprints"]["hyperheatFinding/v1"]) for r in results})
    assert names[0] == names[1]


def test_statistics_take_the_place_of_findings(project: Project):
    project.write(a=THREE, b="what?")
    code, out, err = project.run("check", "--show-all", "--statistics", "-o", "all.json")
    assert code == 1
    assert out == ("     3  HH101  variable-misuse    2 in tier A, 1 in tier B\n     1  HH900  not-parsed\n")
    assert "3 findings" in err
    assert len(places((project.folder / "all.json").read_text())) == 3
    _, out, _ = project.run("check", "--statistics", "--output-format", "json")
    assert json.loads(out) == [
        {"rule": "HH101", "name": "variable-misuse", "count": 2, "tiers": {"A": 2, "B": 0, "C": 0, "D": 0}},
        {"rule": "HH900", "name": "not-parsed", "count": 1, "tiers": None},
    ]
    code, _, err = project.run("check", "--statistics", "--output-format", "sarif")
    assert (code, err) == (2, "--statistics requires the format text or json, got sarif\n")


def test_all_rules_are_listed_without_a_scan(project: Project):
    code, out, err = project.run("check", "--list-rules", "nowhere")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(RULES)
    _, out, _ = project.run("check", "--list-rules", "--output-format", "json")
    assert [rule["rule"] for rule in json.loads(out)] == list(RULES)
    assert not project.scans


def test_an_empty_path_is_not_the_current_folder(project: Project):
    project.write(a=BUGGY)
    for command in ("check", "fix"):
        code, out, err = project.run(command, "")
        assert (code, out) == (2, "")
        assert err == "expected the path of a file or folder, got an empty one; the current folder is `.`\n"


def test_files_that_are_not_python_are_refused_by_name(project: Project):
    project.write(a=CLEAN)
    (project.folder / "notes.md").write_text("# Notes\n")
    (project.folder / "types.pyi").write_text("def f(a: int) -> int: ...\n")
    code, out, err = project.run("check", "a.py", "notes.md")
    assert (code, out) == (2, "")
    assert err.startswith("notes.md: not a Python file: expected a name that ends with .py")
    code, out, err = project.run("check", "types.pyi")
    stub = "HH901 skipped: types.pyi: a stub file (.pyi): its functions have no code to check\n"
    assert (code, out) == (0, stub)
    assert err.startswith("Checked 0 files, 0 functions")
    assert project.run("check").out == "", "stubs that are not named are no news"
    (project.folder / "tool").write_text(BUGGY)
    assert project.run("check", "tool").code == 1
    (project.folder / "tool.cgi").write_text(f"#!/usr/bin/env python3\n{BUGGY}")
    assert project.run("check", "tool.cgi").code == 1


def test_several_outputs_at_once(project: Project):
    project.write(a=BUGGY)
    files = ["-o", "sarif:out.sarif", "-o", "report.html", "--output", "json:here/x:y", "-o", "out.xml"]
    (project.folder / "here").mkdir()
    code, out, _ = project.run("check", "--output-format", "github", *files)
    assert code == 1
    assert out.startswith("::error file=a.py,line=2,")
    assert json.loads((project.folder / "out.sarif").read_text())["version"] == "2.1.0"
    assert (project.folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert places((project.folder / "here" / "x:y").read_text()) == [("a.py", 2, "A")]
    assert (project.folder / "out.xml").read_text().startswith('<testsuites name="hyperheat"')


@pytest.mark.parametrize("words", [["-o"], ["--write-baseline", "--baseline"]], ids=["output", "baseline"])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing/out.json", "missing/out.json: cannot be written: the folder missing does not exist"),
        ("a.py/out.json", "a.py/out.json: cannot be written: the folder a.py is not a folder"),
        ("folder.json", "folder.json: cannot be written: it is a folder"),
        ("locked/out.json", "locked/out.json: cannot be written: the folder locked is read-only"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_before_the_scan(project: Project, words, name, sentence):
    project.write(a=BUGGY)
    for folder in ("folder.json", "locked"):
        (project.folder / folder).mkdir()
    allowed = os.access  # root may write anywhere
    project.patch.setattr(
        os, "access", lambda path, mode: Path(path).name != "locked" and allowed(path, mode)
    )
    code, out, err = project.run("check", *words, name)
    assert (code, out) == (2, "")
    assert err.replace(f"{project.folder}/", "") == f"{sentence}\n"
    assert not project.scans


def test_an_output_that_fails_later_is_told_in_one_sentence(project: Project):
    project.write(a=BUGGY)
    here = project.folder / "here"
    here.mkdir()
    project.patch.setattr("hyperheat.cli.outputs.check_output", lambda path: here.rmdir())
    project.patch.setattr("hyperheat.cli.check.check_output", lambda path: here.rmdir())
    code, _, err = project.run("check", "-o", "here/out.json")
    assert (code, err) == (2, "here/out.json: cannot be written: No such file or directory\n")


def test_an_output_may_be_a_device_and_stays_one(project: Project):
    project.write(a=BUGGY)
    assert project.run("check", "-o", "json:/dev/null").code == 1
    assert Path("/dev/null").is_char_device()


def test_as_many_findings_as_a_rate_of_alarms_allows(project: Project):
    project.write(a=BUGGY)
    code, out, _ = project.run("check", "--max-alarms", "2.5", "--output-format", "json")
    assert code == 1
    assert places(out) == [("a.py", 2, "A"), ("a.py", 6, "B")]
    assert places(project.run("check", "--max-alarms", "2.4", "--output-format", "json").out) == [
        ("a.py", 2, "A")
    ]


def test_functions_that_are_not_judged_are_counted(project: Project):
    project.write(a=BUGGY, b=CLEAN)
    _, out, err = project.run("check", "--output-format", "json")
    assert "3 functions" in err
    assert "Not judged: 1 with fewer than 1 candidate changes." in err
    summary = json.loads(out)["summary"]
    assert (summary["functions"], summary["too_small"], summary["too_large"]) == (3, 1, 0)


def test_what_fails_a_run_is_shown(project: Project):
    project.write(a=BUGGY.replace("0.95", "0.25"))
    assert project.run("check").code == 0
    code, out, _ = project.run("check", "--fail-on", "B", "--output-format", "json")
    assert (code, places(out)) == (1, [("a.py", 6, "B")])
    code, out, _ = project.run("check", "--show-all", "--output-format", "json")
    assert (code, places(out)) == (0, [("a.py", 2, "C"), ("a.py", 6, "B")])


def test_only_what_rose_in_changed_functions(project: Project):
    project.write(a=BUGGY, b=BUGGY)
    commit_all(project.folder)
    project.write(a=BUGGY.replace("0.65", "0.9"))
    code, out, err = project.run("check", "--since", "HEAD", "--output-format", "json")
    assert (code, places(out)) == (1, [("a.py", 6, "A")])
    assert json.loads(out)["findings"][0]["previous"] == 0.65
    assert "Checked 1 file, 1 function" in err
    assert (
        "[tier A, 1 alarm in 4,000 functions, confidence 0.900, 0.650 before]"
        in project.run("check", "--since", "HEAD").out
    )
    annotation = project.run("check", "--since", "HEAD", "--output-format", "github").out
    assert annotation.startswith("::error file=a.py,line=6,endLine=6,col=16,endColumn=17,")
    assert "(tier A, 1 alarm in 4,000 functions, confidence 0.900, 0.650 before)" in annotation


def test_what_did_not_rise_is_counted_and_shown_on_request(project: Project):
    project.write(a=BUGGY)
    commit_all(project.folder)
    project.write(a=BUGGY.replace("a * a", "2 * a * a"))
    code, out, err = project.run("check", "--since", "HEAD")
    assert (code, out) == (0, "")
    assert err.endswith("0 findings. No more suspicious than before the change: 1 (--absolute).\n")
    code, out, _ = project.run("check", "--since", "HEAD", "--absolute", "--output-format", "json")
    assert (code, places(out)) == (1, [("a.py", 2, "A")])
    assert json.loads(out)["findings"][0]["previous"] is None
    code, out, _ = project.run("check", "--since", "HEAD", "--output-format", "json")
    assert (code, json.loads(out)["summary"]["unrisen"]) == (0, 1)
    code, _, err = project.run("check", "--absolute")
    assert (code, err) == (2, "--absolute requires --since\n")


def test_a_baseline_leaves_only_new_findings(project: Project):
    project.write(a=BUGGY)
    code, out, err = project.run("check", "--baseline", "known.json", "--write-baseline")
    assert (code, out) == (0, "")
    assert f"Wrote 2 findings of tiers A, B and C to {project.folder / 'known.json'}." in err
    assert "Not shown: 0 suppressed, 2 in the baseline." in err
    project.write(a="# moved\n" + BUGGY + "\n\ndef new(a, b):\n    return a + a  # 0.9\n")
    code, out, err = project.run("check", "--baseline", "known.json", "--output-format", "json")
    assert (code, places(out)) == (1, [("a.py", 11, "A")])
    project.write(a=CLEAN)
    assert (
        "2 baseline entries no longer match a finding."
        in project.run("check", "--baseline", "known.json").err
    )


def test_comments_keep_findings_quiet_and_unused_ones_are_told(project: Project):
    project.write(
        a=BUGGY.replace("# 0.95", "# 0.95 # hyperheat: ignore[HH101] fine"),
        b=CLEAN + "x = 1  # noqa: HH101\n",
    )
    code, out, err = project.run("check")
    assert (code, out) == (0, "")
    assert "Not shown: 1 suppressed, 0 in the baseline." in err
    assert "b.py:3:8: unused suppression: no HH101 here.\n" in err


def test_settings_of_the_project_count_and_options_win(project: Project):
    project.write(a=BUGGY)
    (project.folder / "pyproject.toml").write_text(
        '[tool.hyperheat]\ntier = "B"\nper-file-ignores = {"b.py" = ["HH1"]}\n'
    )
    project.write(b=BUGGY)
    assert places(project.run("check", "--output-format", "json").out) == [("a.py", 2, "A"), ("a.py", 6, "B")]
    assert places(project.run("check", "--tier", "A", "--output-format", "json").out) == [("a.py", 2, "A")]


def test_the_settings_are_those_of_what_is_checked(
    project: Project, tmp_path_factory: pytest.TempPathFactory
):
    other = tmp_path_factory.mktemp("other")
    (other / "pyproject.toml").write_text('[tool.hyperheat]\ntier = "B"\n')
    (other / "a.py").write_text(BUGGY)
    assert len(places(project.run("check", str(other), "--output-format", "json").out)) == 2


def test_standard_input(project: Project):
    project.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BUGGY.encode())))
    code, out, _ = project.run("check", "--stdin-filename", "src/new.py", "--output-format", "json")
    assert (code, places(out)) == (1, [("src/new.py", 2, "A")])


def test_standard_input_of_an_excluded_file_or_of_a_large_one(project: Project):
    for data, words, out in (
        (BUGGY.encode(), ["--force-exclude", "--exclude", "src/"], ""),
        (BUGGY.encode(), ["--exclude", "src/"], FRAME.replace("a.py", "src/new.py")),
        (b"#" * 1_000_001, [], "HH901 skipped: src/new.py: expected at most 1000000 bytes, got more\n"),
    ):
        project.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert project.run("check", "--stdin-filename", "src/new.py", *words).out == out


def test_an_interrupt_leaves_what_there_is(project: Project):
    project.write(a=CLEAN, b="stop", c=BUGGY, d=CLEAN)

    def interrupted(files, detector, **options):
        """The first worker is at b.py when the second one is done with c.py, which is yielded after b.py."""
        a, _, c, _ = files
        yield from fake([a], detector, **options)
        list(fake([c], detector, **options))
        raise KeyboardInterrupt

    from hyperheat.check import checker

    fake = checker.scan_files
    project.patch.setattr(checker, "scan_files", interrupted)
    code, out, err = project.run("check", "-o", "out.json", "--baseline", "known.json", "--write-baseline")
    assert (code, out) == (2, "")
    assert err == f"{project.folder / 'known.json'}: not written because the scan was interrupted\n"
    assert not (project.folder / "known.json").exists()
    code, out, err = project.run("check", "-o", "out.json")
    assert (code, out) == (130, FRAME.replace("a.py", "c.py")), err
    assert "Checked 2 files" in err
    assert "Interrupted: 2 of 4 files were not checked.\n" in err
    assert "Interrupted" in json.loads((project.folder / "out.json").read_text())["summary"]["notes"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tire", "A"], "Unknown option: --tire. Did you mean --tier?"),
        (["--tier", "D"], 'Invalid value "D" for --tier.'),
        (["-j", "0"], "--jobs: expected a whole number from 1, got 0"),
        (["missing.py"], "missing.py: no such file or folder"),
        (["--min-confidence", "2"], "--min-confidence: expected a number from 0 to 1, got 2.0"),
        (
            ["--min-confidence", "0.5", "--max-alarms", "0.5"],
            "min-confidence and max-alarms cannot be used together",
        ),
        (
            ["--max-alarms", "0.001"],
            "max-alarms: expected a rate of alarms that was measured, at least 0.025 per 1,000",
        ),
        (["--select", "HH1O1"], "--select: unknown rule 'HH1O1': did you mean HH101?"),
        (["-o", "report"], "--output: expected FORMAT:FILE with a format of text, json,"),
        (["-o", "sarif:"], "--output: expected FORMAT:FILE"),
        (["-o", "a.json", "-o", "json:a.json"], "--output: expected different files, got 'a.json' twice"),
        (["-o", "json:nowhere/a"], "nowhere/a: cannot be written: the folder nowhere does not exist"),
        (["-o", "json:."], ".: cannot be written: it is a folder"),
        (
            ["--stdin-filename", "a.py", "b.py"],
            "--stdin-filename cannot be used together with paths, such as 'b.py'",
        ),
        (["--write-baseline"], "--write-baseline requires --baseline FILE"),
        (
            ["--write-baseline", "--baseline", "x", "--since", "HEAD"],
            "--write-baseline cannot be used together with --since",
        ),
        (
            ["--baseline", "none.json"],
            "none.json: cannot be read as a baseline: cannot be read: no such file",
        ),
        (["--since", "HEAD"], "--since HEAD requires a git repository"),
        (["\x1b[31m\n.py"], "\\x1b[31m\\n.py: no such file or folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_one_sentence_and_2(project: Project, words: list[str], sentence: str):
    project.write(a=BUGGY)
    code, out, err = project.run("check", *words)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert out in ("", FRAME)


def test_broken_settings_are_one_sentence_and_2(project: Project):
    (project.folder / "pyproject.toml").write_text("[tool.hyperheat]\ntyer = 1\n")
    code, _, err = project.run("check")
    assert (code, err) == (2, f"{project.folder}/pyproject.toml: tool.hyperheat.tyer: did you mean tier?\n")


def test_an_error_of_our_own_is_2_too(project: Project):
    def fail(*_, **__):
        raise ZeroDivisionError("\x1b[31m")

    project.patch.setattr("hyperheat.check.checker.discover", fail)
    code, _, err = project.run("check")
    assert code == 2
    assert "ZeroDivisionError: \\x1b[31m" in err


OPTIONS = {
    "--tier": ["--tier", "B"],
    "--min-confidence": ["--min-confidence", "0.6"],
    "--max-alarms": ["--max-alarms", "2.5"],
    "--select": ["--select", "HH2,HH3", "--select", "HH401"],
    "--ignore": ["--ignore", "HH1"],
    "--since": ["--since", "HEAD"],
    "--absolute": ["--since", "HEAD", "--absolute"],
    "--baseline": ["--baseline", "known.json"],
    "--exclude": ["--exclude", "a.py"],
    "--no-gitignore": ["--no-gitignore"],
    "--force-exclude": ["--force-exclude", "build/c.py"],
    "--quiet": ["--quiet"],
    "--show-all": ["--show-all"],
    "--why": ["--why"],
    "--output-format": ["--output-format", "jsonl"],
    "--output": ["--output", "out.json"],
    "--fail-on": ["--fail-on", "C"],
    "--strict": ["--strict", "broken"],
    "--exit-zero": ["--exit-zero"],
    "--write-baseline": ["--write-baseline", "--baseline", "new.json"],
    "--stdin-filename": ["--stdin-filename", "stdin.py"],
    "--sort": ["--sort", "confidence", "--show-all"],
    "--top": ["--top", "1"],
    "--statistics": ["--statistics"],
    "--list-rules": ["--list-rules"],
    "--watch": ["--watch"],
    "--model": ["--model", "model"],
    "--jobs": ["--jobs", "7"],
    "--cache-dir": ["--cache-dir", "cache"],
    "--no-cache": ["--no-cache"],
    "--timeout": ["--timeout", "60"],
    "--max-memory": ["--max-memory", "2GB"],
    "--max-file-size": ["--max-file-size", "10"],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_changes_something(project: Project, option: str):
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    project.patch.setattr("hyperheat.cli.watch.watch.__kwdefaults__", {"sleep": interrupt})
    project.write(a=f"{BUGGY}\n\ndef add(a, b):\n    return a + a  # 0.85\n")
    (project.folder / "broken").write_text("?")
    commit_all(project.folder)
    project.write(b=BUGGY)
    (project.folder / ".gitignore").write_text("b.py\n")
    (project.folder / "build").mkdir()
    (project.folder / "build" / "c.py").write_text(BUGGY)
    (project.folder / "known.json").write_text('{"version": 1}')
    words = OPTIONS[option]
    if option == "--baseline":
        project.run("check", *words, "--write-baseline")
    models = []
    detector = __import__("hyperheat.check.checker", fromlist=["x"]).load_detector(None)
    project.patch.setattr(
        "hyperheat.check.checker.load_detector", lambda folder: models.append(folder) or detector
    )

    def run(*words: str):
        models.clear()
        project.scans.clear()
        project.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BUGGY.encode())))
        code, out, err = project.run("check", *words)
        files = sorted(path.name for path in project.folder.iterdir())
        timeless = " ".join(word for word in err.split() if not word[0].isdigit())
        return code, out, timeless, files, str(project.scans), str(models)

    without = run(
        *[word for word in words if word in ("broken", "build/c.py", "--show-all") and word != option]
    )
    assert run(*words) != without


def test_why(project: Project):
    project.write(a=BUGGY)
    _, out, _ = project.run("check", "--why", "-o", "out.json", "-o", "out.html")
    assert "Why: without one of these, the confidence of 0.950 falls to\n  1  0.125  `b` (line 1)\n" in out
    (finding,) = json.loads((project.folder / "out.json").read_text())["findings"]
    assert finding["why"] == {
        "confidence": 0.95,
        "causes": [
            {
                "kind": "token",
                "text": "b",
                "meaning": "",
                "places": [{"line": 1, "column": 13, "end_line": 1, "end_column": 14}],
                "confidence": 0.125,
            }
        ],
        "against": [],
        "tried": 7,
        "left_out": 2,
    }
    assert "<li>`b` (line 1): to 0.125</li>" in (project.folder / "out.html").read_text()
    project.run("check", "-o", "out.json")
    assert "why" not in json.loads((project.folder / "out.json").read_text())["findings"][0]


def test_every_option_is_tried(project: Project):
    code, out, _ = project.run("check", "--help")
    assert code == 0
    assert set(re.findall(r"--[a-z-]+", out)) == set(OPTIONS)


def test_colours_by_terminal_and_environment(project: Project):
    project.write(a=BUGGY)
    assert "\x1b[" not in project.run("check").out
    project.patch.setenv("FORCE_COLOR", "1")
    ran = project.run("check")
    assert "\x1b[1;31mHH101" in ran.out
    assert "\x1b[1m1 finding" in ran.err
    project.patch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in project.run("check").out


def test_the_formats_in_the_help_are_those_that_exist():
    from typing import get_args

    from hyperheat.cli.outputs import _SUFFIXES, Format
    from hyperheat.report.formats import FORMATS

    assert list(get_args(Format)) == list(FORMATS)
    assert set(_SUFFIXES.values()) <= set(FORMATS)
