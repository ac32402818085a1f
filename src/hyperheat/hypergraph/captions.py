"""The words of a drawing: what is written on nodes, edges and spokes, and how wide it is."""

import unicodedata
from collections import Counter

from hyperheat.hypergraph.graph import Hypergraph

__all__ = ["columns", "node_captions", "printable", "shorten"]


def printable(text: str) -> str:
    r"""The text with control characters, line ends and lone surrogates spelled out, as in `\n`.

    >>> printable("two\nlines"), printable("")
    ('two\\nlines', "''")
    """
    if not text:
        return "''"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def node_captions(graph: Hypergraph) -> list[str]:
    """The label of each node, with `#node` behind it where several nodes share the label."""
    labels = graph.labels
    counts = Counter(labels)
    return [
        printable(label) + (f" #{index}" if counts[label] > 1 else "") for index, label in enumerate(labels)
    ]


def shorten(text: str, limit: int) -> str:
    """The text, cut with `…` to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def columns(text: str) -> int:
    """How many columns a terminal needs: two for wide East Asian characters, none for combining marks."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
