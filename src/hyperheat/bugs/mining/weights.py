"""How likely a fix mended a bug, and did not change a setting or rearrange code."""

from collections.abc import Mapping
from typing import Any

__all__ = ["weigh"]


def weigh(record: Mapping[str, Any]) -> float:
    """The share of bugs among fixes like this one, as a reader judged them."""
    return 1.0
