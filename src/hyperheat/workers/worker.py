"""What a worker process does: one job after another, until its connection is closed."""

import gc
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost, WorkersError

__all__ = ["PARTS", "STOPPED", "JobAnswer", "Part", "Setup", "Stop", "serve"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a result, sent as soon as it is done."""

    value: Any


@dataclass(frozen=True, slots=True)
class Stop:
    """Sent to a worker to give up its job, if that gives parts, after the current one."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker must know before it gets jobs."""

    work: Callable[[Any], Any]
    limits: Limits
    folder: str
    """The current folder of the program."""
    environment: dict[str, str]
    """The environment of the program, except for the number of threads."""


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """What a worker sends when a job is done."""

    value: Any

    @property
    def lost(self) -> bool:
        return isinstance(self.value, Lost)


PARTS = "parts"
"""Sent instead of a result whose parts were all sent."""
STOPPED = "stopped"
"""Sent instead of the rest of a result whose job was given up on request."""


def serve(connection: Connection, wait_for_end: Callable[[], object]) -> None:
    """Announce this process, receive the setup, then do jobs; exit when the program does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides what an interrupt means
    gc.set_threshold(
        20_000, 20, 50
    )  # syntax trees are many small objects; looking for cycles took a quarter of the time
    threading.Thread(target=_end_after, args=(wait_for_end,), daemon=True).start()
    try:
        connection.send(None)
        setup = _take_setup(connection)
        while setup is not None:
            job = connection.recv()
            if isinstance(job, Stop):  # for a job that was done before this came
                continue
            setup.limits.begin_job()
            connection.send(_attempt(setup.work, job, setup.limits, connection))
    except (EOFError, OSError):
        return


def _take_setup(connection: Connection) -> Setup | None:
    """Receive the setup; None, after telling the program, if the work cannot be imported here."""
    try:
        setup: Setup = connection.recv()
    except (ImportError, AttributeError) as error:
        connection.send(WorkersError(f"the work cannot be imported in a new process: {error}"))
        return None
    with suppress(OSError):  # the folder may be gone
        os.chdir(setup.folder)
    os.environ.clear()
    os.environ.update(setup.environment)
    setup.limits.apply()
    return setup


def _attempt(
    work: Callable[[Any], Any], job: Any, limits: Limits, connection: Connection
) -> JobAnswer | WorkersError:
    try:
        result = work(job)
        if not isinstance(result, Generator):
            return JobAnswer(result)
        for part in result:
            if part is not None:
                connection.send(Part(part))
            if connection.poll() and isinstance(connection.recv(), Stop):
                result.close()
                return JobAnswer(STOPPED)
        return JobAnswer(PARTS)
    except WorkersError as error:
        return error
    except MemoryError:
        reason, limited = limits.out_of_memory()
        return JobAnswer(Lost(reason, limited=limited))
    except Exception as error:  # one bad job must not stop the rest
        return JobAnswer(Lost(f"{type(error).__name__}: {error}"[:200]))


def _end_after(wait: Callable[[], object]) -> None:
    """End this process, whatever it does."""
    wait()
    os._exit(1)
