"""Tables and numbers of the pages of results."""


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
