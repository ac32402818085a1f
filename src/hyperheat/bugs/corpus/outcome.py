"""What becomes of one job, wherever it runs."""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hyperheat.bugs.corpus.packages import PassingError

__all__ = ["DiskFullError", "Outcome", "attempt"]

Job = TypeVar("Job")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFullError(OSError):
    """No room to write; unlike a bad package, this concerns all packages."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The count that a stage returned, or the reason why it failed; `passing` if another attempt may go better."""

    count: int = 0
    problem: str = ""
    disk_full: bool = False
    passing: bool = False


def attempt(stage: Callable[[Job], int], job: Job) -> Outcome:
    """Do a job; whatever goes wrong becomes a reason."""
    try:
        return Outcome(count=stage(job))
    except OSError as error:
        full = error.errno in _FULL
        return Outcome(problem=f"{error.strerror or error}", disk_full=full)
    except Exception as error:  # one bad package never stops the rest
        name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        return Outcome(problem=f"{name}{error}", passing=isinstance(error, PassingError))
