"""The pool that stays: urgent jobs first, stale ones stopped or killed, and no process left behind."""

import os
import queue
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.workers.faults import count_up, obey_some

from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost
from hyperheat.workers.standing_pool import StandingPool
from hyperheat.workers.worker import JobAnswer, Part

LIMITS = Limits(seconds=60)
SECONDS = 60.0  # to wait for what takes a moment, on a busy machine


class Said(queue.Queue):
    """What a pool tells about one job."""

    def part(self) -> Any:
        said = self.get(timeout=SECONDS)
        assert isinstance(said, Part), said
        return said.value

    def answer(self) -> Any:
        while isinstance(said := self.get(timeout=SECONDS), Part):
            pass
        assert isinstance(said, JobAnswer)
        return said.value


@pytest.fixture
def pool() -> Iterator[StandingPool]:
    pool = StandingPool(obey_some, workers=2, limits=LIMITS, preload=["tests.workers.faults"])
    yield pool
    pool.close()


def test_a_worker_stays_for_the_next_job(pool):
    said = Said()
    pool.submit("pid", tell=said.put)
    first = said.answer()
    pool.submit("pid", tell=said.put, urgent=True)
    assert said.answer() == first
    os.kill(first, 0)
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_parts_are_told_before_the_answer():
    pool = StandingPool(count_up, workers=2, limits=LIMITS)
    said = Said()
    pool.submit(3, tell=said.put)
    assert [said.part(), said.part(), said.part()] == [0, 1, 2]
    assert said.answer() == [0, 1, 2]
    pool.close()


def test_a_cancelled_job_stops_between_two_parts_and_its_worker_goes_on(pool):
    endless, other = Said(), Said()
    task = pool.submit("endless", tell=endless.put)
    pid = endless.part()
    pool.cancel(task)
    pool.submit("pid", tell=other.put)  # not urgent, so it waits for the only worker that takes such jobs
    assert other.answer() == pid
    while not endless.empty():
        assert isinstance(endless.get(), Part)


def test_a_cancelled_job_that_does_not_stop_is_killed(pool):
    hanging, other = Said(), Said()
    task = pool.submit("hang", tell=hanging.put)
    pid = hanging.part()
    pool.cancel(task)
    pool.submit("pid", tell=other.put)
    assert other.answer() != pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert hanging.empty()


def test_a_job_that_is_cancelled_while_it_waits_is_never_begun(pool):
    endless, never, last = Said(), Said(), Said()
    task = pool.submit("endless", tell=endless.put)
    endless.part()
    waiting = pool.submit("pid", tell=never.put)
    pool.cancel(waiting)
    pool.cancel(task)
    pool.submit("pid", tell=last.put)
    last.answer()
    assert never.empty()


def test_urgent_jobs_do_not_wait_for_others(pool):
    endless, urgent = Said(), Said()
    for _ in range(3):
        pool.submit("endless", tell=endless.put)
    endless.part()
    pool.submit("pid", tell=urgent.put, urgent=True)
    assert isinstance(urgent.answer(), int)


def test_the_newest_of_the_waiting_jobs_comes_first(pool):
    endless, order = Said(), Said()
    task = pool.submit("endless", tell=endless.put)
    endless.part()
    for name in ("one", "two", "three"):
        pool.submit(name, tell=order.put)
    pool.cancel(task)
    assert [order.answer() for _ in range(3)] == ["THREE", "TWO", "ONE"]


def test_a_worker_that_dies_loses_its_job_and_is_replaced(pool):
    said = Said()
    pool.submit("pid", tell=said.put)
    idle = said.answer()
    os.kill(idle, signal.SIGKILL)
    pool.submit("pid", tell=said.put)
    assert said.answer() != idle
    pool.submit("hang", tell=said.put)
    os.kill(said.part(), signal.SIGKILL)
    lost = said.answer()
    assert isinstance(lost, Lost)
    assert lost.reason == "its worker process ended by signal 9"
    pool.submit("one", tell=said.put)
    assert said.answer() == "ONE"


def test_late_jobs_are_lost_with_the_parts_that_came():
    pool = StandingPool(obey_some, workers=2, limits=Limits(seconds=1))
    said = Said()
    pool.submit("hang", tell=said.put)
    pid = said.part()
    assert said.answer() == Lost("it took more than 1 s", late=True, limited=True, parts=(pid,))
    pool.close()


def test_one_worker_would_not_do():
    with pytest.raises(ValueError, match="workers: expected at least 2, got 1"):
        StandingPool(obey_some, workers=1, limits=LIMITS)
