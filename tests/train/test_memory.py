"""Freed memory stays with the process for as long as it is asked to."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from hyperheat.bench.timing import _status_kb
from hyperheat.train.memory import freed_memory_kept

before = _status_kb("VmRSS")
with freed_memory_kept():
    np.ones(25_000_000)  # is freed at once
    print(_status_kb("VmRSS") - before)
print(_status_kb("VmRSS") - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have no such option")
def test_freed_memory_is_kept_until_the_end():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    kept, after = map(int, run.stdout.split())
    assert kept > 150_000 > after + 100_000
