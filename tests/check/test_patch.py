"""Patches: hand-written ones, and git as the judge of all others."""

import random
from pathlib import Path

import pytest
from tests.check.made_repairs import git, make_finding, make_repair

from hyperheat.check.discovery import FoundFile
from hyperheat.check.patch import render_patch
from hyperheat.check.repairs import Repair
from hyperheat.report import FileEdit, Fix, SourceText


def test_two_functions_far_apart_and_a_missing_newline(tmp_path):
    text = "def f(a, b):\n    return a * a\n\n\n# 5\n# 6\n# 7\n# 8\n# 9\n# 10\n# 11\ndef g(a, b):\n    return a * a"
    repair = make_repair(
        tmp_path / "a.py",
        text,
        (make_finding((2, 16, 2, 17, "b")), make_finding((13, 12, 13, 13, "b"), function="g")),
    )
    assert render_patch(repair) == (
        "--- a/a.py\n+++ b/a.py\n"
        "@@ -1,5 +1,5 @@\n def f(a, b):\n-    return a * a\n+    return a * b\n \n \n # 5\n"
        "@@ -10,4 +10,4 @@\n # 10\n # 11\n def g(a, b):\n"
        "-    return a * a\n\\ No newline at end of file\n+    return b * a\n\\ No newline at end of file\n"
    )


def test_colours(tmp_path):
    repair = make_repair(tmp_path / "a.py", "def f(a, b): a\n", (make_finding((1, 14, 1, 15, "b")),))
    assert render_patch(repair, colour=True) == (
        "\x1b[1m--- a/a.py\x1b[0m\n\x1b[1m+++ b/a.py\x1b[0m\n\x1b[1;36m@@ -1,1 +1,1 @@\x1b[0m\n"
        "\x1b[31m-def f(a, b): a\x1b[0m\n\x1b[32m+def f(a, b): b\x1b[0m\n"
    )


def test_nothing_hidden_reaches_the_reader(tmp_path):
    text = "'''\n\t::error::x\n\x1b[31m ##vso[task]\u202e'''\ndef f(a, b): a\r\n"
    repair = make_repair(tmp_path / "a\n\x1b.py", text, (make_finding((4, 14, 4, 15, "b")),))
    lines = render_patch(repair).splitlines()
    assert lines[:2] == ['--- "a/a\\012\\033.py"', '+++ "b/a\\012\\033.py"']
    assert lines[3:6] == [" '''", " \t\\x3a:error::x", " \\x1b[31m #\\x23vso[task]\\u202e'''"]
    assert render_patch(repair).endswith("-def f(a, b): a\r\n+def f(a, b): b\r\n")


@pytest.mark.parametrize("name", ["a.py", "my file.py", 'ä"\\.py', "tab\t.py"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_git_applies_what_is_shown(tmp_path, name, end):
    git(tmp_path, "init", "-q")
    for seed in range(5):
        repair = random_repair(tmp_path / name, end, random.Random(seed))
        (tmp_path / name).write_bytes(repair.data)
        (tmp_path / "patch").write_bytes(render_patch(repair).encode())
        git(tmp_path, "apply", "patch")
        assert (tmp_path / name).read_bytes() == repair.repaired


def random_repair(path: Path, end: str, chooser: random.Random) -> Repair:
    """Edits of some characters, up to three lines long, which may bring or take line ends."""
    lines = ["x" * chooser.randrange(8) for _ in range(chooser.randrange(2, 60))]
    edits, line = [], 0
    while True:
        line += chooser.choice([0, 1, 2, 7, 9]) + 1
        last = line + chooser.choice([0, 0, 0, 1, 2])
        if last > len(lines):
            break
        column = chooser.randrange(len(lines[line - 1]) + 1) + 1
        end_column = len(lines[last - 1]) + 1
        text = end.join("y" * chooser.randrange(1, 4) for _ in range(chooser.choice([1, 1, 1, 3])))
        edits.append(FileEdit(line=line, column=column, end_line=last, end_column=end_column, text=text))
        line = last
    if not edits:
        edits = [FileEdit(line=1, column=1, end_line=1, end_column=1, text="y")]
    text = end.join(lines) + end * chooser.randrange(2)
    fix = Fix(tuple(edits))
    return Repair(
        file=FoundFile(path.name, path),
        data=text.encode(),
        repaired=SourceText(text).edited(fix.edits).encode(),
        done=(),
        left=(),
        fix=fix,
    )
