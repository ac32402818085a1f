"""Worker processes that may hang, run out of memory or crash without harm to the rest.

Each has one job at a time. One that dies or takes too long is ended and replaced, and its job has failed.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from hyperheat.bugs.corpus.outcome import Outcome, Stage, attempt
from hyperheat.bugs.corpus.stages import Job

__all__ = ["SECONDS_PER_PACKAGE", "run_in_processes"]

SECONDS_PER_PACKAGE = 1800.0

_SPAWN = multiprocessing.get_context("spawn")
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS")


def run_in_processes(
    stage: Stage, jobs: Iterable[Job], workers: int, *, seconds: float = SECONDS_PER_PACKAGE
) -> Iterator[tuple[Job, Outcome]]:
    """Do the jobs in some processes and yield each with its outcome as soon as it is there."""
    left = iter(jobs)
    busy: list[_Worker] = []
    try:
        for job in left:
            busy.append(_Worker.start(stage, job, seconds))
            if len(busy) == workers:
                break
        while busy:
            for worker in _ready(busy):
                yield worker.job, worker.outcome()
                job = next(left, None)
                busy.remove(worker)
                if job is not None:
                    busy.append(worker.next(stage, job, seconds))
                else:
                    worker.end()
    finally:
        for worker in busy:
            worker.end()


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    job: Job
    deadline: float
    seconds: float = field(repr=False)

    @classmethod
    def start(cls, stage: Stage, job: Job, seconds: float) -> "_Worker":
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_serve, args=(stage, theirs), daemon=True)
        with _one_thread_each():
            process.start()
        theirs.close()
        ours.send(job)
        return cls(process, ours, job, time.monotonic() + seconds, seconds)

    def next(self, stage: Stage, job: Job, seconds: float) -> "_Worker":
        """This worker with another job, or a new worker if this one is no more."""
        try:
            self.connection.send(job)
        except (BrokenPipeError, ConnectionError, OSError):
            self.end()
            return _Worker.start(stage, job, seconds)
        return _Worker(self.process, self.connection, job, time.monotonic() + seconds, seconds)

    def outcome(self) -> Outcome:
        """What the process says; if it says nothing, why not."""
        if self.connection.poll():
            try:
                return self.connection.recv()
            except (EOFError, ConnectionError):
                self.process.join(1)
                code = self.process.exitcode
                how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
                self.end()
                return Outcome(problem=f"its worker process ended {how}")
        self.end()
        return Outcome(problem=f"it took more than {self.seconds:g} s", passing=True)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self.process.kill()
        self.process.join()


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


def _ready(workers: list[_Worker]) -> list[_Worker]:
    """The workers that have something to say, have died or have taken too long; waits for the first."""
    remaining = min(worker.deadline for worker in workers) - time.monotonic()
    said = wait([worker.connection for worker in workers], max(remaining, 0))
    now = time.monotonic()
    return [worker for worker in workers if worker.connection in said or worker.deadline <= now]


def _serve(stage: Stage, connection: Connection) -> None:
    """Do one job after another; end with the parent process, however that ends."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            connection.send(attempt(stage, connection.recv()))
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
