"""What a worker process does: one job after another, until nobody wants results any more."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from hyperheat.workers.limits import Limits

__all__ = ["Answer", "Lost", "Setup", "WorkersError", "serve"]


class WorkersError(RuntimeError):
    """Workers that cannot do any job."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a job came to nothing; `late` if it was ended for the time on the clock, which another day may suffice."""

    reason: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker must know before it gets jobs."""

    work: Callable[[Any], Any]
    limits: Limits
    folder: str
    """The current folder of the program."""
    environment: dict[str, str]
    """That of the program, but for the number of threads."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker says about its job."""

    value: Any

    @property
    def lost(self) -> bool:
        return isinstance(self.value, Lost)


def serve(connection: Connection, wait_for_end: Callable[[], object]) -> None:
    """Say that this process is there, take a setup, and then do jobs; end with the program, which can be waited for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program decides what an interrupt means
    threading.Thread(target=_end_after, args=(wait_for_end,), daemon=True).start()
    try:
        connection.send(None)
        setup = _take_setup(connection)
        while setup is not None:
            job = connection.recv()
            setup.limits.begin_job()
            connection.send(_attempt(setup.work, job, setup.limits))
    except (EOFError, OSError):
        return


def _take_setup(connection: Connection) -> Setup | None:
    """What there is to do, or None, which the program is told, if that is not known here."""
    try:
        setup: Setup = connection.recv()
    except (ImportError, AttributeError) as error:
        connection.send(WorkersError(f"expected work that a new process can import, got: {error}"))
        return None
    with suppress(OSError):  # the folder may be gone
        os.chdir(setup.folder)
    os.environ.clear()
    os.environ.update(setup.environment)
    setup.limits.apply()
    return setup


def _attempt(work: Callable[[Any], Any], job: Any, limits: Limits) -> Answer | WorkersError:
    try:
        return Answer(work(job))
    except WorkersError as error:
        return error
    except MemoryError:
        return Answer(Lost(f"it took more than {(limits.memory or 0) / 1e6:,.0f} MB of memory"))
    except Exception as error:  # one bad job never stops the rest
        return Answer(Lost(f"{type(error).__name__}: {error}"[:200]))


def _end_after(wait: Callable[[], object]) -> None:
    """End this process, whatever it does."""
    wait()
    os._exit(1)
