"""What must hold before a template process is copied."""

import hashlib
import os
import threading

import pytest

from hyperheat.workers.template_process import join_wholly

TASKS = "/proc/self/task"


@pytest.mark.skipif(not os.path.exists(TASKS), reason="only Linux tells which threads there are")
def test_a_thread_that_was_joined_wholly_is_gone():
    """After `join` alone, some of these threads are still ending."""
    for _ in range(1000):
        thread = threading.Thread(target=lambda: hashlib.sha256(b"OpenSSL").digest())
        thread.start()
        join_wholly(thread)
        assert not os.path.exists(f"{TASKS}/{thread.native_id}")
