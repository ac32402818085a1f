"""Which bugs are put into a function: the kind first, then the location, then the candidate.

Drawing from the flat list of candidates would make three of four bugs variable misuses. `choose_bugs` draws bugs that
are planted one at a time, by people's habits if these are given; `choose_together` draws bugs that are planted at once;
`plant` does so and says how to undo each.
"""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from hyperheat.rewrites import Edit, Rewrite, Span, Spelling, apply_edits
from hyperheat.rewrites.habits import Habits

__all__ = ["MIN_CANDIDATES", "choose_bugs", "choose_together", "plant", "rank", "seeded"]

MIN_CANDIDATES = 6
"""Functions with fewer candidates give no samples."""

_MOST = 10
"""Bugs that are planted at once."""

Item = TypeVar("Item")


def choose_bugs(
    rewrites: Sequence[Rewrite], clean: float, rng: Random, habits: Habits | None = None
) -> list[Rewrite]:
    """The rewrites that become samples beside the clean one: (1 - clean) / clean of them on average, none twice."""
    wanted = (1 - clean) / clean
    count = int(wanted) + (rng.random() < wanted % 1)
    left = list(rewrites)
    chosen: list[Rewrite] = []
    while left and len(chosen) < count:
        rewrite = _draw_evenly(left, rng) if habits is None else habits.draw(left, rng)
        chosen.append(rewrite)
        left.remove(rewrite)
    return chosen


def _draw_evenly(rewrites: Sequence[Rewrite], rng: Random) -> Rewrite:
    """A kind, then one of its locations, then one of the rewrites there."""
    kind = _draw(sorted({rewrite.kind for rewrite in rewrites}), rng)
    of_kind = [rewrite for rewrite in rewrites if rewrite.kind == kind]
    location = _draw(sorted({rewrite.location for rewrite in of_kind}), rng)
    return _draw([rewrite for rewrite in of_kind if rewrite.location == location], rng)


def choose_together(rewrites: Sequence[Rewrite], rate: float, rng: Random) -> list[Rewrite]:
    """One to ten rewrites that do not touch each other, at a share `rate` of the locations on average, in order.

    A kind is drawn in proportion to the root of the number of its locations.
    """
    groups: dict[str, dict[Span, list[Rewrite]]] = {}
    for rewrite in rewrites:
        groups.setdefault(rewrite.kind, {}).setdefault(rewrite.location, []).append(rewrite)
    reach = {(kind, place): _reach(*group) for kind, at in groups.items() for place, group in at.items()}
    places = len({location for _, location in reach})
    count = min(max(1, sum(rng.random() < rate for _ in range(places))), _MOST)
    chosen: list[Rewrite] = []
    while groups and len(chosen) < count:
        kind = rng.choices(list(groups), [len(at) ** 0.5 for at in groups.values()])[0]
        location = _draw(list(groups[kind]), rng)
        chosen.append(_draw(groups[kind][location], rng))
        start, end = reach[kind, location]
        groups = {
            kind: kept
            for kind, at in groups.items()
            if (
                kept := {
                    p: g for p, g in at.items() if reach[kind, p].end < start or end < reach[kind, p].start
                }
            )
        }
    return sorted(chosen, key=_reach)


def plant(bugs: Sequence[Rewrite], source: str) -> tuple[str, list[Rewrite]]:
    """The source with all bugs, which are in order and do not touch, and for each the rewrite that takes it back."""
    edits = [edit for bug in bugs for edit in bug.edits]
    repairs = [_moved(bug, bug.inverse(source), edits) for bug in bugs]
    return apply_edits(edits, source), repairs


def _moved(bug: Rewrite, repair: Rewrite, edits: Sequence[Edit]) -> Rewrite:
    """The repair of one bug with its places where they are once the others are planted, too."""
    start, end = _reach(bug)
    grown = sum(_growth(edit) for edit in bug.edits)

    def move(offset: int) -> int:
        before = offset if offset <= start else max(start, offset - grown if offset >= end + grown else start)
        return offset + sum(_growth(edit) for edit in edits if edit.end <= before and edit not in bug.edits)

    def span(old: Span) -> Span:
        return Span(move(old.start), move(old.end))

    moved = tuple(Edit(move(edit.start), move(edit.end), edit.text) for edit in repair.edits)
    return repair._replace(
        location=span(repair.location),
        arguments=repair.arguments and (span(repair.arguments[0]), span(repair.arguments[1])),
        spelling=Spelling(moved, bug.location),
    )


def _growth(edit: Edit) -> int:
    return len(edit.text) - (edit.end - edit.start)


def _reach(*rewrites: Rewrite) -> Span:
    """From the first character that some rewrites change to the last."""
    spans = [r.location if r.spelling is None else Span(r.edits[0].start, r.edits[-1].end) for r in rewrites]
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def seeded(*key: object) -> Random:
    """A random number generator that depends only on the key."""
    return Random(_digest(key))


def rank(*key: object) -> int:
    """A random place in an order for every key."""
    return _digest(key)


def _digest(key: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(map(str, key)).encode()).digest()[:8], "big")


def _draw(items: Sequence[Item], rng: Random) -> Item:
    return items[int(rng.random() * len(items))]
