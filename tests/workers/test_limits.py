"""The time limit of a file: work counts, waiting does not."""

import time

import pytest

from hyperheat.workers.limits import time_limit


def test_waiting_does_not_count():
    with time_limit(0.1):
        time.sleep(0.3)


def test_work_counts_and_the_limit_ends_with_its_block():
    with pytest.raises(TimeoutError, match=r"more than 0\.1 s of work"), time_limit(0.1):
        _work(30)
    _work(0.2)


def _work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(10_000))
