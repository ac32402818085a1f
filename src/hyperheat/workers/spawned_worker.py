"""A worker that starts as a new process and imports what it needs, for systems that cannot fork."""

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from types import ModuleType

from hyperheat.workers.outcomes import WorkersError
from hyperheat.workers.template import ONE_THREAD
from hyperheat.workers.worker import serve

__all__ = ["Spawned"]


class Spawned:
    """A worker as the program sees it."""

    def __init__(self) -> None:
        if sys.flags.ignore_environment and not sys.flags.safe_path:
            raise WorkersError("python -E needs -P too, or workers would import from the current folder")
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _environment({**ONE_THREAD, "PYTHONSAFEPATH": "1"}), _no_program():
            self._process.start()
        theirs.close()

    def exit_code(self) -> int | None:
        """Wait until the process has ended."""
        self._process.join()
        return self._process.exitcode

    def end(self) -> None:
        """Kill the worker."""
        self.connection.close()
        self._process.kill()
        self._process.join()


def _serve(connection: Connection) -> None:
    program = multiprocessing.parent_process()
    assert program is not None
    serve(connection, partial(wait, [program.sentinel]))


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a process that is started inside this context."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
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
    """Keep a process that is started inside this context from importing, and so running, the main script."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program
