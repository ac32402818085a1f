"""Small rewrites of Python functions: the bugs that are planted for training, found by a model, and repaired.

    function = extract(source).functions[0]
    for rewrite in candidates(function):
        print(rewrite.kind, rewrite.apply(function.source))

`kinds/` has one file per kind of rewrite; `kind.py` says what a kind is, and `body.py` what it can ask about a
function. To add a kind:

1. Write `kinds/<name>.py`, starting from the kind that is most like it: the docstring (the manual page), a function
   that finds the rewrites in a `Body`, cases with and without rewrites, and a `Kind` with its name and message.
   Models know three forms of rewrites: a text that the kind lists in `texts`, a variable, or two arguments that are
   swapped. Samples with a rewrite of any other form are refused; a fourth form needs another head in `bugs/model.py` and
   `detector/network.py`.
2. Add it at the end of `KINDS` in `kinds/__init__.py`, and its name to a rule in `hyperheat/report/rules.py`.
3. Run `pytest tests/rewrites tests/properties/test_rewrites.py --update-golden`: it checks the cases, checks the kind
   on random functions, and writes `docs/rewrites.md`.
4. If mining is to find the kind too, add it to the lists in `bugs/mining`: how often such changes fix a bug (`_SHARES` in
   `fix_selection.py`), its short name in tables (`_SHORT` in `real_bugs.py`), and its tokens (`_WORDS` and `_OPERATORS` in
   `prefilter.py`).
5. Make every corpus again: a corpus is refused if it was made with other kinds. A kind with `texts` also changes `TEXTS`, so
   that every detector, including the one in the package, is refused until it is trained again.
"""

from itertools import chain, islice
from operator import attrgetter

from hyperheat.pycode import FunctionGraph, TooMuchSource
from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Edit, Rewrite, Span, Spelling, apply_edits, edits_in_file, place
from hyperheat.rewrites.kind import Case, Kind
from hyperheat.rewrites.kinds import KINDS

__all__ = [
    "KINDS",
    "Case",
    "Edit",
    "Kind",
    "Rewrite",
    "Span",
    "Spelling",
    "apply_edits",
    "candidates",
    "edits_in_file",
    "place",
]


def candidates(function: FunctionGraph, *, most: int | None = None) -> tuple[Rewrite, ...]:
    """All rewrites of an outermost function, by location and then by kind.

    Every one compiles, differs from the function in what it means, and has an inverse among the candidates of
    its result; no two are equal. Raises TooMuchSource if there are more than `most`: their number grows with the
    square of the function.
    """
    body = Body(function)
    every = chain.from_iterable(kind.find(body) for kind in KINDS.values())
    found = list(islice(every, None if most is None else most + 1))
    if most is not None and len(found) > most:
        raise TooMuchSource(None, function.span[0], f"expected at most {most} candidates, got more")
    return tuple(sorted(found, key=attrgetter("location")))
