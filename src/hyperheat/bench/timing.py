"""Fair measuring on a noisy machine: contestants take turns, the median of each counts."""

import ctypes
import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["interleaved_ms", "peak_mb"]


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
