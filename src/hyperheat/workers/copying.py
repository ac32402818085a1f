"""What a template does: import modules, do what it is told beside that, and fork workers."""

import gc
import os
import signal
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

from hyperheat.workers.serve import serve

__all__ = ["make_copies"]


def make_copies(control: int, modules: Sequence[str]) -> None:
    """Be a template until the program closes its end of the connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are forked below
    importing = threading.Thread(target=_import, args=(modules,), daemon=True)
    importing.start()
    connection = Connection(control)
    with suppress(EOFError):
        while True:
            task = connection.recv()
            if task is None:
                importing.join()  # only a process without other threads can be copied
                gc.freeze()
                _copy(connection)
            else:
                with suppress(Exception):
                    task()


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        with suppress(Exception):  # the work that needs it will tell
            import_module(module)


def _copy(control: Connection) -> None:
    """Fork a process that forks the worker and waits for its end: the template has no time to wait."""
    connection, news = Connection(recv_handle(control)), Connection(recv_handle(control), readable=False)
    if os.fork():
        connection.close()
        news.close()
        return
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        worker = os.fork()
        if worker:
            connection.close()
            news.send(worker)
            _, status = os.waitpid(worker, 0)
            news.send(os.waitstatus_to_exitcode(status))
        else:
            news.close()
            gc.enable()
            serve(connection)
    except BrokenPipeError:  # nobody wants the news
        pass
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
