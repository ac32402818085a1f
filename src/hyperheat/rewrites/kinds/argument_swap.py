"""Two arguments of a call are swapped.

Any two positional arguments of a call may be swapped, together with the parentheses around them. Keyword arguments
are not, because their order does not matter; nor are arguments after a starred one, whose position is unknown, or two
arguments that are the same expression.
"""

import ast
from collections.abc import Iterator
from itertools import combinations, takewhile

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Edit, Rewrite, Spelling
from hyperheat.rewrites.kind import Case, Kind

__all__ = ["ARGUMENT_SWAP"]

_NAME = "argument-swap"


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.Call):
        call = place.node
        arguments = list(takewhile(lambda argument: not isinstance(argument, ast.Starred), call.args))
        if len(arguments) > 1 and all(map(body.has_tokens, arguments)):
            meanings = [ast.dump(argument) for argument in arguments]
            for (i, first), (j, second) in combinations(enumerate(arguments), 2):
                if meanings[i] != meanings[j]:
                    yield _swap(body, call, first, second)


def _swap(body: Body, call: ast.Call, first: ast.expr, second: ast.expr) -> Rewrite:
    left, right = body.parenthesised(first), body.parenthesised(second)
    edits = (
        Edit(*left, body.text[right.start : right.end]),
        Edit(*right, body.text[left.start : left.end]),
    )
    location = body.span(call)
    return Rewrite(
        kind=_NAME,
        location=location,
        arguments=(body.span(first), body.span(second)),
        spelling=Spelling(edits, location),
    )


VALID = (
    Case("two arguments", "def f(a, b):\n    g(a, b, k=1)", ("    g(b, a, k=1)",)),
    Case(
        "each pair of more",
        "def f(a, b):\n    g(a, (yield), b[0])",
        ("    g((yield), a, b[0])", "    g(b[0], (yield), a)", "    g(a, b[0], (yield))"),
    ),
    Case("calls inside calls", "def f(a, b):\n    g(h(a, b))", ("    g(h(b, a))",)),
    Case("before a starred argument", "def f(a, b):\n    g(a, b, *a, b)", ("    g(b, a, *a, b)",)),
)
INVALID = (
    Case("the same argument twice", "def f(a):\n    g(a, a)\n    g(a.b, (a . b))\n    g('', \"\")"),
    Case("keywords and stars", "def f(a, b):\n    g(a, k=b)\n    g(a, *b)\n    g(*b, a)\n    g(**a)"),
    Case("one argument", "def f(a):\n    g(a)"),
)

ARGUMENT_SWAP = Kind(
    name=_NAME,
    message="arguments look swapped: did you mean `{repaired}`?",
    brief="arguments look swapped: `{first}` and `{second}`",
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
