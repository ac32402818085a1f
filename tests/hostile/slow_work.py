"""Work of a scan that never ends, after some functions are done."""

import time
from collections.abc import Iterator

from hyperheat.check.records import PartialRecord
from hyperheat.check.scan_work import FileJob, FileWork

__all__ = ["DONE", "SlowWork"]

DONE = 3
"""Functions that are done before."""


class SlowWork(FileWork):
    """What a worker does with a job."""

    def __call__(self, job: FileJob) -> Iterator[PartialRecord]:
        for number, part in enumerate(filter(None, super().__call__(job))):
            if number > DONE:
                time.sleep(600)
            yield part
