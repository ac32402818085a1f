"""Worker processes: what fails is named, everything else is done, and nothing is left running."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.workers.faults import obey

from hyperheat.workers import Limits, Lost, WorkersError, run_jobs

LIMITS = Limits(seconds=60, work_seconds=1, memory=500_000_000)


def results(
    orders: list[str], *, limits: Limits = LIMITS, preload: tuple[str, ...] = ()
) -> dict[str, object]:
    return dict(run_jobs(obey, orders, workers=2, limits=limits, preload=preload))


@pytest.mark.parametrize("preload", [(), ("tests.workers.faults",)], ids=["started anew", "copied"])
def test_a_job_that_crashes_or_fails_leaves_the_others_alone(preload):
    orders = ["crash", "one", "exit", "two", "fail", "three", "threads"]
    assert results(orders, preload=preload) == {
        "crash": Lost("its worker process ended by signal 9"),
        "one": "ONE",
        "exit": Lost("its worker process ended with exit code 3"),
        "two": "TWO",
        "fail": Lost("ValueError: expected good, got bad"),
        "three": "THREE",
        "threads": "1",
    }


def test_time_on_the_clock_is_limited():
    limits = Limits(seconds=0.5)
    assert results(["hang", "one"], limits=limits) == {
        "hang": Lost("it took more than 0.5 s", late=True),
        "one": "ONE",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count all of it")
def test_work_and_memory_are_limited_also_inside_of_libraries():
    lost = Lost("it took more than 1 s of work")
    eaten = Lost("it took more than 500 MB of memory")
    assert results(["loop", "one", "loop in a library", "eat", "eat at once", "two"]) == {
        "loop": lost,
        "one": "ONE",
        "loop in a library": lost,
        "eat": eaten,
        "eat at once": eaten,
        "two": "TWO",
    }


def test_a_worker_does_one_job_after_another_and_is_replaced_after_a_loss():
    done = [value for _, value in run_jobs(obey, ["pid", "pid", "fail", "pid"], workers=1, limits=LIMITS)]
    assert done[0] == done[1] != done[3]


def test_what_concerns_all_jobs_is_raised():
    with pytest.raises(WorkersError, match="expected a model, got none"):
        results(["one", "give up", "two"])


def test_no_jobs_start_no_process():
    assert results([]) == {}


def test_a_large_job_does_not_wait_for_a_worker_that_is_busy():
    order = "x" * 3_000_000
    assert results([order, "one"])[order] == order.upper()


def test_workers_end_when_nobody_wants_their_results_any_more():
    running = run_jobs(obey, ["pid", "hang"], workers=2, limits=LIMITS)
    _, pid = next(running)
    running.close()
    assert not _alive(int(str(pid)))


def test_workers_end_with_their_parent():
    script = (
        "from tests.workers.faults import obey\n"
        "from hyperheat.workers import Limits, run_jobs\n"
        "if __name__ == '__main__':\n"
        "    for _, pid in run_jobs(obey, ['pid', 'hang'], workers=1, limits=Limits(seconds=60)):\n"
        "        print(pid, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert _alive(pid)
        parent.kill()
    end = time.monotonic() + 30
    while _alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(pid)


@pytest.mark.parametrize("preload", [(), ("tests.workers.faults",)])
def test_workers_do_not_run_the_program_again(tmp_path: Path, preload: tuple[str, ...]):
    program = tmp_path / "program.py"
    program.write_text(
        "from tests.workers.faults import obey\n"
        "from hyperheat.workers import Limits, run_jobs\n"
        "print('begun')\n"
        f"for job in run_jobs(obey, ['one'], workers=1, limits=Limits(seconds=60), preload={preload}):\n"
        "    print(*job)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "begun\none ONE\n"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    return True
