"""A disk that fails at the Nth thing that is asked of it: half of the data is written, or nothing is done."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Disk", "failing_disk"]


class Disk:
    """Counts writes, syncs and renames, and fails at one of them."""

    def __init__(self, fails_at: int) -> None:
        self.fails_at, self.done = fails_at, 0

    def works(self) -> bool:
        """Whether the next operation goes well."""
        self.done += 1
        return self.done != self.fails_at

    def guarded(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        """An operation that is not done when it fails."""

        def call(*words: Any, **options: Any) -> Any:
            if not self.works():
                raise OSError(errno.EIO, "Input/output error")
            return operation(*words, **options)

        return call

    def write(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        """A method of Path that writes, or half of what it should."""

        def call(path: Path, data: Any, **options: Any) -> Any:
            if not self.works():
                operation(path, data[: len(data) // 2], **options)
                raise OSError(errno.ENOSPC, "No space left on device")
            return operation(path, data, **options)

        return call


@contextmanager
def failing_disk(fails_at: int) -> Iterator[Disk]:
    """All that is written, synced and renamed goes to a disk that fails once."""
    disk = Disk(fails_at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", disk.guarded(os.fsync))
        patch.setattr(os, "replace", disk.guarded(os.replace))
        patch.setattr(os, "rename", disk.guarded(os.rename))
        patch.setattr(Path, "write_bytes", disk.write(Path.write_bytes))
        patch.setattr(Path, "write_text", disk.write(Path.write_text))
        yield disk
