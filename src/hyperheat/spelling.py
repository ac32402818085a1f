"""Suggestions for misspelled names in error messages."""

from collections.abc import Iterable, Sequence

__all__ = ["ask", "did_you_mean", "nearest"]

_LONGEST = 100
"""Longer names are cut, since the time of a comparison grows with the product of both lengths."""


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that are spelled most like another one, the most similar first."""
    from difflib import get_close_matches  # only errors need it

    return get_close_matches(name[:_LONGEST], list(known), n=most)


def ask(names: Sequence[str], *, otherwise: str = "") -> str:
    """The question whether one of some names was meant.

    >>> ask(["dim", "dims"])
    'did you mean dim or dims?'
    """
    return f"did you mean {' or '.join(names)}?" if names else otherwise


def did_you_mean(name: str, known: Iterable[str], *, most: int = 1, otherwise: str = "") -> str:
    """The question whether a known name was meant instead of a misspelled one; another text if none is similar.

    >>> did_you_mean("dimm", ["dim", "layers"])
    'did you mean dim?'
    >>> did_you_mean("width", ["dim", "layers"], otherwise="there is dim, layers")
    'there is dim, layers'
    """
    return ask(nearest(name, known, most), otherwise=otherwise)
