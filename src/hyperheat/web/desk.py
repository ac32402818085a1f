"""Where questions about code are answered: one worker process with limits, which is kept, and replaced if it is lost."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from queue import Full, Queue
from typing import Any

from hyperheat.check.scan_work import run_in_workers
from hyperheat.detector.detector import Detector
from hyperheat.web.look import Looker, LookJob, PlacesJob, Source
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost, WorkersError

__all__ = ["LIMITS", "Desk", "DeskError"]

LIMITS = Limits(seconds=60, work_seconds=20, memory=1 << 30)
"""What one answer may use."""
_MOST_WAITING = 16
_SMALL = Source(b"def first(items, default):\n    return items[0] if items else default\n")


class DeskError(Exception):
    """A question without an answer, and why."""


class Desk:
    """Answers one job after another; use it in a `with`, which ends the process."""

    def __init__(self, detector: Detector, limits: Limits = LIMITS) -> None:
        self._detector, self._limits = detector, limits
        self._waiting: Queue[tuple[LookJob, Future[Any]] | None] = Queue(_MOST_WAITING)
        self._answer: Future[Any] | None = None
        self._thread = threading.Thread(target=self._work, name="desk", daemon=True)

    def __enter__(self) -> "Desk":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._thread.join(timeout=5)

    def ask(self, job: LookJob) -> Any:
        """The answer; raises DeskError if the job was lost, or too many are waiting."""
        answer: Future[Any] = Future()
        try:
            self._waiting.put_nowait((job, answer))
        except Full:
            raise DeskError("too many questions at a time; try again") from None
        value = answer.result(timeout=_MOST_WAITING * self._limits.seconds)
        if isinstance(value, Lost):
            raise DeskError(value.reason)
        return value

    def warm_up(self) -> None:
        """Start the process and load the model, without waiting for them."""
        self._waiting.put((PlacesJob(_SMALL, 1), Future()))

    def _work(self) -> None:
        open_for_more = True
        while open_for_more:
            try:
                work = Looker(self._detector, self._limits)
                for _, value in run_in_workers(
                    work, self._jobs(), self._detector, workers=1, limits=self._limits
                ):
                    self._reply(value)
                open_for_more = False
            except (WorkersError, OSError) as error:  # the next question starts a new process
                self._reply(Lost(str(error)))

    def _jobs(self) -> Iterator[LookJob]:
        while (item := self._waiting.get()) is not None:
            job, self._answer = item
            yield job

    def _reply(self, value: object) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.set_result(value)
