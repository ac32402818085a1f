"""What becomes of jobs that fail. Importing this needs nothing that processes need."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Lost", "WorkersError"]


class WorkersError(RuntimeError):
    """The worker processes cannot do any job."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a job failed, and the parts of its result that were finished before.

    `limited` if it exceeded a limit, and `late` if that was the time on the clock, which may suffice on a retry.
    """

    reason: str
    late: bool = False
    limited: bool = False
    parts: tuple[Any, ...] = ()
