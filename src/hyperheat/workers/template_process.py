"""What a template process does: import modules, run the tasks it is sent, and fork workers."""

import gc
import os
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

from hyperheat.workers.worker import serve

__all__ = ["join_wholly", "make_copies"]


def make_copies(control: int, modules: Sequence[str]) -> None:
    """Run as a template until the program closes its end of the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the processes forked below are not waited for
    begun = threading.Event()
    importing = threading.Thread(target=_import, args=(modules, begun), daemon=True)
    importing.start()
    begun.wait()
    connection = Connection(control)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        except Exception:  # a task that cannot be imported here: the work that needs it reports that
            continue
        if task is None:
            join_wholly(importing)  # only a process without other threads can be copied
            gc.freeze()
            _copy(connection)
        else:
            with suppress(Exception):
                task()


def _import(modules: Sequence[str], begun: threading.Event) -> None:
    """Import one module after the other; tasks start after the first one, or at once if there is none.

    The first is a library with parts in C, whose imports another thread must not disturb.
    """
    for module in modules:
        with suppress(Exception):  # the work that needs it reports that
            import_module(module)
        begun.set()
    begun.set()


def join_wholly(thread: threading.Thread) -> None:
    """Wait until a thread is gone from the system, too.

    `join` returns a moment before that, when libraries such as OpenSSL still tidy up after the thread: a process that is
    forked in this moment waits forever for the locks that they hold.
    """
    thread.join()
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):  # Linux; elsewhere it never does
        time.sleep(0.0005)


def _copy(control: Connection) -> None:
    """Fork a process that forks the worker and waits for it, so that the template never waits."""
    connection = Connection(recv_handle(control))
    news = Connection(recv_handle(control), readable=False)
    lifeline = Connection(recv_handle(control), writable=False)
    with connection, news, lifeline, suppress(OSError):  # without a process the connections just close
        if os.fork():
            return
        try:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            worker = os.fork()
            if worker:
                connection.close()
                lifeline.close()
                news.send(worker)
                _, status = os.waitpid(worker, 0)
                news.send(os.waitstatus_to_exitcode(status))
            else:
                news.close()
                gc.enable()
                serve(connection, partial(_wait_for_end, lifeline))
        except BrokenPipeError:  # nobody reads the news
            pass
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)


def _wait_for_end(lifeline: Connection) -> None:
    with suppress(EOFError):
        lifeline.recv_bytes()
