"""A comparison uses the wrong operator.

Each operator of a comparison may become another one of its group: `<`, `<=`, `>`, `>=`, `==`, `!=`; or `in`,
`not in`; or `is`, `is not`. All comparisons have the same precedence, so the rest of the syntax does not change. Each
operator of a chain such as `a < b < c` is a separate place.
"""

import ast
from collections.abc import Iterator

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Rewrite
from hyperheat.rewrites.kind import Case, Kind

__all__ = ["COMPARISON_OPERATOR"]

_NAME = "comparison-operator"
_GROUPS = (("<", "<=", ">", ">=", "==", "!="), ("in", "not in"), ("is", "is not"))
_OTHERS = {one: [other for other in group if other != one] for group in _GROUPS for one in group}


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.Compare):
        for operator, span in body.operators(place.node, "ops"):
            if operator[0] not in "in" or body.is_whole(span):
                for other in _OTHERS.get(operator, ()):
                    yield Rewrite(_NAME, span, operator, other)


VALID = (
    Case(
        "an order or an equality",
        "def f(a, b):\n    return a < b",
        (
            "    return a <= b",
            "    return a > b",
            "    return a >= b",
            "    return a == b",
            "    return a != b",
        ),
    ),
    Case("membership", "def f(a, b):\n    return a in b", ("    return a not in b",)),
    Case("identity, however it is spaced", "def f(a):\n    return a is  not None", ("    return a is None",)),
    Case(
        "every operator of a chain",
        "def f(a, b, c):\n    return a is b in c",
        ("    return a is not b in c", "    return a is b not in c"),
    ),
)
INVALID = (
    Case("a loop is not a comparison", "def f(a):\n    for b in a: pass"),
    Case("a default value is not part of the body", "def f(a=1 < 2): pass"),
    Case("a number that touches the operator", "def f(a):\n    return 1in a"),
)

COMPARISON_OPERATOR = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    texts=tuple(_OTHERS),
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
