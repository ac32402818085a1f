"""Parsing JSON that may be anything."""

import json
from typing import Any

__all__ = ["parse_json"]


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; whatever is wrong with it is a ValueError, deep nesting too."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("expected JSON, got lists that are nested too deeply") from None
