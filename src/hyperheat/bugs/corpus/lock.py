"""One run at a time in a folder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperheat.bugs.corpus.packages import CorpusError

__all__ = ["hold_lock"]


@contextmanager
def hold_lock(folder: Path, busy: str) -> Iterator[None]:
    """Keep other runs out for a while; raises CorpusError with the message `busy` if there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CorpusError(busy) from None
        yield
