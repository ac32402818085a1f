"""Workers that are forked from one process, the template, which has imported what all of them need.

A copy starts at once and shares the memory of what was imported. The program that asks for copies may have threads, open
files and a current folder with modules that must not be imported. The template has none of these: it imports from
where the program does, but not from the current folder because it is the current folder.

The template should start early, so this module imports little.
"""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["CAN_COPY", "ONE_THREAD", "Copy", "Template", "get_template"]

CAN_COPY = hasattr(os, "fork")
"""Whether this system can fork processes."""

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "ARROW_NUM_THREADS",
    ),
    "1",
)
"""Environment variables of workers, which libraries read when they are imported."""

_PROGRAM = (
    "import gc, sys; gc.disable(); sys.path[:] = {path}; "
    "from hyperheat.workers.template_process import make_copies; make_copies({control}, {modules})"
)
_lock = threading.Lock()
_templates: dict[tuple[str, ...], "Template"] = {}


def get_template(modules: Sequence[str] = ()) -> "Template":
    """The template of this process that imports the modules; started if needed, without waiting for it."""
    with _lock:
        key = tuple(modules)
        if key in _templates and not _templates[key].alive:
            _templates.pop(key).end()
        if key not in _templates:
            _templates[key] = Template(key)
        return _templates[key]


@atexit.register
def _end_all() -> None:
    for template in _templates.values():
        template.end()


def _forget_all() -> None:
    """In a fork of this process: forget the templates, which belong to the parent."""
    global _lock
    _lock = threading.Lock()
    for template in _templates.values():
        template.forget()
    _templates.clear()


if CAN_COPY:
    os.register_at_fork(after_in_child=_forget_all)


class Template:
    """A template as the program sees it."""

    def __init__(self, modules: Sequence[str]) -> None:
        import fcntl  # not on Windows

        self._socket, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:  # if the program has closed its standard streams, this may have the number of one
            control = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 3)
        path = [place for place in sys.path if isinstance(place, str) and place]
        program = _PROGRAM.format(path=path, control=control, modules=tuple(modules))
        flags = subprocess._args_from_interpreter_flags()  # pyright: ignore[reportAttributeAccessIssue]
        try:
            with _interrupts_blocked():
                self._process = subprocess.Popen(
                    [sys.executable, *flags, "-P", "-c", program],
                    env=os.environ | ONE_THREAD,
                    pass_fds=[control],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
        finally:
            os.close(control)

    @property
    def alive(self) -> bool:
        """Whether copies can be had; where the system tells, the connection ends a little earlier than the process."""
        ended = select.poll()
        ended.register(self._socket, select.POLLHUP)
        return not ended.poll(0) and self._process.poll() is None

    def call(self, task: Callable[[], object]) -> None:
        """Run a task in the template, so that all later workers have its effects; without effect if it fails."""
        with self._speaking():
            self._control.send(task)

    def copy(self) -> "Copy":
        """Request a worker; its connection closes at once if the template is gone."""
        from multiprocessing.connection import Pipe
        from multiprocessing.reduction import send_handle

        connection, theirs = Pipe()
        news, their_news = Pipe(duplex=False)
        their_lifeline, lifeline = Pipe(duplex=False)
        with theirs, their_news, their_lifeline, self._speaking():
            self._control.send(None)
            for end in (theirs, their_news, their_lifeline):
                send_handle(self._control, end.fileno(), self._process.pid)
        return Copy(connection, news, lifeline)

    def end(self) -> None:
        """Kill the template; workers exit when their connections close."""
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Close the connection and leave the process alone."""
        self._socket.close()
        self._process.returncode = 0

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Send one message at a time; one that is cut off ends the template, which would misread the next."""
        with self._lock:
            try:
                yield
            except (OSError, RuntimeError):  # it has ended, which the connection of a copy will tell
                self._hang_up()
            except BaseException:
                self._hang_up()
                raise

    def _hang_up(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    @cached_property
    def _control(self) -> "Connection":
        from multiprocessing.connection import Connection

        return Connection(os.dup(self._socket.fileno()))


class Copy:
    """A worker as the program sees it."""

    def __init__(self, connection: "Connection", news: "Connection", lifeline: "Connection") -> None:
        self.connection = connection
        self._news = news  # the number of the process, once there is one, and later how it ended
        self._lifeline = lifeline  # nothing is ever sent; when it ends so does the worker
        self._pid: int | None = None
        self._owner = os.getpid()

    def exit_code(self) -> int | None:
        """Wait until the worker has ended; None if its exit code is unknown."""
        try:
            self._pid = self._pid or self._news.recv()
            return self._news.recv()
        except EOFError:
            return None

    def end(self) -> None:
        """Kill the worker; one that has not started exits on its own."""
        if self.connection.closed:
            return
        self.connection.close()
        self._lifeline.close()
        if os.getpid() == self._owner:  # and not a copy of the program
            self._kill()
        self._news.close()

    def _kill(self) -> None:
        with suppress(EOFError, ProcessLookupError):
            if self._pid is None and self._news.poll():
                self._pid = self._news.recv()
            if self._pid is not None and not self._news.poll():
                os.kill(self._pid, signal.SIGKILL)
                self._news.recv()


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep interrupts from a process that is started inside this context: the program handles them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
