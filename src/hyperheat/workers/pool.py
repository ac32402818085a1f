"""A pool of worker processes, each with one job at a time.

A worker that dies, takes too long or fails is ended and replaced, and its job is lost. All end with their parent.
"""

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost, WorkersError
from hyperheat.workers.spawned_worker import Spawned
from hyperheat.workers.template import CAN_COPY, ONE_THREAD, Copy, get_template
from hyperheat.workers.worker import PARTS, STOPPED, JobAnswer, Part, Setup, Stop

__all__ = ["PoolWorker", "make_setup", "run_jobs"]

JobT = TypeVar("JobT")
Result = TypeVar("Result")

_START_SECONDS = 120.0
_ATTEMPTS = 3  # to start one worker


def run_jobs(
    work: Callable[[JobT], Result],
    jobs: Iterable[JobT],
    *,
    workers: int,
    limits: Limits,
    preload: Sequence[str] = (),
    prepare: Callable[[], object] | None = None,
    on_part: Callable[[JobT, Any], object] | None = None,
) -> Generator[tuple[JobT, Result | Lost], None, None]:
    """Run jobs in worker processes and yield each with its result as soon as it is done.

    A process starts only when there is a job for it. `work`, jobs and results are sent through pipes, so their types must be
    defined in modules. An error loses only its job, but a WorkersError stops everything. If `work` is a generator, the
    result is the list of what it yields; a lost job keeps the parts that arrived. `on_part` is called with the job and
    each part as soon as it arrives.

    Where processes can be copied, workers are copies of one that has imported the modules in `preload`, and calls
    `prepare` before each copy. Its errors are for the work to meet again.
    """
    setup = make_setup(work, limits)
    left = iter(jobs)
    team: list[PoolWorker[JobT, Result]] = []
    try:
        while True:
            while len(team) < workers and (job := next(left, None)) is not None:
                team.append(PoolWorker(setup, preload, prepare, job, on_part))
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


def make_setup(work: Callable[[Any], Any], limits: Limits) -> Setup:
    """What workers are told about their work and about this process."""
    return Setup(work, limits, os.getcwd(), os.environ | ONE_THREAD)


class PoolWorker(Generic[JobT, Result]):
    """A process and its job, which is sent when the process has started and reads, so that sending never blocks."""

    def __init__(
        self,
        setup: Setup,
        preload: Sequence[str],
        prepare: Callable[[], object] | None,
        job: JobT,
        on_part: Callable[[JobT, Any], object] | None = None,
    ) -> None:
        self._on_part = on_part
        self._setup, self._preload, self._prepare = setup, preload, prepare
        self.job = job
        self._parts: list[Any] = []
        self._failures = 0
        self.stopped = False
        self._start()

    def _start(self) -> None:
        self._process = _start_process(self._preload, self._prepare)
        self.connection = self._process.connection
        self._started = False
        self.deadline = time.monotonic() + _START_SECONDS

    @property
    def parts(self) -> Sequence[Any]:
        """The parts of the result that have arrived."""
        return self._parts

    def give(self, job: JobT) -> None:
        """Send another job to the process, or to a new one if it is gone."""
        self.job, self._parts, self.stopped = job, [], False
        try:
            if not self._started:
                self.connection.send(self._setup)
            self.connection.send(job)
        except OSError:
            self._refused()
        else:
            self._started, self._failures = True, 0
            self.deadline = time.monotonic() + self._setup.limits.seconds

    def stop(self, *, seconds: float) -> None:
        """Have the job given up, which the answer then tells; it is lost if that takes more than some seconds."""
        self.stopped = True
        if self._started:
            with suppress(OSError):  # it has died, which the answer tells too
                self.connection.send(Stop())
            self.deadline = min(self.deadline, time.monotonic() + seconds)

    def answer(self) -> JobAnswer | None:
        """The result of the job once the process has answered, died or taken too long."""
        said = None
        while self.connection.poll():
            try:
                said = self.connection.recv()
            except (EOFError, OSError):
                return self._dead()
            if isinstance(said, WorkersError):
                raise said
            if isinstance(said, JobAnswer):
                return self._finished(said)
            if isinstance(said, Part):
                self._parts.append(said.value)
                if self._on_part is not None:
                    self._on_part(self.job, said.value)
            else:
                return self._begin()
        return self._overdue() if said is None or time.monotonic() >= self.deadline else None

    def _begin(self) -> JobAnswer | None:
        """Send the first job to a process that has started, unless it was stopped before that."""
        if not self.stopped:
            self.give(self.job)
            return None
        with suppress(OSError):  # then the next job goes to a new process
            self.connection.send(self._setup)
        self._started = True
        return JobAnswer(STOPPED)

    def _finished(self, answer: JobAnswer) -> JobAnswer:
        if isinstance(answer.value, Lost):
            return JobAnswer(replace(answer.value, parts=tuple(self._parts)))
        return JobAnswer(self._parts) if answer.value == PARTS else answer

    def _lost(self, reason: str, *, late: bool = False, limited: bool = False) -> JobAnswer:
        return JobAnswer(Lost(reason, late, limited, tuple(self._parts)))

    def _refused(self) -> None:
        """Start a new process, unless the old one said why it ended."""
        with suppress(EOFError, OSError):
            while self.connection.poll():
                if isinstance(said := self.connection.recv(), WorkersError):
                    raise said
        self._start_again(f"one ended{_how(self._process.exit_code())}")

    def _overdue(self) -> JobAnswer | None:
        if self._started:
            return self._lost(f"it took more than {self._setup.limits.seconds:g} s", late=True, limited=True)
        self._start_again(f"one took more than {_START_SECONDS:g} s")
        return None

    def _dead(self) -> JobAnswer | None:
        code = self._process.exit_code()
        if self._started and code == -getattr(signal, "SIGXCPU", 0):
            return self._lost(f"it took more than {self._setup.limits.work_seconds} s of work", limited=True)
        if self._started:
            return self._lost(f"its worker process ended{_how(code)}")
        self._start_again(f"one ended{_how(code)}")
        return None

    def _start_again(self, problem: str) -> None:
        self._failures += 1
        if self._failures == _ATTEMPTS:
            raise WorkersError(f"worker processes cannot start: {problem}")
        self._process.end()
        self._start()

    def end(self) -> None:
        """Kill the process."""
        self._process.end()


def _how(code: int | None) -> str:
    """How a process ended, as the end of a sentence."""
    if code is None:
        return ""
    return f" by signal {-code}" if code < 0 else f" with exit code {code}"


def _start_process(preload: Sequence[str], prepare: Callable[[], object] | None) -> Copy | Spawned:
    if not CAN_COPY:
        return Spawned()
    template = get_template(preload)
    if prepare is not None:
        template.call(prepare)
    return template.copy()


def _speaking(team: list[PoolWorker[JobT, Result]]) -> list[PoolWorker[JobT, Result]]:
    """The workers that have answered, died or taken too long; waits for the first."""
    remaining = min(worker.deadline for worker in team) - time.monotonic()
    said = wait([worker.connection for worker in team], max(remaining, 0))
    now = time.monotonic()
    return [worker for worker in team if worker.connection in said or worker.deadline <= now]
