"""Notebooks made by hand."""

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["BUGGY", "code", "markdown", "notebook"]

BUGGY = "def area(width, height, scale):\n    total = width * width\n    return total * scale\n"


def code(source: str, *, whole: bool = False, outputs: Sequence[Any] = ()) -> dict[str, Any]:
    """A cell of code, its source as a list of lines or as one text."""
    lines = source if whole else source.splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {"tags": ["é", "\u2028"]},
        "outputs": [*outputs],
        "source": lines,
    }


def markdown(source: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def notebook(*cells: dict[str, Any], indent: int | None = 1, ascii: bool = False, **more: Any) -> bytes:
    """The bytes of a notebook, as Jupyter writes it."""
    values = {
        "cells": [*cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
        **more,
    }
    return f"{json.dumps(values, indent=indent, ensure_ascii=ascii)}\n".encode()
