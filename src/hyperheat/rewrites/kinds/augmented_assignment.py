"""An assignment replaces a value that it should change, or changes it in the wrong way.

The operator of an augmented assignment may become another one or a plain `=`, and a plain `=` may become an augmented
assignment. The target is a single name, attribute or subscript: tuples cannot be augmented, and assignments to several
targets or with an annotation are left out. A name must have been bound earlier in the source, for example by a
parameter, because an augmented assignment reads it.
"""

import ast
from collections.abc import Iterator

from hyperheat.rewrites.body import Body
from hyperheat.rewrites.edit import Rewrite
from hyperheat.rewrites.kind import Case, Kind
from hyperheat.rewrites.precedence import BINARY

__all__ = ["AUGMENTED_ASSIGNMENT"]

_NAME = "augmented-assignment"
_OPERATORS = ("=", *(f"{operator}=" for operator, _ in BINARY.values()))


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.Assign, ast.AugAssign):
        target = _only_target(place.node)
        if target is None or (isinstance(target, ast.Name) and not body.bindings.is_bound_earlier(target)):
            continue
        operator, span = body.after(target)
        for other in _OPERATORS:
            if other != operator:
                yield Rewrite(_NAME, span, operator, other)


def _only_target(node: ast.Assign | ast.AugAssign) -> ast.expr | None:
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
    if len(targets) == 1 and isinstance(targets[0], ast.Name | ast.Attribute | ast.Subscript):
        return targets[0]
    return None


def _all_but(operator: str, line: str) -> tuple[str, ...]:
    return tuple(line.replace(operator, other) for other in _OPERATORS if other != operator)


VALID = (
    Case(
        "an augmented assignment",
        "def f(a, b):\n    a += b",
        (
            *(
                "    a = b",
                "    a -= b",
                "    a *= b",
                "    a **= b",
                "    a /= b",
                "    a //= b",
                "    a %= b",
            ),
            *("    a @= b", "    a <<= b", "    a >>= b", "    a |= b", "    a &= b", "    a ^= b"),
        ),
    ),
    Case(
        "an attribute, which has a value already",
        "def f(self, b):\n    self.n = b",
        _all_but("=", "    self.n = b"),
    ),
    Case("a subscript", "def f(a, b):\n    (a[b]) = yield", _all_but("=", "    (a[b]) = yield")),
    Case("a global name", "def f(a):\n    global b\n    b |= a", _all_but("|=", "    b |= a")),
)
INVALID = (
    Case("a tuple cannot be augmented", "def f(a, b):\n    a, b = b, a\n    [a] = b"),
    Case("two targets", "def f(a, b):\n    a = b = 1"),
    Case("a name that has no value yet", "def f(a):\n    b = a"),
    Case("an annotation", "def f(a):\n    a: int = 1"),
    Case("an assignment inside an expression", "def f(a):\n    return (a := 1)"),
)

AUGMENTED_ASSIGNMENT = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    texts=_OPERATORS,
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
