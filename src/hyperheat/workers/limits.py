"""Limits on the work of a process.

Work is measured in processor time, so that the result for a file does not depend on how busy the machine is.
`time_limit` and `confined` stop Python code with an exception. `Limits`, enforced by the operating system, also stop code
inside libraries: the process is killed when its time is up, and gets no more memory than allowed.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

try:
    import resource
except ImportError:  # not on Windows, where the time on the clock alone is limited
    resource = None

__all__ = ["Limits", "confined", "time_limit"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one job may use: seconds on the clock, seconds of processor time, bytes of memory of its own."""

    seconds: float
    work_seconds: int | None = None
    memory: int | None = None

    def apply(self) -> None:
        """Limit the memory of this process, and write no core file when it is killed."""
        if resource is not None:
            _lower(resource.RLIMIT_CORE, 0)
            if self.memory is not None:
                _lower(resource.RLIMIT_DATA, self.memory)

    def out_of_memory(self) -> tuple[str, bool]:
        """Why this process ran out of memory, and whether because of this limit or another one that it was started with."""
        space = None if resource is None else resource.getrlimit(resource.RLIMIT_AS)[0]
        if resource is not None and space is not None and space != resource.RLIM_INFINITY:
            left = f"{space / 1e6:,.0f} MB"
            return f"it ran out of memory: a limit of the system (ulimit -v) leaves {left}", False
        if self.memory is None:
            return "it ran out of memory", False
        return f"it took more than {self.memory / 1e6:,.0f} MB of memory", True

    def begin_job(self) -> None:
        """Count processor time from now on; SIGXCPU ends the process when the limit is reached."""
        if resource is not None and self.work_seconds is not None:
            _lower(resource.RLIMIT_CPU, int(time.process_time()) + 1 + self.work_seconds)


def _lower(what: int, limit: int) -> None:
    """Set a soft limit, or the hard limit if that is lower."""
    assert resource is not None
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after some seconds of processor time; only in the main thread, which alone gets signals."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds} s of work")

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


@contextmanager
def confined(*, seconds: float, memory: int) -> Iterator[None]:
    """Raise TimeoutError after some seconds of work, and MemoryError when it needs so many bytes more than now.

    For work of this process on small files that may hold anything. Only Linux tells how much memory there is now.
    """
    now = _data_bytes()
    if resource is None or now is None:
        with time_limit(seconds):
            yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if before == resource.RLIM_INFINITY or now + memory < before:
        resource.setrlimit(resource.RLIMIT_DATA, (now + memory, hard))
    try:
        with time_limit(seconds):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _data_bytes() -> int | None:
    """The memory of this process that counts towards its limit."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
