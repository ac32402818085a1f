"""The same build on a real Ray cluster of this machine."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="ray is not installed")

PROJECT = Path(__file__).parent / "project"
SCRIPT = (
    "import sys; from pathlib import Path; from hyperheat.cli.bug_data import corpus\n"
    "if __name__ == '__main__': corpus(out=Path(sys.argv[1]), source=Path(sys.argv[2]), ray=sys.argv[3] or None)"
)


def build(out: Path, ray: str) -> dict[str, str]:
    """The hashes of the files of a build in a process of its own, since Ray has warnings and threads of its own."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, out, PROJECT, ray], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    paths = [*out.glob("*/*.parquet"), out / "manifest.json"]
    return {str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest() for path in paths}


def test_a_cluster_builds_what_processes_build(tmp_path: Path):
    assert build(tmp_path / "ray", "local") == build(tmp_path / "processes", "")
