"""`hyperheat fix --interactive`: one question after the other, on a pseudo-terminal."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.scans import BUGGY

pty = pytest.importorskip("pty")

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from pathlib import Path
import pytest
from tests.cli import scans
from hyperheat.cli import main
from hyperheat.detector.detector import Detector

detector = Detector(Path.cwd(), "fake", "0" * 64, scans.CALIBRATION, "key")
with pytest.MonkeyPatch.context() as patch:
    patch.setattr("hyperheat.check.checker.scan_files", scans.fake_scan)
    patch.setattr("hyperheat.check.installed_models.load_model", lambda text, setting=None: detector)
    patch.setattr(
        "hyperheat.check.repairs.run_jobs", lambda work, jobs, **_: [(job, work(job)) for job in jobs]
    )
    sys.argv = ["hyperheat", "fix", "--interactive", "--allow-dirty", "--no-cache", *sys.argv[1:]]
    main()
"""
ONE = "def area(a, b):\n    return a * a  # 0.95\n"
TWO = BUGGY + "\n\ndef third(a, b):\n    return a + a  # 0.96\n"


def answer(folder: Path, answers: list[str], *options: str) -> tuple[int, str]:
    """Run the command in a folder with a terminal, and answer each question; the code and all that was shown."""
    master, slave = pty.openpty()
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "TERM": "dumb"}
    command = [sys.executable, "-c", SCRIPT, *options]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, close_fds=True
    )
    os.close(slave)
    shown, given, end = "", 0, time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 1.0)
        if ready:
            try:
                part = os.read(master, 4096).decode()
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        if shown.count("Make this repair?") > given and given < len(answers):
            os.write(master, answers[given].encode())
            given += 1
    os.close(master)
    return process.wait(timeout=60), shown.replace("\r\n", "\n")


def test_yes_and_no(tmp_path: Path):
    (tmp_path / "a.py").write_text(ONE)
    (tmp_path / "b.py").write_text(ONE)
    code, shown = answer(tmp_path, ["n\n", "y\n"])
    assert code == 0, shown
    assert "(1/2) Make this repair? [y,n,a,q,?] " in shown
    assert "a.py:2:16 in area" in shown
    assert "+ |     return a * b  # 0.95" in shown
    assert shown.endswith("1 repair in 1 file written.\n")
    assert (tmp_path / "a.py").read_text() == ONE
    assert (tmp_path / "b.py").read_text() == ONE.replace("a * a", "a * b")


def test_all_in_the_file_and_then_quit(tmp_path: Path):
    (tmp_path / "a.py").write_text(TWO)
    (tmp_path / "b.py").write_text(ONE)
    code, shown = answer(tmp_path, ["?\n", "a\n", "q\n"], "--unsafe-fixes", "--tier", "B")
    assert code == 0, shown
    assert "q - skip it and all that follow; repairs already accepted are made" in shown
    assert shown.count("Make this repair?") == 3  # the first one twice, then that of the other file
    fixed = TWO.replace("a * a", "a * b").replace("a - a", "a - b").replace("a + a", "a + b")
    assert (tmp_path / "a.py").read_text() == fixed
    assert (tmp_path / "b.py").read_text() == ONE


def test_the_end_of_the_input_changes_nothing(tmp_path: Path):
    (tmp_path / "a.py").write_text(ONE)
    code, shown = answer(tmp_path, ["\x04"])
    assert code == 0, shown
    assert "No repairs." in shown
    assert (tmp_path / "a.py").read_text() == ONE


def test_unsafe_repairs_are_not_offered_unless_told(tmp_path: Path):
    (tmp_path / "a.py").write_text(TWO)
    code, shown = answer(tmp_path, ["n\n", "n\n"], "--tier", "B")
    assert code == 0, shown
    assert "(2/2) Make this repair?" in shown  # of three findings
    assert "1 unsafe repair is left out (--unsafe-fixes)." in shown
