"""Worker processes: what fails is named, everything else is done, and nothing is left running."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.workers.faults import obey, obey_all, prepare, prepare_after_slow_import, prepare_badly

from hyperheat.check.preload import MODULES, load_once
from hyperheat.detector.detector import load_detector
from hyperheat.workers import pool
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost, WorkersError
from hyperheat.workers.pool import run_jobs
from hyperheat.workers.template import get_template

LIMITS = Limits(seconds=60, work_seconds=1, memory=500_000_000)
ROOT = Path(__file__).parents[2]
SCRIPT = """
from tests.workers.faults import obey
from hyperheat.workers import pool
from hyperheat.workers.limits import Limits
from hyperheat.workers.template import _templates
pool.CAN_COPY = {copied}
print("begun")
for _, result in pool.run_jobs(obey, {orders}, workers=1, limits=Limits(seconds=60), preload=["tests.workers.faults"]):
    print(result, *(template._process.pid for template in _templates.values()), flush=True)
"""


def results(
    orders: list[str],
    *,
    limits: Limits = LIMITS,
    preload: tuple[str, ...] = (),
    prepare: Callable[[], object] | None = None,
) -> dict[str, object]:
    return dict(run_jobs(obey, orders, workers=2, limits=limits, preload=preload, prepare=prepare))


@pytest.fixture(params=[True, False], ids=["copied", "started anew"])
def copied(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways to start workers, whatever this system can do."""
    monkeypatch.setattr(pool, "CAN_COPY", request.param)
    return request.param


