"""A command as users run it: its time on the clock, and the memory of all its processes together."""

import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Run", "run_command"]

_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a command went."""

    seconds: float
    peak_mb: float | None
    """The most memory that its processes held at one time; None where the system cannot tell."""
    code: int
    errors: str
    """What it wrote to stderr."""


def run_command(
    command: Sequence[str], environment: Mapping[str, str], *, folder: Path, memory: bool = False
) -> Run:
    """Run a command in a folder to its end; its output is thrown away. Looking at its memory costs it some time."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    watch = _Watch(process.pid)
    if memory:
        watch.start()
    _, errors = process.communicate()
    seconds = time.perf_counter() - start
    return Run(
        seconds=seconds,
        peak_mb=watch.end() if memory else None,
        code=process.returncode,
        errors=errors.decode(errors="replace"),
    )


class _Watch(threading.Thread):
    """Looks at the memory of a process and its descendants again and again."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self._peak = 0

    def run(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
            self._peak = max(self._peak, sum(_held_kb(pid) for pid in _tree(self._pid)))

    def end(self) -> float | None:
        """Stop looking and tell the most that was seen, in MB."""
        self._ended.set()
        self.join()
        return self._peak / 1024 or None


def _tree(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    try:
        children = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has ended
        return
    for child in (child for found in children for child in found):
        yield from _tree(int(child))


def _held_kb(pid: int) -> int:
    """The memory of a process, where pages that n processes share count as an n-th."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
