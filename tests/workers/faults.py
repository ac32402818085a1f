"""Work that fails in every way a process can."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

from hyperheat.workers.outcomes import WorkersError

PREPARED: list[str] = []


def prepare() -> None:
    """Do what all workers profit from."""
    PREPARED.append(str(os.getpid()))


def prepare_after_slow_import() -> None:
    """Say whether a slow module is all there."""
    PREPARED.append(str(hasattr(sys.modules["tests.workers.slow"], "DONE")))


def prepare_badly() -> None:
    """Fail, as a worker would that did the same."""
    raise ValueError("expected good, got bad")


def obey_all(orders: tuple[str, ...]) -> Iterator[str]:
    """Do one after the other."""
    yield from map(obey, orders)


def obey(order: str) -> str:
    """Do what the order says, and say in which process."""
    if order == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "exit":
        os._exit(3)
    if order == "hang":
        time.sleep(600)
    if order == "loop":
        while True:
            sum(range(10_000))
    if order == "loop in a library":
        (b"a" * 100_000_000).count(b"ab" * 50_000)
        pow(7, 10**9)
    if order == "eat":
        return str(len([bytearray(10_000_000) for _ in range(1_000)]))
    if order == "eat at once":
        return str(len(bytearray(10_000_000_000)))
    if order == "fail":
        raise ValueError("expected good, got bad")
    if order == "give up":
        raise WorkersError("expected a model, got none")
    if order == "pid":
        return str(os.getpid())
    if order == "prepared":
        return " ".join(PREPARED)
    if order == "folder":
        return os.getcwd()
    if order == "variable":
        return os.environ["HYPERHEAT_TEST"]
    if order == "threads":
        return os.environ["OMP_NUM_THREADS"]
    return order.upper()


def count_up(most: int) -> Iterator[int | None]:
    """Numbers, with moments between them at which the work may be given up."""
    for number in range(most):
        yield number
        yield None


def obey_some(order: str) -> Any:
    """Work that tells its process: at the end, before it goes on for ever, or before it hangs."""
    return {"endless": _endless, "hang": _hang}[order]() if order in ("endless", "hang") else _say(order)


def _say(order: str) -> object:
    return os.getpid() if order == "pid" else order.upper()


def _endless() -> Iterator[int | None]:
    yield os.getpid()
    while True:
        time.sleep(0.01)
        yield None


def _hang() -> Iterator[int]:
    try:
        yield os.getpid()
    finally:  # also when it is asked to stop
        time.sleep(600)
