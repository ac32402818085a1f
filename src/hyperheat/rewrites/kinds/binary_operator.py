"""An arithmetic or bitwise operation uses the wrong operator.

Each of `+ - * ** / // % @ << >> | & ^` may become any other one, if that changes nothing but the operator. It is left
out where the new precedence would regroup the operands, as `+` for `*` would in `a - b * c`. Training and testing
use the same set.
"""

import ast
from collections.abc import Iterator

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Rewrite
from hyperheat.rewrites.kind import Case, Kind
from hyperheat.rewrites.precedence import BINARY, fits

__all__ = ["BINARY_OPERATOR"]

_NAME = "binary-operator"


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.BinOp):
        text = BINARY[type(place.node.op)][0]
        for operator, span in body.operators(place.node, "op"):
            if operator == text:
                for other, strength in BINARY.values():
                    if other != text and fits(body, place, strength):
                        yield Rewrite(_NAME, span, text, other)


VALID = (
    Case(
        "any other operator",
        "def f(a, b):\n    return a + b",
        tuple(
            f"    return a {o} b" for o in ("-", "*", "**", "/", "//", "%", "@", "<<", ">>", "|", "&", "^")
        ),
    ),
    Case(
        "operators that bind as tightly, or more tightly where the operands allow it",
        "def f(a, b, c):\n    return a[b - c:] * -b",
        (
            *(
                f"    return a[b {o} c:] * -b"
                for o in ("+", "*", "**", "/", "//", "%", "@", "<<", ">>", "|", "&", "^")
            ),
            *(
                f"    return a[b - c:] {o} -b"
                for o in ("+", "-", "**", "/", "//", "%", "@", "<<", ">>", "|", "&", "^")
            ),
        ),
    ),
    Case(
        "without the operators that would take the operands apart",
        "def f(a):\n    return -a ** a <<~a",
        (*(f"    return -a ** a {o}~a" for o in ("+", "-", "*", "/", "//", "%", "@", ">>", "|", "&", "^")),),
    ),
)
INVALID = (
    Case("unary operators have other operands", "def f(a):\n    return -a, ~a, +a"),
    Case("stars of arguments are not operators", "def f(a, b):\n    return f(*a, **b)"),
    Case("assignments are another kind", "def f(a):\n    a += 1"),
)

BINARY_OPERATOR = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    texts=tuple(text for text, _ in BINARY.values()),
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
