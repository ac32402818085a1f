"""The desk keeps its process, replaces one that is lost, and refuses what is too much."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperheat.check.records import FunctionRecord
from hyperheat.detector.detector import load_detector
from hyperheat.web import desk as desk_module
from hyperheat.web.desk import Desk, DeskError
from hyperheat.web.look import Drawing, DrawJob, PlacesJob, Refusal, Source
from hyperheat.workers.limits import Limits

SMALL = Source(
    b"def first(items, default):\n    for item in items:\n        return items\n    return default\n"
)


def test_jobs_are_answered_and_refused():
    with Desk(load_detector()) as desk:
        desk.warm_up()
        record = desk.ask(PlacesJob(SMALL, 1))
        assert isinstance(record, FunctionRecord)
        assert len(record.places) == 3
        assert desk.ask(PlacesJob(SMALL, 2)) == Refusal("no function begins here")
        broken = desk.ask(PlacesJob(Source(b"def f(:\n"), 1))
        assert isinstance(broken, Refusal)
        assert "not valid Python 3" in broken.reason
        drawing = desk.ask(DrawJob(SMALL, 1, None, 7))
        assert isinstance(drawing, Drawing)
        assert ">7</text>" in (drawing.svg or "")


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs to find the process of the desk")
def test_a_lost_process_is_replaced():
    before = _descendants()
    with Desk(load_detector(), Limits(seconds=60, work_seconds=20)) as desk:
        assert isinstance(desk.ask(PlacesJob(SMALL, 1)), FunctionRecord)
        started = _descendants() - before
        assert started
        for process in started:
            os.kill(process, signal.SIGKILL)
        end = time.monotonic() + 60
        while True:
            try:
                assert isinstance(desk.ask(PlacesJob(SMALL, 1)), FunctionRecord)
                return
            except DeskError:
                assert time.monotonic() < end


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(desk_module, "_MOST_WAITING", 1)
    with Desk(load_detector()) as desk, ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(desk.ask, PlacesJob(SMALL, 1)) for _ in range(6)]
        errors = [answer.exception() for answer in answers]
    assert any(error is None for error in errors)
    refused = [error for error in errors if error is not None]
    assert refused
    assert all(str(error) == "too many questions at a time; try again" for error in refused)


def _descendants() -> set[int]:
    """The processes that descend from this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}
