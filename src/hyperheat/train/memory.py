"""Memory that is freed in one step and needed again in the next."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["freed_memory_kept"]

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # numbers and defaults of glibc's mallopt
_TRIM_DEFAULT, _MMAP_DEFAULT = 128 * 1024, 65_536


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep the process from giving large freed blocks back to the system, where its C library is glibc.

    It would get them again page by page, which takes up to a fifth of the time of a step with large tensors.
    """
    try:
        library = ctypes.CDLL(None)
        set_option, trim = library.mallopt, library.malloc_trim
    except (OSError, AttributeError, TypeError):
        yield
        return
    set_option(_MMAP_MAX, 0)
    set_option(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        set_option(_MMAP_MAX, _MMAP_DEFAULT)
        set_option(_TRIM_THRESHOLD, _TRIM_DEFAULT)
        trim(0)
