"""Scans that are killed at random moments while they use one cache; prints how many were, and how many results are wrong.

Processes are copies of this one, which has loaded all it needs, and score without a model: many scans in little time. They
are ended by the system after some time of work, wherever they are then, so that it does not matter how busy it is.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.check.scores import CALIBRATION, pseudo_scores
from tests.check.test_cache import DETECTOR, EDITS, SOURCE

from hyperheat.check import scan
from hyperheat.check.analysis import analyse_parts
from hyperheat.check.cache import Cache
from hyperheat.check.discovery import FoundFile
from hyperheat.check.scanned_files import ScannedFile
from hyperheat.workers import pool

_FILES = 2


def main(folder: Path, kills: int) -> None:
    """Edit files, start a scan and kill it, again and again; look at the cache after each."""
    pool.run_jobs = _run_here  # type: ignore[assignment]
    scan.ModelCheck.begin = lambda self: None  # this detector has no files
    rng = Random(0)
    files = [FoundFile(f"{number}.py", folder / f"{number}.py") for number in range(_FILES)]
    for file in files:
        file.path.write_text(SOURCE)
    cache = Cache.open(DETECTOR, folder / "cache")
    start = time.process_time()
    _scan(files, None)
    usual = time.process_time() - start
    killed = wrong = 0
    while killed < kills:
        for file in files:
            before, after = rng.choice(EDITS)
            file.path.write_bytes(SOURCE.replace(before, after).encode())
        killed += _kill_scan(files, cache, rng.uniform(0.001, usual))
        if killed % 20 == 0 or killed == kills:
            wrong += _scan(files, cache) != _scan(files, None)
    sys.stdout.write(f"{killed} {wrong}\n")


def _kill_scan(files: list[FoundFile], cache: Cache | None, seconds: float) -> bool:
    """Start a scan that ends after some time of work, without a chance to clean up; whether it was not done by then."""
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF ends the process like SIGKILL
        _scan(files, cache)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def _scan(files: list[FoundFile], cache: Cache | None) -> list[tuple[object, ...]]:
    done: Iterator[ScannedFile] = scan.scan_files(files, DETECTOR, jobs=1, cache=cache)
    return [(file.path, file.sha256, file.functions, file.errors) for file in done]


def _run_here(_work: object, jobs: Iterable[Any], **_: object) -> Iterator[tuple[Any, Any]]:
    for job in jobs:
        yield job, list(analyse_parts(job.data, job.known, pseudo_scores, CALIBRATION))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
