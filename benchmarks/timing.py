"""Fair measuring on a noisy machine: contestants take turns, and the median of each counts.

A function is timed in this process; a command is run as users run it, with the memory of all its processes together.
"""

import ctypes
import gc
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Run", "interleaved_ms", "peak_mb", "process_tree", "processor_ms", "run_command"]


def interleaved_ms(
    contestants: dict[str, Callable[[], object]], *, repeats: int = 5, seconds: float = 20.0
) -> dict[str, float]:
    """The median wall-clock milliseconds of each contestant, which run in turns.

    The first turn warms up and does not count. After `seconds` no further turn begins, but two are always taken.
    """
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    end = time.perf_counter() + seconds
    for turn in range(repeats + 1):
        if turn >= 2 and time.perf_counter() > end:
            break
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            samples[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values[1:]) for name, values in samples.items()}


def peak_mb(run: Callable[[], object]) -> float | None:
    """By how many MB the process's memory rises at most while `run` runs; None where the system cannot tell."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # give freed memory back, so that every run starts alike
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest mark so far
        before = _status_kb("VmRSS")
        run()
        return (_status_kb("VmHWM") - before) / 1024
    except (OSError, AttributeError):
        return None


def _status_kb(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")


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
            self._peak = max(self._peak, sum(_held_kb(pid) for pid in process_tree(self._pid)))

    def end(self) -> float | None:
        """Stop looking and tell the most that was seen, in MB."""
        self._ended.set()
        self.join()
        return self._peak / 1024 or None


def process_tree(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    try:
        children = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has ended
        return
    for child in (child for found in children for child in found):
        yield from process_tree(int(child))


def processor_ms(pid: int) -> float | None:
    """The processor time of a process and its descendants so far; None where the system cannot tell."""
    found = [path for tree in process_tree(pid) for path in Path(f"/proc/{tree}/task").glob("*/schedstat")]
    try:
        return sum(int(path.read_text().split()[0]) for path in found) / 1e6 if found else None
    except OSError:  # one has just ended
        return None


def _held_kb(pid: int) -> int:
    """The memory of a process, where pages that n processes share count as an n-th."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
