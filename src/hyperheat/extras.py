"""Packages that only some commands and file formats need."""

from importlib import import_module
from typing import Any

__all__ = ["EXTRAS", "require"]

EXTRAS = {
    "train": ("torch", "packaging", "safetensors", "pyarrow", "pyoxigraph", "matplotlib", "tokenizers"),
    "web": ("starlette", "uvicorn"),
    "lsp": ("pygls",),
    "ray": ("ray",),
    "interop": ("networkx", "torch", "torch-geometric", "pyarrow", "pyoxigraph"),
}
"""The packages that each extra installs, as in pyproject.toml."""


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
