"""A pool of worker processes, each with one job at a time.

A worker that dies, takes too long or fails is ended and replaced, and its job is lost. All end with their parent.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, Generic, TypeVar

from hyperheat.workers.limits import Limits

__all__ = ["Lost", "WorkersError", "run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS")
_START_SECONDS = 120.0
_ATTEMPTS = 3  # to start one worker


class WorkersError(RuntimeError):
    """Workers that cannot do any job."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a job came to nothing; `late` if it was ended for the time on the clock, which another day may suffice."""

    reason: str
    late: bool = False


def run_jobs(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    *,
    workers: int,
    limits: Limits,
    preload: Sequence[str] = (),
) -> Generator[tuple[Job, Result | Lost], None, None]:
    """Do the jobs in some processes and yield each with its result as soon as it is there.

    A process starts only when there is a job for it. `work`, jobs and results go through pipes, so their types are
    those of modules. An error in a job loses the job, but a WorkersError ends all.

    Where the system can do that, the modules in `preload` are imported once for all workers of this process, which then
    see the environment as it was the first time.
    """
    context = _context(preload)
    left = iter(jobs)
    team: list[_Worker[Job, Result]] = []
    try:
        while True:
            while len(team) < workers and (job := next(left, None)) is not None:
                team.append(_Worker(context, work, limits, job))
            if not team:
                return
            for worker in _speaking(team):
                answer = worker.answer()
                if answer is None:
                    continue
                yield worker.job, answer.value
                job = None if answer.lost else next(left, None)
                if job is None:
                    team.remove(worker)
                    worker.end()
                else:
                    worker.give(job)
    finally:
        for worker in team:
            worker.end()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a worker says about its job."""

    value: Any

    @property
    def lost(self) -> bool:
        return isinstance(self.value, Lost)


class _Worker(Generic[Job, Result]):
    """A process and its job, which it gets when it has started: only then does it read, so that sending never waits."""

    def __init__(self, context: Any, work: Callable[[Job], Result], limits: Limits, job: Job) -> None:
        self._context, self._work, self._limits = context, work, limits
        self.job = job
        self._failures = 0
        self._start()

    def _start(self) -> None:
        self.connection, theirs = self._context.Pipe()
        self._process: BaseProcess = self._context.Process(
            target=_serve, args=(self._work, self._limits, theirs), daemon=True
        )
        with _one_thread_each(), _no_program():
            self._process.start()
        theirs.close()
        self._started = False
        self.deadline = time.monotonic() + _START_SECONDS

    def give(self, job: Job) -> None:
        """Hand over another job; if the process is no more, to a new one."""
        self.job = job
        try:
            self.connection.send(job)
        except OSError:
            self.end()
            self._start()
        else:
            self.deadline = time.monotonic() + self._limits.seconds

    def answer(self) -> _Answer | None:
        """What became of the job, once the process has said something, has died or has taken too long."""
        if not self.connection.poll():
            return self._overdue()
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            return self._dead()
        if isinstance(said, WorkersError):
            raise said
        if self._started:
            return said
        self._started, self._failures = True, 0
        self.give(self.job)
        return None

    def _overdue(self) -> _Answer | None:
        if self._started:
            return _Answer(Lost(f"it took more than {self._limits.seconds:g} s", late=True))
        self._start_again(f"it took more than {_START_SECONDS:g} s")
        return None

    def _dead(self) -> _Answer | None:
        self._process.join(_START_SECONDS)
        code = self._process.exitcode
        if self._started and code == -getattr(signal, "SIGXCPU", 0):
            return _Answer(Lost(f"it took more than {self._limits.work_seconds} s of work"))
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        if self._started:
            return _Answer(Lost(f"its worker process ended {how}"))
        self._start_again(f"it ended {how}")
        return None

    def _start_again(self, problem: str) -> None:
        self.end()
        self._failures += 1
        if self._failures == _ATTEMPTS:
            raise WorkersError(f"expected worker processes to start, got: {problem}")
        self._start()

    def end(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self._process.kill()
        self._process.join()


def _context(preload: Sequence[str]) -> Any:
    """How processes start: each anew, or as copies of one that has imported what they need."""
    if not preload or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    return context


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Tell the libraries of a process that starts now to use one thread; they ask when they are imported."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _no_program() -> Iterator[None]:
    """Keep a process that starts now from importing the program that starts it, be it a script that would run again."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _speaking(team: list[_Worker[Job, Result]]) -> list[_Worker[Job, Result]]:
    """The workers that have something to say, have died or have taken too long; waits for the first."""
    remaining = min(worker.deadline for worker in team) - time.monotonic()
    said = wait([worker.connection for worker in team], max(remaining, 0))
    now = time.monotonic()
    return [worker for worker in team if worker.connection in said or worker.deadline <= now]


def _serve(work: Callable[[Any], Any], limits: Limits, connection: Connection) -> None:
    """Do one job after another; end with the parent process, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    threading.Thread(target=_die_with_parent, daemon=True).start()
    limits.apply()
    try:
        connection.send("started")
        while True:
            job = connection.recv()
            limits.begin_job()
            connection.send(_attempt(work, job, limits))
    except (EOFError, OSError):
        return


def _attempt(work: Callable[[Any], Any], job: Any, limits: Limits) -> _Answer | WorkersError:
    try:
        return _Answer(work(job))
    except WorkersError as error:
        return error
    except MemoryError:
        return _Answer(Lost(f"it took more than {(limits.memory or 0) / 1e6:,.0f} MB of memory"))
    except Exception as error:  # one bad job never stops the rest
        return _Answer(Lost(f"{type(error).__name__}: {error}"[:200]))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
