"""Work of a scan that never ends, after some functions are done."""

import time
from collections.abc import Iterator

from hyperheat.check.records import PartialRecord
from hyperheat.check.scan import _Job, _Work

__all__ = ["DONE", "SlowWork"]

DONE = 3
"""Functions that are done before."""


class SlowWork(_Work):
    """What a worker does with a job."""

    def __call__(self, job: _Job) -> Iterator[PartialRecord]:
        for number, part in enumerate(filter(None, super().__call__(job))):
            if number > DONE:
                time.sleep(600)
            yield part
