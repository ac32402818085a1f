"""Small JSON files, whole or not there, that say which steps of a build are done."""

import json
from pathlib import Path
from typing import Any

from hyperheat.files import parse_json, whole_file

__all__ = ["read_record", "write_record"]


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record; equal records give equal bytes."""
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_record(path: Path) -> dict[str, Any]:
    """Read a record back."""
    return parse_json(path.read_text(encoding="utf-8"))
