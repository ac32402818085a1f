"""`check --watch`: runs again when files have changed and come to rest, and ends with an interrupt."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.scans import BUGGY, CLEAN, Project

from hyperheat.cli.watch import watch


class Stopped(Exception):
    pass


def test_a_run_for_each_change_that_came_to_rest(tmp_path: Path, capsys):
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("1")
    slept: list[float] = []
    runs: list[str] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        match len(slept):
            case 3 | 4 | 5:  # a change of several looks is one change
                file.write_text("x" * len(slept))
            case 9:
                other.write_text("new")
            case 13:
                other.unlink()
            case 20:
                raise Stopped

    def look() -> list[Path]:
        return [path for path in (file, other) if path.exists()]

    with pytest.raises(Stopped):
        watch(look, lambda: runs.append(f"{len(slept)} {file.read_text()}"), quiet=False, sleep=sleep)
    assert runs == ["0 1", "6 xxxxx", "10 xxxxx", "14 xxxxx"]
    assert min(slept) >= 0.5
    assert capsys.readouterr().err == "Watching for changes; Ctrl-C to stop.\n" * 4


def test_slow_looks_are_rare():
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise Stopped

    def look() -> list[Path]:
        time.sleep(0.1)
        raise OSError("gone for a moment")

    with pytest.raises(Stopped):
        watch(look, lambda: None, quiet=True, sleep=sleep)
    assert slept[1] >= 0.9


def test_the_command_reports_again_and_ends_with_130(project: Project):
    project.write(a=CLEAN)
    settings = project.folder / "pyproject.toml"
    steps = iter(
        [
            lambda: project.write(a=BUGGY),
            lambda: None,
            lambda: settings.write_text("[tool.hyperheat]\nignore = ['HH1']\n"),
            lambda: None,
            lambda: settings.write_text("[tool.hyperheat]\nignored = ['HH1']\n"),
            lambda: None,
            lambda: settings.unlink(),
            lambda: None,
            lambda: (project.folder / "a.py").unlink(),
            lambda: None,
        ]
    )

    def sleep(_: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    project.patch.setattr("hyperheat.cli.watch.watch.__kwdefaults__", {"sleep": sleep})
    code, out, err = project.run("check", "--watch", "a.py")
    assert code == 130
    assert out.count("HH101 ") == 2, "with the bug, and once more when the settings were gone"
    assert "pyproject.toml: tool.hyperheat.ignored: " in err
    assert "a.py: no such file or folder\n" in err
    assert err.count("Watching ") == 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-"], "--watch cannot be used together with standard input\n"),
        (
            ["--write-baseline", "--baseline", "k.json"],
            "--watch cannot be used together with --write-baseline\n",
        ),
    ],
)
def test_what_cannot_be_watched(project: Project, words, sentence):
    assert project.run("check", "--watch", *words)[::2] == (2, sentence)


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the processor time of a process is not known here")
def test_a_real_process_waits_without_work_and_is_interrupted(tmp_path: Path):
    (tmp_path / "a.py").write_text("def f(a, b):\n    return a\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperheat", "check", "--watch", "--no-cache", "-j", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    lines = iter(process.stderr.readline, b"")
    assert any(b"Watching for changes" in line for line in lines)
    ticks = _ticks(process.pid)
    time.sleep(2)
    assert _ticks(process.pid) - ticks < 0.5
    (tmp_path / "a.py").write_text("def f(a, b):\n    return b\n")
    assert any(b"Watching for changes" in line for line in lines)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.stdout is not None
    process.stdout.close()


def _ticks(pid: int) -> float:
    """Seconds of processor time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        pytest.skip("the processor time of a process is not known here")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
