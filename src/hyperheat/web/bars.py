"""Small things in the pages: numbers from 0 to 1 as bars, and messages with names of code in them."""

import re

from hyperheat.report.markup import shown

__all__ = ["bar", "message", "share"]

_CODE = re.compile(r"`([^`]+)`")


def bar(value: float, text: str | None = None) -> str:
    """A number from 0 to 1 with a bar as long; the page allows no styles of single elements, so it is drawn."""
    return (
        '<span class="bar"><svg width="50" height="8" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rail" width="1" height="1"/><rect class="fill" width="{min(value, 1.0):.3f}" height="1"/></svg>'
        f'<span class="value">{text or share(value)}</span></span>'
    )


def share(value: float) -> str:
    """A number from 0 to 1, of which very small ones are not shown as nothing."""
    return f"{value:.3f}" if value >= 0.0005 else "&lt;0.001"


def message(text: str) -> str:
    """A sentence with what stands in `backticks` shown as code."""
    return _CODE.sub(r"<code>\1</code>", shown(text))
