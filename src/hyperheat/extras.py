"""Packages that only some commands and file formats need."""

from importlib import import_module
from typing import Any

__all__ = ["require"]


def require(module: str, *, extra: str) -> Any:
    """Import a module of an optional package, or say which extra of hyperheat installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} is needed here and could not be imported ({error}): pip install 'hyperheat[{extra}]'",
            name=package,
        ) from None
