"""What all file formats share: whole files or none, their hashes, and packages that only some formats need."""

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

from hyperheat.files.writing import whole_file

__all__ = ["file_sha256", "require", "whole_file"]


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
