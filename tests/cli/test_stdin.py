"""Code from standard input: checked, and repaired to standard output."""

import io
import sys

import pytest
from tests.cli.scans import BUGGY, CLEAN, Project, Ran


def run(project: Project, code: str | bytes, *words: str) -> Ran:
    data = code if isinstance(code, bytes) else code.encode()
    project.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return project.run(*words)


def test_a_hyphen_is_standard_input_wherever_it_stands(project: Project):
    for words in (["check", "-"], ["check", "-", "-q"], ["check", "-q", "-"], ["check", "--", "-"]):
        code, out, _ = run(project, BUGGY, *words)
        assert code == 1
        assert " --> <stdin>:2:16 in area\n" in out
    code, out, _ = run(project, BUGGY, "check", "-", "--stdin-filename", "src/a.py")
    assert " --> src/a.py:2:16 in area\n" in out
    assert run(project, CLEAN, "check", "-").code == 0


def test_settings_are_those_of_the_current_folder(project: Project):
    (project.folder / "pyproject.toml").write_text("[tool.hyperheat]\ntier = 'C'\n")
    assert run(project, BUGGY, "check", "-").out.count("HH101 ") == 2


@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_hyphen_and_paths_do_not_go_together(project: Project, command: str):
    code, out, err = run(project, BUGGY, command, "-", "a.py")
    assert (code, out) == (2, "")
    assert err == "- (standard input) cannot be used together with paths, such as 'a.py'\n"
    code, _, err = run(project, BUGGY, command, "-", "--unknown")
    assert (code, err) == (2, 'Unknown option: "--unknown".\n') or "--unknown" in err


def test_a_repair_of_standard_input_is_a_patch_or_the_whole_text(project: Project):
    code, out, err = run(project, BUGGY, "fix", "-", "--stdin-filename", "a.py")
    assert code == 1
    assert out.startswith("--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,5 @@\n")
    assert "shown (--write to apply)" in err
    code, out, err = run(project, BUGGY, "fix", "-", "--write")
    assert (code, out) == (0, BUGGY.replace("a * a", "a * b"))
    assert not list(project.folder.iterdir()), "nothing is written to files"


def test_what_cannot_be_repaired_is_printed_as_it_was(project: Project):
    for text in (CLEAN, "what?\r\n", "é = 1\n"):
        assert run(project, text, "fix", "-", "--write")[:2] == (0, text)
    code, out, err = run(project, b"#" * 1_000_001, "fix", "-", "--write")
    assert (code, out) == (2, "")
    assert err.endswith("standard input: cannot be repaired because it was not checked\n")
