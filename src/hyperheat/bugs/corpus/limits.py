"""A time limit for the work on one file, inside the process that does it.

Only the processor time of the process counts: what a file gives must not depend on how busy the machine is.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["SECONDS_PER_FILE", "time_limit"]

SECONDS_PER_FILE = 60


@contextmanager
def time_limit(seconds: float = SECONDS_PER_FILE) -> Iterator[None]:
    """Raise TimeoutError after some seconds of work; no limit outside of a main thread, where no signal can arrive."""
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
