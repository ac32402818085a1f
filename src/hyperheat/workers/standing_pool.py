"""A pool of workers that stays for as long as its program, for work that comes now and then and may be given up.

    pool = StandingPool(work, workers=2, limits=limits)
    task = pool.submit(job, urgent=True, tell=print)     # Part(...), then JobAnswer(...)
    pool.cancel(task)
    pool.close()

Urgent jobs come first, the newest of them before the others. All workers but one take other jobs too, so that an urgent
job never waits for one that takes long. A job that is cancelled is stopped between two parts of its result; if that takes
too long, its process is killed.

One thread does all this; `tell` is called in it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import WorkersError
from hyperheat.workers.pool import PoolWorker, make_setup
from hyperheat.workers.worker import STOPPED, JobAnswer, Part

__all__ = ["StandingPool", "Task"]

_SECONDS_TO_STOP = 0.3
_MOST_SECONDS = 3_600.0


@dataclass(eq=False, kw_only=True)
class Task:
    """A job in the pool, until it is answered or cancelled."""

    job: Any
    urgent: bool
    tell: Callable[[Part | JobAnswer], None]
    number: int
    cancelled: bool = False
    worker: PoolWorker | None = field(default=None, repr=False)
    told: int = 0
    """How many parts were told."""


class StandingPool:
    """Worker processes, the jobs that wait for one, and the thread that brings them together."""

    def __init__(
        self,
        work: Callable[[Any], Any],
        *,
        workers: int,
        limits: Limits,
        preload: Sequence[str] = (),
        prepare: Callable[[], object] | None = None,
    ) -> None:
        if workers < 2:
            raise ValueError(f"workers: expected at least 2, got {workers}")
        self._setup, self._preload, self._prepare = make_setup(work, limits), preload, prepare
        self._most = workers
        self._lock = threading.Lock()
        self._waiting: list[Task] = []
        self._running: list[Task] = []
        self._idle: list[PoolWorker] = []
        self._numbers = count()
        self._closed = False
        self._bell, self._ring = Pipe(duplex=False)
        self._thread = threading.Thread(target=self._run, name="workers", daemon=True)
        self._thread.start()

    def submit(self, job: Any, *, tell: Callable[[Part | JobAnswer], None], urgent: bool = False) -> Task:
        """Have a job done; parts of its result are told as they come, then the answer, unless it is cancelled."""
        task = Task(job=job, urgent=urgent, tell=tell, number=next(self._numbers))
        with self._lock:
            self._waiting.append(task)
        self._wake()
        return task

    def cancel(self, task: Task) -> None:
        """Give a job up. What the thread is just telling may still arrive."""
        task.cancelled = True
        self._wake()

    def close(self) -> None:
        """End all processes, and wait until they have ended."""
        self._closed = True
        self._wake()
        self._thread.join()

    def _wake(self) -> None:
        with suppress(OSError), self._lock:  # closed
            self._ring.send_bytes(b"!")

    def _run(self) -> None:
        try:
            while not self._closed:
                self._stop_cancelled()
                self._start_waiting()
                self._listen()
        finally:
            self._closed = True
            for worker in (*self._idle, *(task.worker for task in self._running if task.worker)):
                worker.end()
            with self._lock:
                self._bell.close()
                self._ring.close()

    def _stop_cancelled(self) -> None:
        with self._lock:
            self._waiting = [task for task in self._waiting if not task.cancelled]
        for task in self._running:
            if task.cancelled and task.worker is not None and not task.worker.stopped:
                task.worker.stop(seconds=_SECONDS_TO_STOP)

    def _start_waiting(self) -> None:
        while (task := self._next()) is not None:
            self._running.append(task)
            try:
                if self._idle:
                    task.worker = self._idle.pop()
                    task.worker.give(task.job)
                else:
                    task.worker = PoolWorker(self._setup, self._preload, self._prepare, task.job)
            except (WorkersError, OSError) as error:
                self._fail(task, error)

    def _next(self) -> Task | None:
        """The job to begin now."""
        with self._lock:
            if len(self._running) == self._most:
                return None
            others = sum(not task.urgent for task in self._running)
            fitting = [task for task in self._waiting if task.urgent or others < self._most - 1]
            best = max(fitting, key=lambda task: (task.urgent, task.number), default=None)
            if best is not None:
                self._waiting.remove(best)
            return best

    def _listen(self) -> None:
        """Wait until a worker says something or is late, or somebody wants something."""
        now = time.monotonic()
        deadlines = [task.worker.deadline for task in self._running if task.worker]
        seconds = max(0.0, min([*deadlines, now + _MOST_SECONDS]) - now)
        workers = [*self._idle, *(task.worker for task in self._running if task.worker)]
        said = wait([self._bell, *(worker.connection for worker in workers)], seconds)
        while self._bell.poll():
            self._bell.recv_bytes()
        for worker in [worker for worker in self._idle if worker.connection in said]:
            self._idle.remove(worker)  # an idle worker has nothing to say: it is dead
            worker.end()
        now = time.monotonic()
        for task in list(self._running):
            if task.worker and (task.worker.connection in said or task.worker.deadline <= now):
                self._hear(task, task.worker)

    def _hear(self, task: Task, worker: PoolWorker) -> None:
        try:
            answer = worker.answer()
        except (WorkersError, OSError) as error:
            self._fail(task, error)
            return
        parts = worker.parts
        for part in parts[task.told :]:
            self._tell(task, Part(part))
        task.told = len(parts)
        if answer is None:
            return
        self._running.remove(task)
        if answer.lost:
            worker.end()
        else:
            self._idle.append(worker)
        if answer.value != STOPPED:
            self._tell(task, answer)

    def _fail(self, task: Task, error: Exception) -> None:
        """Tell that workers cannot do the job."""
        self._running.remove(task)
        if task.worker is not None:
            task.worker.end()
        self._tell(task, JobAnswer(WorkersError(str(error))))

    def _tell(self, task: Task, what: Part | JobAnswer) -> None:
        if not task.cancelled:
            task.tell(what)
