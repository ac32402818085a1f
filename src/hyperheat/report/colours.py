"""Colours on a terminal."""

__all__ = ["painted"]

_RESET = "\x1b[0m"
_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "added": "\x1b[32m",
    "removed": "\x1b[31m",
    "strong": "\x1b[1m",
    "faint": "\x1b[2m",
}


def painted(text: str, style: str, *, colour: bool) -> str:
    """The text in a style, named by a severity or a role; unchanged without `colour`."""
    return f"{_STYLES[style]}{text}{_RESET}" if colour and text else text
