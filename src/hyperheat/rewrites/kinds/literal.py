"""A small number or a truth value is wrong.

Each of the integers -2, -1, 0, 1 and 2 may become any of the others, and `True` may become `False`, and vice versa.
Numbers in other spellings (`0x1`, `+1`, `- 1`) are left out, and so is a minus sign where it would apply to more than
the number (`2 ** n`). Default values of parameters are left out, too.
"""

import ast
from collections.abc import Iterator

from hyperheat.rewrites.body import Body, Place
from hyperheat.rewrites.edit import Rewrite
from hyperheat.rewrites.kind import Case, Kind

__all__ = ["LITERAL"]

_NAME = "literal"
_NUMBERS = ("-2", "-1", "0", "1", "2")
_OTHERS = {one: [other for other in _NUMBERS if other != one] for one in _NUMBERS}
_OTHERS |= {"True": ["False"], "False": ["True"]}


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.Constant, ast.UnaryOp):
        if isinstance(getattr(place.node, "value", None), str):
            continue  # parts of f-strings have no quotes
        span = body.span(place.node)
        text = body.text[span.start : span.end]
        if text in _OTHERS and body.is_whole(span) and not _has_sign(place):
            for other in _OTHERS[text]:
                if other[0] != "-" or _takes_sign(body, place):
                    yield Rewrite(_NAME, span, text, other)


def _has_sign(place: Place) -> bool:
    return isinstance(place.parent, ast.UnaryOp) and not isinstance(place.parent.op, ast.Not)


def _takes_sign(body: Body, place: Place) -> bool:
    """Whether a minus sign before the number belongs to it alone."""
    node, parent = place.node, place.parent
    match parent:
        case ast.BinOp(op=ast.Pow(), left=base) if base is node:
            return body.is_parenthesised(node)
        case ast.Attribute() | ast.Await():
            return body.is_parenthesised(node)
        case ast.Subscript(value=value) | ast.Call(func=value) if value is node:
            return body.is_parenthesised(node)
    return True


VALID = (
    Case(
        "a small integer",
        "def f(a):\n    return a[1]",
        ("    return a[-2]", "    return a[-1]", "    return a[0]", "    return a[2]"),
    ),
    Case(
        "a negative one",
        "def f(a):\n    return a ** -1",
        ("    return a ** -2", "    return a ** 0", "    return a ** 1", "    return a ** 2"),
    ),
    Case("a truth value", "def f(a):\n    a(key=True)", ("    a(key=False)",)),
    Case(
        "without a minus sign where it would negate more",
        "def f(a):\n    return 2 ** a",
        ("    return 0 ** a", "    return 1 ** a"),
    ),
)
INVALID = (
    Case("default values of parameters", "def f(a=1):\n    return lambda b=True: a"),
    Case(
        "other numbers, spellings and types",
        "def f():\n    return 3, -3, 0x1, 1.0, 1j, +1, ~1, -0, - 1, None, '1'",
    ),
    Case("text, also inside f-strings", "def f(a):\n    return f'1{a:2}True', '1'"),
    Case("patterns", "def f(a):\n    match a:\n        case 1 | True: pass"),
    Case("what touches a word", "def f(a):\n    return-1if a else 1or a"),
)

LITERAL = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    texts=tuple(_OTHERS),
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
