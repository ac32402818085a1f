"""Every command and every line of code in the tutorials runs and prints what the page shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_VARYING = re.compile(r"\d+\.\d+ s\b")


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The language, title and text of each block of code."""
    return _BLOCK.findall((TUTORIALS / page).read_text(encoding="utf-8"))


def sessions(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block, with the output that is shown below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [
        (lines[0].partition("  #")[0].strip(), lines[1:]) for lines in (part.splitlines() for part in parts)
    ]


class Shell:
    """A folder in which commands run, with `python` and `hyperheat` from this checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        tools = folder / "bin"
        self.folder.mkdir()
        tools.mkdir()
        for name, module in ("python", ""), ("hyperheat", "-m hyperheat"):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            (tools / name).chmod(0o755)
        person = {
            f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self.environment = {
            **os.environ,
            **person,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "HYPERHEAT_CACHE": str(folder / "cache"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CEILING_DIRECTORIES": str(folder),
        }

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, command: str) -> tuple[int, list[str]]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    shown = printed = 0
    for language, _, text in blocks("own-data.md"):
        if language == "python":
            exec(compile(text, "own-data.md", "exec"), scope)
            continue
        out = capsys.readouterr().out
        printed += 1
        shown += out == text
        if out != text:  # only accuracies may differ, in their last digit
            assert re.sub(r"\d\.\d\d", "", out) == re.sub(r"\d\.\d\d", "", text)
    assert shown >= printed - 2
    days = scope["test_days"]
    assert scope["accuracy"](scope["model"], days) > 0.97
    assert scope["accuracy"](scope["without_roles"], days) < 0.85


def test_checker_in_ci(shell: Shell):
    codes = {}
    for language, title, text in blocks("checker-in-ci.md"):
        if title:
            shell.write(title, text)
        if language != "console":
            continue
        for command, shown in sessions(text):
            if command.startswith("pip "):
                continue
            code, out = shell.run(command)
            codes[command] = code
            assert code in (0, 1), (command, out)
            if shown:
                assert _without_times(out) == _without_times(shown), command
    found = {command for command, code in codes.items() if code == 1}
    assert found == {
        "hyperheat check --fail-on B",
        "hyperheat check --since main",
        "hyperheat check --since main --output-format github",
        "hyperheat check --strict --since main -o hyperheat.xml",
    }
    assert (shell.folder / "hyperheat.xml").exists()


def test_the_exit_codes_are_those_of_the_manual():
    tables = [
        re.findall(r"^\| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
        for page in (TUTORIALS / "checker-in-ci.md", ROOT / "docs" / "check.md")
    ]
    assert tables[0] == tables[1] == ["0", "1", "2", "3", "130"]


def test_statements(shell: Shell):
    outputs = {}
    for language, title, text in blocks("statements.md"):
        if title:
            shell.write(title, text)
        elif language == "python":
            shell.write("ask.py", text)
            code, outputs["ask"] = shell.run("python ask.py")
            assert code == 0, outputs["ask"]
        elif language == "console":
            for command, shown in sessions(text):
                code, out = shell.run(command)
                assert code == 0, (command, out)
                assert not shown or out == shown, command
                outputs[command] = out
        else:  # the table of figures, whose last digits may differ
            table = text.splitlines()
            assert len(outputs["hyperheat kg eval --model run/best --data statements"]) >= len(table)
    ranks = {
        words[0]: [float(word) for word in words[2:]]
        for line in outputs["hyperheat kg eval --model run/best --data statements"]
        if len(words := line.split()) == 6 and words[0] in ("object", "subject")
    }
    assert ranks["object"][0] > 0.7  # MRR
    assert outputs["ask"] == ["Cork new"]
    (line,) = (
        line
        for line in outputs["hyperheat kg complete --model run/best 'Ada Dumas | lives in | ?' -k 3"]
        if "Cork" in line
    )
    assert line.split()[0] == "1"


def _without_times(lines: list[str]) -> list[str]:
    return [_VARYING.sub("TIME", line) for line in lines if line.strip()]
