"""Small rewrites of Python functions: the bugs that are made, looked for and repaired.

function = extract(source).functions[0]
for rewrite in candidates(function):
    print(rewrite.kind, rewrite.apply(function.source))
"""

from itertools import islice

from hyperheat.pycode import FunctionGraph, TooMuchSource
from hyperheat.rewrites.argument_swap import ARGUMENT_SWAP
from hyperheat.rewrites.assignment import ASSIGNMENT
from hyperheat.rewrites.binary_operator import BINARY_OPERATOR
from hyperheat.rewrites.body import Body
from hyperheat.rewrites.boolean_operator import BOOLEAN_OPERATOR
from hyperheat.rewrites.comparison_operator import COMPARISON_OPERATOR
from hyperheat.rewrites.edit import Edit, Rewrite, Span, apply_edits, edits_in_file, place
from hyperheat.rewrites.kind import Case, Kind
from hyperheat.rewrites.literal import LITERAL
from hyperheat.rewrites.variable_misuse import VARIABLE_MISUSE

__all__ = [
    "KINDS",
    "Case",
    "Edit",
    "Kind",
    "Rewrite",
    "Span",
    "apply_edits",
    "candidates",
    "edits_in_file",
    "place",
]

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        VARIABLE_MISUSE,
        ARGUMENT_SWAP,
        COMPARISON_OPERATOR,
        BOOLEAN_OPERATOR,
        BINARY_OPERATOR,
        ASSIGNMENT,
        LITERAL,
    )
}
"""All kinds of rewrites by name."""


def candidates(function: FunctionGraph, *, most: int | None = None) -> tuple[Rewrite, ...]:
    """All rewrites of an outermost function, by location and then by kind.

    Every one compiles, differs from the function in what it means, and has an inverse among the candidates of
    its result; no two are equal. Raises TooMuchSource if there are more than `most`: their number grows with the
    square of the function.
    """
    body = Body(function)
    every = (rewrite for kind in KINDS.values() for rewrite in kind.find(body))
    found = list(islice(every, None if most is None else most + 1))
    if most is not None and len(found) > most:
        raise TooMuchSource(None, function.span[0], f"expected at most {most} candidates, got more")
    return tuple(sorted(found, key=lambda rewrite: rewrite.location))
