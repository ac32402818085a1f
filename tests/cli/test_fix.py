"""`hyperheat fix`: patches, writing, refusals and exit codes."""

import os
from dataclasses import replace

import pytest
from tests.check.made_repairs import commit_all, git
from tests.cli.scans import BUGGY, CALIBRATION, CLEAN, Project

from hyperheat.detector.detector import Detector

PATCH = (
    "--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n def area(a, b):\n"
    "-    return a * a  # 0.95\n+    return a * b  # 0.95\n \n \n def scale(a, b):\n"
)


@pytest.fixture(autouse=True)
def read_again_in_this_process(monkeypatch: pytest.MonkeyPatch):
    """What a worker process does with a repair is tested beside it."""
    monkeypatch.setattr(
        "hyperheat.check.repairs.run_jobs", lambda work, jobs, **_: [(job, work(job)) for job in jobs]
    )


def test_a_patch_is_shown_and_nothing_written(project: Project):
    project.write(a=BUGGY)
    code, out, err = project.run("fix")
    assert (code, out) == (1, PATCH)
    assert err.endswith("Hidden: 1 in tier B.\n1 repair in 1 file shown (--write to apply).\n")
    assert "unsafe" not in err
    assert (project.folder / "a.py").read_text() == BUGGY


def test_nothing_to_repair(project: Project):
    project.write(a=CLEAN)
    code, out, err = project.run("fix")
    assert (code, out) == (0, "")
    assert err.endswith("No repairs.\n")


def test_the_patch_can_be_applied(project: Project):
    project.write(a=BUGGY)
    (project.folder / "patch").write_text(project.run("fix", "--tier", "B", "--unsafe-fixes").out)
    git(project.folder, "apply", "patch")
    assert (project.folder / "a.py").read_text() == BUGGY.replace("a * a", "a * b").replace("a - a", "a - b")


def test_writing_where_git_has_the_file(project: Project):
    project.write(a=BUGGY, b=BUGGY)
    commit_all(project.folder)
    project.write(b=BUGGY + "# mine\n", c=BUGGY)
    code, out, err = project.run("fix", "--write")
    assert (code, out) == (2, "")
    assert (project.folder / "a.py").read_text() == BUGGY.replace("a * a", "a * b")
    assert "b.py: not repaired: the file has uncommitted changes; commit it first" in err
    assert "c.py: not repaired: the file is not tracked by git; commit it first" in err
    assert err.endswith("1 repair in 1 file written.\n")
    assert (project.folder / "c.py").read_text() == BUGGY
    code, out, err = project.run("fix", "--write", "--allow-dirty", "b.py", "c.py")
    assert (code, out) == (0, "")
    assert err.endswith("2 repairs in 2 files written.\n")
    assert (project.folder / "b.py").read_text() == BUGGY.replace("a * a", "a * b") + "# mine\n"
    assert (project.folder / "c.py").read_text() == BUGGY.replace("a * a", "a * b")


def test_a_second_finding_in_a_function_waits(project: Project):
    project.write(a="def f(a, b):\n    c = a + a  # 0.94\n    return a * a  # 0.95\n")
    code, out, err = project.run("fix", "--quiet")
    assert (code, out.count("\n+ "), err) == (1, 1, "")
    assert "+    return a * b" in out
    assert "1 more in the same functions: run again after these." in project.run("fix").err


def test_a_repair_that_breaks_the_file_is_not_made(project: Project):
    project.write(a="def f(a, b): pass\n)\n  return a * a  # 0.95\n", b=BUGGY)
    code, _, err = project.run("fix", "--write", "--allow-dirty")
    assert code == 2
    assert "a.py: not repaired: expected Python after the repair, got: " in err
    assert err.endswith("1 repair in 1 file written.\n")
    assert (project.folder / "b.py").read_text() == BUGGY.replace("a * a", "a * b")


def test_an_interrupt_writes_nothing(project: Project):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    project.write(a=BUGGY)
    project.patch.setattr("hyperheat.check.checker.scan_files", interrupted)
    code, out, err = project.run("fix", "--write", "--allow-dirty")
    assert (code, out, err) == (130, "", "Interrupted: no files were changed.\n")
    assert (project.folder / "a.py").read_text() == BUGGY


def test_names_of_files_are_harmless(project: Project):
    name = "::error::\n::error::\x1b[31m.py"
    (project.folder / name).write_text(BUGGY)
    out = project.run("fix").out
    assert out.startswith('--- "a/\\072\\072error\\072\\072\\012')
    err = project.run("fix", "--write").err
    assert "\n\\x3a:error::\\n::error::\\x1b[31m.py: not repaired" in err
    assert "\n::error" not in out + err
    assert os.listdir(project.folder) == [name]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--allow-dirty"], "--allow-dirty requires --write"),
        (["--show-all"], "Unknown option: --show-all."),
        (["missing"], "missing: no such file or folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_2(project: Project, words: list[str], sentence: str):
    project.write(a=BUGGY)
    code, out, err = project.run("fix", *words)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert err.count("\n") == 1


UNSAFE = "def scale(a, b):\n    return a - a  # 0.85\n"


def test_only_safe_repairs_are_made_unless_told(project: Project):
    project.write(a=BUGGY, b=UNSAFE)
    commit_all(project.folder)
    code, out, err = project.run("fix")
    assert (code, out) == (1, PATCH)
    assert err.endswith("1 unsafe repair is left out (--unsafe-fixes).\n")
    assert project.run("fix", "--unsafe-fixes").out.count("\n+ ") == 2
    assert project.run("fix", "--write").code == 0
    assert (project.folder / "b.py").read_text() == UNSAFE
    assert project.run("fix", "--write", "--unsafe-fixes", "b.py").code == 0
    assert (project.folder / "b.py").read_text() == UNSAFE.replace("a - a", "a - b")


def test_a_model_without_a_safe_tier_changes_nothing_and_says_so(project: Project):
    alarms = CALIBRATION.alarms
    assert alarms is not None
    blind = replace(CALIBRATION, alarms=replace(alarms, points=alarms.points[:-1]))
    assert "safe" not in blind.tiers
    detector = Detector(project.folder, "fake", "0" * 64, blind, "key")
    project.patch.setattr("hyperheat.check.installed_models.load_model", lambda text, setting=None: detector)
    project.patch.setattr("tests.cli.scans.CALIBRATION", blind)
    project.write(a=BUGGY)
    commit_all(project.folder)
    code, out, err = project.run("fix", "--write")
    assert (code, out) == (0, "")
    assert (
        "No repairs.\n1 unsafe repair is left out (--unsafe-fixes). No repair is safe with this model: its surest"
        in err
    )
    assert (project.folder / "a.py").read_text() == BUGGY


def test_interactive_needs_a_terminal(project: Project):
    project.write(a=BUGGY)
    code, _, err = project.run("fix", "--interactive")
    assert (code, err) == (2, "--interactive asks on a terminal, but standard input or output is not one\n")
