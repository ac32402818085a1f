"""A model that does not work ends the scan with 2 and the name of its file, and takes little memory."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hostile.models import MODELS, relist
from tests.hostile.projects import GOOD, hyperheat

MEASURE = (
    "import resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:])\n"
    "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
    "sys.exit(done.returncode)\n"
)


@pytest.mark.parametrize("change", MODELS, ids=lambda change: change.__name__)
def test_a_broken_model_ends_the_scan(
    change: Callable[[Path], None], exported_detector: Path, tmp_path: Path
):
    folder = shutil.copytree(exported_detector, tmp_path / "model")
    change(folder)
    relist(folder)
    (tmp_path / "good.py").write_text(GOOD)
    words = ("check", "good.py", "--model", str(folder), "--no-cache")
    ran = hyperheat(*words, cwd=tmp_path, before=(sys.executable, "-c", MEASURE))
    message, _, kilobytes = ran.err.rpartition("\n")
    assert ran.code == 2, ran
    assert message.startswith(f"{folder / MODELS[change]}: ")
    assert "\n" not in message
    assert int(kilobytes) * 1024 < 1_300_000_000
