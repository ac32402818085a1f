"""A run in a process of its own ends with the process that started it."""

import signal
import subprocess
import sys

import pytest

START = """
import sys
from hyperheat.reproduce.going import run_alone
print("begun", flush=True)
sys.exit(1 if run_alone(["explain", "--help"]) else 7)
"""
WAIT = "import time; print('waiting', flush=True); time.sleep(60)"


def test_the_exit_code_is_that_of_the_run():
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7, done.stderr
    assert "hyperheat explain" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM on Windows")
def test_a_run_ends_with_its_starter(tmp_path):
    # Any program stands for the run, so that the test need not wait for one to begin training.
    (tmp_path / "hyperheat_run.py").write_text(WAIT)
    starter = START.replace("import sys\n", f"import sys\nsys.executable = {str(tmp_path / 'python')!r}\n", 1)
    (tmp_path / "python").write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path / 'hyperheat_run.py'}\n")
    (tmp_path / "python").chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["begun\n", "waiting\n"]
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=20)  # it has no end while the run holds the other end
    assert (rest, process.returncode) == ("", 1)