@pytest.mark.usefixtures("copied")
def test_a_job_that_crashes_or_fails_leaves_the_others_alone():
    orders = ["crash", "one", "exit", "two", "fail", "three", "threads"]
    assert results(orders) == {
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
        "hang": Lost("it took more than 0.5 s", late=True, limited=True),
        "one": "ONE",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count all of it")
def test_work_and_memory_are_limited_also_inside_of_libraries():
    lost = Lost("it took more than 1 s of work", limited=True)
    eaten = Lost("it took more than 500 MB of memory", limited=True)
    assert results(["loop", "one", "loop in a library", "eat", "eat at once", "two"]) == {
        "loop": lost,
        "one": "ONE",
        "loop in a library": lost,
        "eat": eaten,
        "eat at once": eaten,
        "two": "TWO",
    }


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("trouble", ["crash", "fail", "loop", "hang", "eat"])
def test_parts_that_were_done_before_a_loss_are_kept(trouble: str):
    limits = Limits(seconds=5, work_seconds=1, memory=500_000_000)
    orders = ("one", "two", trouble, "three")
    (_, lost), (_, whole) = run_jobs(obey_all, [orders, ("four",)], workers=1, limits=limits)
    assert isinstance(lost, Lost)
    assert lost.parts == ("ONE", "TWO")
    assert lost.limited == (trouble in ("loop", "hang", "eat"))
    assert whole == ["FOUR"]


def test_a_limit_of_the_system_is_named(monkeypatch: pytest.MonkeyPatch):
    assert LIMITS.out_of_memory() == ("it took more than 500 MB of memory", True)
    monkeypatch.setattr("resource.getrlimit", lambda _: (300_000_000, 300_000_000))
    reason = "it ran out of memory: a limit of the system (ulimit -v) leaves 300 MB"
    assert LIMITS.out_of_memory() == (reason, False)


def test_a_worker_does_one_job_after_another_and_is_replaced_after_a_loss():
    done = [value for _, value in run_jobs(obey, ["pid", "pid", "fail", "pid"], workers=1, limits=LIMITS)]
    assert done[0] == done[1] != done[3]


def test_what_concerns_all_jobs_is_raised():
    with pytest.raises(WorkersError, match="expected a model, got none"):
        results(["one", "give up", "two"])


def test_no_jobs_start_no_process(monkeypatch):
    monkeypatch.setattr(pool, "_start_process", lambda *_: pytest.fail("it started one"))
    assert results([]) == {}


def test_a_large_job_does_not_wait_for_a_worker_that_is_busy():
    order = "x" * 3_000_000
    assert results([order, "one"])[order] == order.upper()


def test_workers_end_when_nobody_wants_their_results_any_more():
    running = run_jobs(obey, ["pid", "hang"], workers=2, limits=LIMITS)
    _, pid = next(running)
    running.close()
    assert not _alive(int(str(pid)))


def test_workers_end_with_their_parent(copied: bool):
    command = [sys.executable, "-c", SCRIPT.format(copied=copied, orders=["pid", "hang"])]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == (2 if copied else 1)
        assert all(map(_alive, pids))
        parent.kill()
    end = time.monotonic() + 30
    while any(map(_alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_alive, pids))


def test_workers_do_not_run_the_program_again(tmp_path: Path, copied: bool):
    program = tmp_path / "program.py"
    program.write_text(SCRIPT.format(copied=copied, orders=["one"]))
    assert run([str(program)], cwd=tmp_path) == ["begun", "ONE"]


def test_workers_import_nothing_from_the_current_folder(tmp_path: Path, copied: bool):
    for name in {*sys.stdlib_module_names, "numpy", "hyperheat", "tests"}:
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w')\n")
    script = SCRIPT.format(copied=copied, orders=["one"])
    program = tmp_path / "bin" / "program.py"
    program.parent.mkdir()
    program.write_text(script)
    assert run([str(program)], cwd=tmp_path) == ["begun", "ONE"]
    assert run(["-P", "-c", script], cwd=tmp_path) == ["begun", "ONE"]
    assert sorted(path.name for path in tmp_path.glob("ran-*")) == []


@pytest.mark.parametrize("job", ["'one'", "'x' * 3_000_000"])
def test_work_that_no_worker_can_import_is_refused(copied: bool, job: str):
    script = SCRIPT.format(copied=copied, orders=f"[{job}]").replace(
        "for _", "def obey(order): return order\nfor _"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True)
    assert "WorkersError: the work cannot be imported in a new process: " in done.stderr


@pytest.mark.usefixtures("copied")
def test_workers_have_the_folder_and_the_environment_of_the_program(tmp_path, monkeypatch):
    results(["one"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYPERHEAT_TEST", "new")
    assert results(["folder", "variable"]) == {"folder": str(tmp_path), "variable": "new"}


def test_what_is_prepared_before_a_worker_starts_is_there_when_it_has_started():
    orders = ["prepared", "pid", "fail", "prepared"]
    running = run_jobs(
        obey, orders, workers=1, limits=LIMITS, preload=["tests.workers.faults"], prepare=prepare
    )
    first, worker, _, second = (str(result) for _, result in running)
    assert second.split() == [first, first]
    assert worker != first
    assert os.getpid() != int(first)


def test_a_preparation_that_fails_leaves_it_to_the_work():
    assert results(["one"], prepare=prepare_badly) == {"one": "ONE"}


def test_a_template_that_was_killed_is_replaced():
    assert results(["one"]) == {"one": "ONE"}
    get_template()._process.kill()
    assert results(["one"]) == {"one": "ONE"}


def test_a_template_that_dies_again_and_again_is_given_up():
    with pytest.raises(WorkersError, match=r"^worker processes cannot start: one ended$"):
        results(["one"], prepare=partial(os._exit, 3))
    assert results(["one"]) == {"one": "ONE"}


def test_a_template_belongs_to_the_process_that_started_it():
    template = get_template()
    assert in_a_fork(lambda: get_template() is not template)
    assert template.alive


def test_a_copy_of_the_program_leaves_its_workers_alone():
    running = run_jobs(obey, ["one", "two", "three"], workers=1, limits=LIMITS)
    assert next(running) == ("one", "ONE")
    assert in_a_fork(lambda: running.close() is None)
    assert list(running) == [("two", "TWO"), ("three", "THREE")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_a_template_has_no_threads_when_it_is_copied(exported_detector: Path):
    template = get_template(MODULES)
    detector = load_detector(exported_detector)
    template.call(partial(load_once, detector.folder, detector.key))
    copy = template.copy()
    copy.connection.recv()
    assert len(list(Path(f"/proc/{template._process.pid}/task").iterdir())) == 1
    copy.end()


def test_nothing_is_prepared_while_the_first_module_is_imported():
    preload = ("tests.workers.slow", "tests.workers.faults")
    done = results(["prepared"], preload=preload, prepare=prepare_after_slow_import)
    assert done == {"prepared": "True"}


def test_a_message_that_is_broken_off_is_not_misunderstood(monkeypatch, capfd):
    assert results(["one"]) == {"one": "ONE"}
    with monkeypatch.context() as patch:
        patch.setattr("multiprocessing.reduction.send_handle", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            results(["one"])
    assert results(["one"]) == {"one": "ONE"}
    assert capfd.readouterr().err == ""


def test_a_preparation_that_no_worker_can_import_leaves_it_to_the_work(capfd):
    script = SCRIPT.format(copied=True, orders=["one"]).replace("workers=1", "workers=1, prepare=nothing")
    done = subprocess.run(
        [sys.executable, "-c", f"def nothing(): pass\n{script}"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert (done.stdout.split()[:2], done.stderr) == (["begun", "ONE"], "")


@pytest.mark.parametrize(
    "trouble",
    [
        "sys.path.append(pathlib.Path('a'))",
        "os.close(0)",
        "os.close(0); os.close(1); sys.stdout = sys.stderr",
    ],
)
def test_workers_start_in_strange_programs(trouble: str):
    script = f"import os, pathlib, sys\n{trouble}\n{SCRIPT.format(copied=True, orders=['one'])}"
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True)
    assert (done.stdout + done.stderr).split()[:2] == ["begun", "ONE"]


def test_workers_of_an_isolated_program_are_isolated(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text("open('ran', 'w')\n")
    script = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{SCRIPT.format(copied=True, orders=['one'])}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split()[:2] == ["begun", "ONE"], done.stderr
    assert not (tmp_path / "ran").exists()


def in_a_fork(check: Callable[[], bool]) -> bool:
    """Whether something holds in a copy of this process, which ends then."""
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = check()
        finally:
            os._exit(0 if good else 1)
    return os.waitpid(child, 0)[1] == 0


def run(words: list[str], *, cwd: Path) -> list[str]:
    """The first word of each line that a program prints which may import the tests."""
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment(), capture_output=True, text=True, check=True
    )
    return [line.split()[0] for line in done.stdout.splitlines()]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # it may have ended without anybody who took notice
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
