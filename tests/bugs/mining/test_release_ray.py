"""The same mining on a real Ray cluster of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.bugs.mining.test_release_commands import PACKAGES, contents, fill

pytest.importorskip("ray", reason="ray is not installed")

SCRIPT = """
import sys
from pathlib import Path
from hyperheat.cli.bug_data import mine
if __name__ == "__main__":
    out, index, ray, *names = sys.argv[1:]
    mine(out=Path(out), index=index, package=tuple(names), ray=ray or None)
"""


def test_a_cluster_finds_what_processes_find(index, tmp_path: Path):
    """In processes of their own, since Ray has warnings and threads of its own."""
    fill(index)
    for name, ray in (("processes", ""), ("cluster", "local")):
        command = [sys.executable, "-c", SCRIPT, tmp_path / name, index.registry.address, ray, *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "cluster") == contents(tmp_path / "processes")
    assert (tmp_path / "cluster" / "manifest.json").exists()
