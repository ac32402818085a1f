"""`hyperheat check --watch`: run again whenever a file changes.

Files are looked at every half second, or more rarely if that takes long: looking never takes more than a tenth of the time.
A run starts when nothing has changed between two looks, so that a checkout of many files is one change.
"""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from hyperheat.cli.outputs import put

__all__ = ["watch"]

_PAUSE = 0.5
_SHARE = 9  # pauses are at least so many times as long as looks
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"

_Seen = dict[Path, tuple[int, int]]


def watch(
    look: Callable[[], Sequence[Path]],
    run: Callable[[], object],
    *,
    quiet: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> NoReturn:
    """Run now, and again whenever one of the files that `look` finds has changed, until interrupted.

    Raises KeyboardInterrupt then. On a terminal, the output of a run takes the place of the one before.
    """
    state, _ = _look(look)
    while True:
        if sys.stdout.isatty():
            put(_CLEAR, sys.stdout)
        run()
        if not quiet:
            put("Watching for changes; Ctrl-C to stop.\n", sys.stderr)
        state = _wait(state, look, sleep)


def _wait(state: _Seen, look: Callable[[], Sequence[Path]], sleep: Callable[[float], None]) -> _Seen:
    """Wait until files have changed and then stay the same for a while."""
    pause, changed = _PAUSE, False
    while True:
        sleep(pause)
        now, pause = _look(look)
        if changed and now == state:
            return now
        changed = changed or now != state
        state = now


def _look(look: Callable[[], Sequence[Path]]) -> tuple[_Seen, float]:
    """When the files were changed and how large they are, and how long to wait before the next look."""
    start = time.perf_counter()
    try:
        paths = look()
    except (OSError, ValueError):  # a folder that is gone for a moment; the next run tells
        paths = ()
    state: _Seen = {}
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        state[path] = status.st_mtime_ns, status.st_size
    return state, max(_PAUSE, _SHARE * (time.perf_counter() - start))
