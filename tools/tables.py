"""Tables, numbers and commands that several pages of results have."""

from typing import Any


def table(titles: list[str], rows: list[list[str]]) -> list[str]:
    """The lines of a table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def percent(share: float | None, digits: int = 1) -> str:
    """A share in words."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def number(value: object) -> str:
    """A number with commas; anything else as it is."""
    if isinstance(value, float) and abs(value) >= 100:
        value = round(value)
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def fixes_command(settings: dict[str, Any]) -> str:
    """How a folder of real fixes was made, from the settings in its manifest."""
    clean = " --with-clean" if settings["with_clean"] else ""
    if "refs" not in settings:
        return f"hyperheat bugs mine REPOS/* --out REALBUGS{clean}"
    where = "".join(f" --where {condition}" for condition in settings["where"])
    repos = "" if "released" in settings["refs"] else " --repos REPOS"
    return f"hyperheat bugs realise {settings['refs']}{repos} --out REALBUGS{where}{clean}"
