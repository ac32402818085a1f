"""Which bugs are put into a function: the kind first, then the location, then the candidate.

Drawing from the flat list of candidates would make three of four bugs variable misuses.
"""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from hyperheat.rewrites import Rewrite

__all__ = ["MIN_CANDIDATES", "choose_bugs", "rank", "seeded"]

MIN_CANDIDATES = 6
"""Functions with fewer candidates give no samples."""

Item = TypeVar("Item")


def choose_bugs(rewrites: Sequence[Rewrite], clean: float, rng: Random) -> list[Rewrite]:
    """The rewrites that become samples beside the clean one: (1 - clean) / clean of them on average, none twice."""
    wanted = (1 - clean) / clean
    count = int(wanted) + (rng.random() < wanted % 1)
    left = list(rewrites)
    chosen: list[Rewrite] = []
    while left and len(chosen) < count:
        kind = _draw(sorted({rewrite.kind for rewrite in left}), rng)
        of_kind = [rewrite for rewrite in left if rewrite.kind == kind]
        location = _draw(sorted({rewrite.location for rewrite in of_kind}), rng)
        rewrite = _draw([rewrite for rewrite in of_kind if rewrite.location == location], rng)
        chosen.append(rewrite)
        left.remove(rewrite)
    return chosen


def seeded(*key: object) -> Random:
    """A source of random numbers of its own for every key, whatever was drawn before."""
    return Random(_digest(key))


def rank(*key: object) -> int:
    """A random place in an order for every key."""
    return _digest(key)


def _digest(key: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(map(str, key)).encode()).digest()[:8], "big")


def _draw(items: Sequence[Item], rng: Random) -> Item:
    return items[int(rng.random() * len(items))]
