"""What people confuse, learnt from bugs that they made and repaired, and bugs that are drawn accordingly.

    habits = learn_habits(records)              # references to real bugs
    habits.draw(candidates(function), rng)      # a rewrite that makes a likely bug of correct code

First the kind is drawn, as often as people make such bugs. For operators and literals follows the confusion, such as
`>=` that became `>`, then one of the places where it is possible. For variables the place comes first; then names that share
a word with the right one are preferred.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hyperheat.rewrites.edit import Rewrite

__all__ = ["Habits", "learn_habits"]

_OPEN = frozenset({"variable-misuse", "argument-swap"})
"""The kinds whose texts come from the code: confusions of these are not counted."""

_ODDS = 4.0
"""How much likelier a wrong name is if it shares a word with the right one: 47 % of 411 real bugs, 18 % of candidates."""

_UNSEEN = 0.25
"""The weight of a confusion that was never seen."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(frozen=True)
class Habits:
    """The weight of each kind, and in each kind of `right -> wrong`; plain values, so that a record can hold them."""

    kinds: Mapping[str, float]
    confusions: Mapping[str, Mapping[str, float]]

    def draw(self, rewrites: Sequence[Rewrite], rng: Random) -> Rewrite:
        """One of the rewrites of correct code, all of which may come up."""
        kinds = sorted({rewrite.kind for rewrite in rewrites})
        kind = rng.choices(kinds, [self.kinds.get(kind, 0.0) + _UNSEEN for kind in kinds])[0]
        of_kind = [rewrite for rewrite in rewrites if rewrite.kind == kind]
        if kind not in _OPEN:
            found: dict[str, list[Rewrite]] = {}
            for rewrite in of_kind:
                found.setdefault(_confusion(rewrite.original, rewrite.replacement), []).append(rewrite)
            known = self.confusions.get(kind, {})
            names = sorted(found)
            name = rng.choices(names, [known.get(name, 0.0) + _UNSEEN for name in names])[0]
            return rng.choice(found[name])
        location = rng.choice(sorted({rewrite.location for rewrite in of_kind}))
        there = [rewrite for rewrite in of_kind if rewrite.location == location]
        return rng.choices(there, [_ODDS if _alike(rewrite) else 1.0 for rewrite in there])[0]


def learn_habits(records: Iterable[Mapping[str, Any]]) -> Habits:
    """The habits in references to real bugs, each of which counts as much as it is likely to be one.

    Raises ValueError if a reference does not say what was confused.
    """
    kinds: dict[str, float] = {}
    confusions: dict[str, dict[str, float]] = {}
    for record in records:
        if missing := [name for name in ("kind", "before_text", "after_text") if name not in record]:
            raise ValueError(f"expected references that say what was confused, got one without {missing[0]}")
        kind, weight = record["kind"], float(record.get("weight", 1.0))
        kinds[kind] = kinds.get(kind, 0.0) + weight
        if kind not in _OPEN:
            of_kind = confusions.setdefault(kind, {})
            name = _confusion(record["after_text"], record["before_text"])
            of_kind[name] = of_kind.get(name, 0.0) + weight
    return Habits(
        {kind: round(weight, 2) for kind, weight in sorted(kinds.items())},
        {
            kind: {name: round(w, 2) for name, w in sorted(of.items())}
            for kind, of in sorted(confusions.items())
        },
    )


def _confusion(right: str, wrong: str) -> str:
    """A name for the right text and the wrong one; the expression after a `not` is left out."""
    right, wrong = (text.removesuffix("...").strip() for text in (right, wrong))
    return f"{right} -> {wrong}"


def _alike(rewrite: Rewrite) -> bool:
    one, other = (
        {word.lower() for word in _WORD.findall(name)} for name in (rewrite.original, rewrite.replacement)
    )
    return bool(one & other)
