"""Work of the language server that hangs, crashes or fails where the text says so."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from hyperheat.lsp.work import EditorWork, HoverJob, ScanJob

__all__ = ["SlowEditorWork"]


class SlowEditorWork(EditorWork):
    """What a worker does with a job, and what functions of some names make of it."""

    def __call__(self, job: ScanJob | HoverJob) -> Any:
        if isinstance(job, HoverJob):
            time.sleep(600)
        return super().__call__(job)

    def _scan(self, job: ScanJob) -> Iterator[Any]:
        listed = []
        for part in super()._scan(job):
            listed += getattr(part, "functions", ())
            for name, _, digest in listed:
                if digest in getattr(part, "known", ()) and digest not in job.known:
                    _obey(name)
            yield part


def _obey(name: str) -> None:
    if name == "slow":
        time.sleep(600)
    if name == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "fail":
        raise RuntimeError("expected an easy function, got a hard one")
