"""What all file formats share: whole files or none, their hashes, and packages that only some formats need."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

__all__ = ["file_sha256", "require", "whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; at the end it becomes `path`, on an error it is deleted."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{token_hex(4)}.tmp")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(module: str) -> Any:
    """Import a module of the optional packages, or say in one sentence how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} is needed here and could not be imported ({error}): pip install 'hyperheat[interop]'",
            name=package,
        ) from None
