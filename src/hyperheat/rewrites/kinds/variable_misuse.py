"""A variable is used where another one is meant.

Each use of a variable may become any other variable that can be used in its place: parameters, local names, local
imports, variables of enclosing functions and of comprehensions; but never `self` or `cls`, nor anything from outside
the outermost function.

- Where a variable is read (including attributes, calls and lambdas), both variables must be visible and possibly
  bound: some path from the start of the function binds them and does not delete them again.
- Where a name is assigned, both must belong to the scope of the assignment, without being declared `global` or
  `nonlocal`, and both must also be bound elsewhere, so that each stays a variable of the function.
- `del a` and `a += 1` read and write, so both conditions apply.

Parameters, imports, exceptions, patterns and the names of functions and classes are never changed.
"""

import ast
from collections.abc import Iterator, Mapping

from hyperheat.rewrites.bindings import Bindings
from hyperheat.rewrites.body import Body, Place
from hyperheat.rewrites.edit import Rewrite
from hyperheat.rewrites.kind import Case, Kind

__all__ = ["VARIABLE_MISUSE"]

_NAME = "variable-misuse"


def _find(body: Body) -> Iterator[Rewrite]:
    bindings = body.bindings
    for place in body.places(ast.Name):
        usable = _usable(bindings, place)
        if bindings.symbol(place.node) in usable:
            name, span = place.node.id, body.span(place.node)
            for symbol, other in usable.items():
                if other != name:
                    yield Rewrite(_NAME, span, name, other, None, bindings.first(symbol))


def _usable(bindings: Bindings, place: Place) -> Mapping[int, str]:
    """The variables that may stand at a place, by their numbers."""
    node, parent, scope = place
    if type(node.ctx) is ast.Load:
        return bindings.readable(node, scope)
    reads = type(node.ctx) is ast.Del or type(parent) is ast.AugAssign
    return _writable(bindings, place, bindings.readable(node, scope) if reads else bindings.visible(scope))


def _writable(bindings: Bindings, place: Place, usable: Mapping[int, str]) -> Mapping[int, str]:
    """The variables of the scope of a place that are bound elsewhere too."""
    node, parent, scope = place.node, place.parent, place.scope
    if scope.role not in ("function", "comprehension"):
        return {}
    if isinstance(parent, ast.NamedExpr) and scope.role == "comprehension":
        return {}  # it binds a name outside, which may not be that of a clause
    if isinstance(parent, ast.AnnAssign) and parent.value is None:
        return {}
    return {
        symbol: name
        for symbol, name in usable.items()
        if name in scope.bound
        and name not in bindings.declared
        and any(binder is not node for binder in bindings.binders[symbol])
    }


VALID = (
    Case(
        "a variable that is read",
        "def f(self, left, right):\n    return self.g(left)",
        ("    return self.g(right)",),
    ),
    Case(
        "the base of an attribute, a function that is called",
        "def f(a, b):\n    return a.c + b()",
        ("    return b.c + b()", "    return a.c + a()"),
    ),
    Case(
        "variables of comprehensions",
        "def f(a):\n    return [b for b in a]",
        ("    return [a for b in a]",),
    ),
    Case(
        "variables of lambdas and of enclosing functions",
        "def f(a):\n    return lambda b: b",
        ("    return lambda b: a",),
    ),
    Case(
        "a target, if both are bound elsewhere too",
        "def f(a, b):\n    a = 1",
        ("    b = 1",),
    ),
    Case(
        "a variable that only one of two branches binds",
        "def f(a):\n    if g():\n        b = 1\n    return h(a)",
        ("    return h(b)",),
    ),
    Case(
        "every variable but the deleted one",
        "def f(a, b, c):\n    del c\n    return b",
        ("    del a", "    del b", "    return a"),
    ),
)
INVALID = (
    Case("no other variable", "def f(self, a):\n    return self.b(a, print, f)"),
    Case("a variable that gets its value later", "def f(a):\n    print(a)\n    b = 1"),
    Case("the only place that binds a variable", "def f(a):\n    b = 1"),
    Case(
        "the name of an exception after its clause",
        "def f(a):\n    try: g()\n    except E as e: pass\n    return a",
    ),
    Case("attributes and keywords are not variables", "def f(a):\n    return g.a(a=1)"),
    Case("variables of a comprehension outside of it", "def f(a):\n    [0 for b in g()]\n    return a"),
    Case("variables from outside", "a = b = 1\ndef f():\n    return a"),
)

VARIABLE_MISUSE = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
