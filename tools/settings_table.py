"""The settings of runs that are compared, for the pages of results."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from tables import number, table


def settings_table(runs: Sequence[dict[str, Any]], more: Mapping[str, Sequence[object]]) -> list[str]:
    """Settings that differ as a table with more rows below, those that all runs share as a list."""
    flat = [_flatten(run["settings"]) for run in runs]
    keys = list(dict.fromkeys(key for settings in flat for key in settings))
    shared = [key for key in keys if all(key in s and s[key] == flat[0][key] for s in flat)]
    rows = [[key, *(_setting(s.get(key, "")) for s in flat)] for key in keys if key not in shared]
    rows += [[name, *map(number, values)] for name, values in more.items()]
    same = ", ".join(f"{key} {_setting(flat[0][key])}" for key in shared if flat[0][key] is not None)
    shown = textwrap.wrap(f"The same for all: {same}.", 120)
    return [*table(["", *(run["row"] for run in runs)], rows), "", *shown]


def _flatten(settings: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Values by dotted key; the class of a part is a value of its own."""
    found = {}
    for key, value in settings.items():
        if isinstance(value, dict) and len(value) == 1 and next(iter(value))[0].isupper():
            ((found[path + key], value),) = value.items()
        if isinstance(value, dict):
            found |= _flatten(value, f"{path}{key}.")
        else:
            found[path + key] = value
    return found


def _setting(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} names"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
