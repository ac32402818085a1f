"""Freed memory stays with the process for as long as it is asked to."""

import platform

import numpy as np
import pytest

from hyperheat.bench.timing import _status_kb
from hyperheat.train.memory import freed_memory_kept


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have no such option")
def test_freed_memory_is_kept_until_the_end():
    before = _status_kb("VmRSS")
    with freed_memory_kept():
        del_me = np.ones(25_000_000)
        del del_me
        kept = _status_kb("VmRSS") - before
    after = _status_kb("VmRSS") - before
    assert kept > 150_000 > after + 100_000
