"""The limits of a scan as options give them: 300 seconds, 1GiB, 1MB."""

import math
import re

from hyperheat.check.discover import MAX_BYTES
from hyperheat.check.scan import LIMITS
from hyperheat.cli.options import ScanOptions
from hyperheat.workers.limits import Limits

__all__ = ["limits_of", "max_file_bytes", "parse_size"]

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMG]I?B)?", re.IGNORECASE)
_LEAST_MEMORY = 256_000_000  # less would not hold the model
_MOST_BYTES = 100_000_000  # beyond, a file is no source code
_SHARE = LIMITS.seconds / (LIMITS.work_seconds or 1)


def limits_of(options: ScanOptions) -> Limits:
    """What looking at one file may use; raises ValueError in one sentence."""
    seconds, memory = options.timeout, options.max_memory
    if seconds is None:
        seconds = LIMITS.seconds
    if not 0 < seconds < math.inf:
        raise ValueError(f"--timeout: expected a number of seconds above 0, got {seconds:g}")
    most = LIMITS.memory if memory is None else parse_size("--max-memory", memory, least=_LEAST_MEMORY)
    return Limits(seconds=seconds, work_seconds=math.ceil(seconds / _SHARE), memory=most)


def max_file_bytes(options: ScanOptions) -> int:
    """The size of the largest file that is looked at; raises ValueError in one sentence."""
    size = options.max_file_size
    return MAX_BYTES if size is None else parse_size("--max-file-size", size, least=1, most=_MOST_BYTES)


def parse_size(option: str, text: str, *, least: int, most: int = 1 << 50) -> int:
    """A number of bytes, given as 500000, 500KB or 0.5MB.

    >>> parse_size("--max-memory", "1.5GB", least=1)
    1500000000
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").upper()]) if match else -1
    if not least <= size <= most:
        between = f"from {_shown(least)}" + (f" to {_shown(most)}" if most < 1 << 50 else "")
        raise ValueError(f"{option}: expected a size {between}, such as 500MB, got {text!r}")
    return size


def _shown(size: int) -> str:
    unit = next(unit for unit in ("GB", "MB", "KB", "") if size % _UNITS[unit] == 0 and size >= _UNITS[unit])
    return f"{size // _UNITS[unit]}{unit or ' byte'}"
