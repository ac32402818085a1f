"""`python -m benchmarks.check`, with stand-ins for the programs that it measures."""

import ast
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from benchmarks import check as bench
from benchmarks.check import change_function, find_pylint, measure_check
from benchmarks.check import main as bench_check
from benchmarks.timing import Run, run_command


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "area.py").write_text("def area(a, b):\n    if a:\n        return a * b\n\n\nlast = 1\n")
    (folder / "empty.py").write_text("")
    return folder


class Programs:
    """Stands for the commands: notes what was run, and says how long it took."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.environments: list[dict[str, str]] = []
        self.code = 1
        self.seconds = {"cold": [9.0, 4.0, 5.0], "warm": [1.0] * 3, "changed": [1.5, 1.75, 1.5]}

    def __call__(self, command: list[str], environment: dict[str, str], *, folder: Path, memory: bool) -> Run:
        self.commands.append(command)
        self.environments.append(environment)
        seconds = self.time_of(command)
        return Run(seconds=seconds, peak_mb=300.4 if memory else None, code=self.code, errors="it broke\n")

    def time_of(self, command: list[str]) -> float:
        if "check" not in command:
            return 10.0
        target, cache = Path(command[command.index("check") + 1]), command[-1]
        if target.name in ("empty", "short"):
            return 0.25 if target.name == "empty" else 0.75
        seen = sum(command[-1] == cache for command in self.commands)
        left = self.seconds[("cold", "warm", "changed")[seen - 1]]
        return left.pop(0) if left else 5.0


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Programs:
    programs = Programs()
    monkeypatch.setattr(bench, "run_command", programs)
    return programs


def test_medians_of_steps_in_turns(code: Path, programs: Programs):
    before = (code / "area.py").read_text()
    measured = measure_check(code, model=Path("model"), repeats=3, jobs=2, pylint="pylint")
    expected = {"start": 0.25, "ready": 0.75, "cold": 5.0, "warm": 1.0, "changed": 1.5, "pylint": 10.0}
    assert measured["seconds"] == expected
    assert measured["changed_after"] == {"start": 1.25, "ready": 0.75}
    assert measured["over_pylint"] == 0.5
    assert measured["peak_mb"] == {"cold": 300, "pylint": 300}
    assert (measured["files"], measured["lines"]) == (2, 6)
    first = programs.commands[1]
    assert first[1:4] == ["-m", "hyperheat", "check"]
    assert first[first.index("--model") + 1] == str(Path("model").resolve())
    assert programs.commands[5][:3] == ["pylint", "-j2", "--persistent=n"]
    assert (code / "area.py").read_text() == before  # the copy was changed


def test_without_pylint(code: Path, programs: Programs):
    measured = measure_check(code, model=None, repeats=1, jobs=1, pylint=None)
    assert measured["over_pylint"] is None
    assert "pylint" not in measured["seconds"]
    assert "--model" not in programs.commands[0]


@pytest.mark.parametrize("code_of_exit", [2, 3, -9])
def test_a_scan_that_failed_is_no_measurement(code: Path, programs: Programs, code_of_exit: int):
    programs.code = code_of_exit
    with pytest.raises(ValueError, match=f"expected a scan, got exit code {code_of_exit}: it broke"):
        measure_check(code, model=None, repeats=1, jobs=1, pylint=None)


def test_one_function_is_changed_in_each_turn(code: Path):
    seen = {(code / "area.py").read_text()}
    for turn in range(3):
        change_function(code, turn)
        text = (code / "area.py").read_text()
        assert text not in seen
        seen.add(text)
        tree = ast.parse(text)
        assert [type(node).__name__ for node in tree.body] == ["FunctionDef", "Assign"]
        assert "\n    measured_turn = " in text
    assert (code / "empty.py").read_text() == ""


def test_code_without_functions_is_refused(tmp_path: Path):
    (tmp_path / "flat.py").write_text("def f(): return 1\nx = 2\n")
    with pytest.raises(ValueError, match="expected a function of several lines, got none"):
        change_function(tmp_path / "flat.py", 0)
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="expected Python files, got none"):
        measure_check(tmp_path / "none", model=None, repeats=1, jobs=1, pylint=None)


def test_a_command_is_measured_with_its_children(tmp_path: Path):
    child = "import time; held = b'x' * 60_000_000; time.sleep(1.0)"
    parent = (
        f"import subprocess, sys; sys.stderr.write('said'); subprocess.run([sys.executable, '-c', {child!r}])"
    )
    run = run_command([sys.executable, "-c", parent], os.environ, folder=tmp_path, memory=True)
    assert (run.code, run.errors) == (0, "said")
    assert run.seconds >= 1.0
    if Path("/proc/self/smaps_rollup").exists():
        assert run.peak_mb is not None
        assert 60 < run.peak_mb < 200


def test_pylint_is_looked_for_beside_python_then_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("beside", "elsewhere"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "pylint"
        program.write_text("#!/bin/sh\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "beside" / "python"))
    assert find_pylint() == str(tmp_path / "beside" / "pylint")
    (tmp_path / "beside" / "pylint").unlink()
    assert find_pylint() == str(tmp_path / "elsewhere" / "pylint")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_pylint() is None


def test_the_command(
    code: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("benchmarks.check.find_pylint", lambda: "pylint")
    bench_check(code, json=True)
    content = json.loads(capsys.readouterr().out)
    assert content["code"] == "shapes"
    assert content["over_pylint"] == 0.5
    programs.seconds = {"cold": [8.0], "warm": [1.0], "changed": [1.5]}
    bench_check(code, repeats=1)
    printed = capsys.readouterr()
    assert "shapes: 2 files, 6 lines; medians of 1 turns, 2 processes" in printed.out
    assert "a cold scan takes 0.80 times as long as pylint" in printed.out
    assert "turn 1 of 1: cold 8.00 s" in printed.err
    with pytest.raises(SystemExit) as ended:
        bench_check(code / "nothing")
    assert ended.value.code == 2


def test_another_version_takes_the_same_steps_in_turns(code: Path, programs: Programs, tmp_path: Path):
    checkout = tmp_path / "checkout"
    (checkout / "src" / "hyperheat").mkdir(parents=True)
    programs.seconds = {"cold": [9.0, 4.0], "warm": [1.0, 2.0], "changed": [1.5, 1.75]}
    measured = measure_check(code, model=None, repeats=1, jobs=1, pylint=None, before=checkout)
    assert measured["seconds"] == {"start": 0.25, "ready": 0.75, "cold": 9.0, "warm": 1.0, "changed": 1.5}
    assert measured["before"]["seconds"] == {**measured["seconds"], "cold": 4.0, "warm": 2.0, "changed": 1.75}
    sources = [environment.get("PYTHONPATH") for environment in programs.environments]
    here = os.environ.get("PYTHONPATH")
    assert sources == [here, str(checkout / "src")] * 6  # five steps and the memory


def test_what_is_not_a_checkout_is_refused(code: Path, programs: Programs, tmp_path: Path):
    with pytest.raises(ValueError, match="before: expected a checkout of hyperheat"):
        measure_check(code, model=None, repeats=1, jobs=1, pylint=None, before=tmp_path)
