"""What an editor may set: the settings of pyproject.toml that choose what is shown, and no others.

An editor's settings often come from a file in the project, so they are no more trusted than pyproject.toml: they choose
no model, no limits and no files to read.

    {"hyperheat": {"tier": "B", "minConfidence": 0.3, "ignore": ["HH401"]}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperheat.spelling import did_you_mean

__all__ = ["ALLOWED", "SECTION", "EditorSettings", "read_editor_settings"]

ALLOWED = ("tier", "min-confidence", "max-alarms", "select", "ignore", "exclude", "gitignore")
"""The settings, by their keys in pyproject.toml; `minConfidence` means the same as `min-confidence`."""

SECTION = "hyperheat"
"""The name under which editors keep them."""
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """The values that were given, by key, and sentences about those that cannot be used."""

    options: Mapping[str, object]
    problems: tuple[str, ...] = ()


def read_editor_settings(values: Any) -> EditorSettings:
    """The settings in what an editor sends, which may be anything: under the name of this program, or all of it."""
    if isinstance(values, Mapping) and SECTION in values:
        values = values[SECTION]
    if values is None or values == []:  # as some editors say that there are none
        return EditorSettings({})
    if not isinstance(values, Mapping):
        return EditorSettings({}, (f"{SECTION}: expected settings by name, got {values!r:.100}",))
    options: dict[str, object] = {}
    problems: list[str] = []
    for name, value in values.items():
        key = _CAPITAL.sub(lambda capital: f"-{capital[1].lower()}", str(name))
        if key in ALLOWED:
            options[key] = value
        else:
            hint = did_you_mean(key, ALLOWED, otherwise=f"expected one of {', '.join(ALLOWED)}")
            problems.append(f"hyperheat.{name!s:.100}: not a setting of the editor: {hint}")
    return EditorSettings(options, tuple(problems))
