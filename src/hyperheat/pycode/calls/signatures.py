"""Signatures: the formal parameters of a function, and which of them each argument of a call reaches.

    foo(1, b=2)        with `def foo(a, b)`             foo(rval: the call, a: 1, b: 2)
    x.foo(1)           with a method `foo(self, a)`     foo(rval: the call, self: x, a: 1)
    Foo(1)             with `__init__(self, a)`         Foo(rval: the call, a: 1)
    foo(1, 2, 3)       with `def foo(a, *rest)`         foo(rval: the call, a: 1, rest: 2, rest: 3)
    foo(k=1)           with `def foo(**options)`        foo(rval: the call, k: 1)
    foo(1, *r, **o)    with `def foo(a, b)`             foo(rval: the call, a: 1, *args: r, **kwargs: o)
    x.foo(1, k=2)      unknown                          foo(rval: the call, self: x, arg1: 1, k: 2)
    f()(1)             unknown and without a name       __call__(rval: the call, self: f(), arg1: 1)

Of several possible definitions all that fit must give the same formals, else the call counts as unresolved.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from hyperheat.pycode.anchors import Anchor, Relation

__all__ = ["Callee", "Signature", "bind", "call_relation", "signature_of", "visible_name"]

ArgumentIncidences = list[tuple[str, Anchor]]


@dataclass(frozen=True, slots=True)
class Signature:
    """The formal parameters of a function, by the ways in which arguments reach them."""

    positional: tuple[str, ...] = ()  # positional-only ones first
    positional_only: int = 0  # how many of `positional` cannot be given by keyword
    required: int = 0  # how many of `positional` have no default
    vararg: str | None = None
    keyword_only: tuple[str, ...] = ()
    kwarg: str | None = None

    def without_first(self) -> "Signature":
        """The parameters that are left when the receiver is given; a bare `*args` swallows it."""
        if not self.positional:
            return self
        only, required = max(self.positional_only - 1, 0), max(self.required - 1, 0)
        return Signature(self.positional[1:], only, required, self.vararg, self.keyword_only, self.kwarg)


@dataclass(frozen=True, slots=True)
class Callee:
    """Something that can be called: its name, its formals, and the formal of the receiver if there is one."""

    name: str
    signature: Signature
    receiver: str | None = None
    overload: bool = False  # one of several signatures of the same function: the first that fits counts


def signature_of(arguments: ast.arguments) -> Signature:
    """The formal parameters written in a `def` or `lambda`."""
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    return Signature(
        positional=tuple(positional),
        positional_only=len(arguments.posonlyargs),
        required=len(positional) - len(arguments.defaults),
        vararg=arguments.vararg and arguments.vararg.arg,
        keyword_only=tuple(argument.arg for argument in arguments.kwonlyargs),
        kwarg=arguments.kwarg and arguments.kwarg.arg,
    )


def call_relation(call: ast.Call, callees: Iterable[Callee]) -> tuple[Relation, bool]:
    """The relation of a call, and whether its arguments are bound to formal names."""
    found: list[tuple[Callee, ArgumentIncidences]] = []
    for callee in callees:
        if callee.overload and any(other.overload and other.name == callee.name for other, _ in found):
            continue
        incidences = bind(callee.signature, call)
        if incidences is not None:
            found.append((callee, incidences))
    if not found or any(incidences != found[0][1] for _, incidences in found):
        return _unresolved(call), False
    names = {callee.name for callee, _ in found}
    name = names.pop() if len(names) == 1 else visible_name(call.func)
    receivers = [_receiver(call, callee) for callee, _ in found]
    receiver = receivers[0] if all(other == receivers[0] for other in receivers) else []
    return Relation(name, (("rval", call), *receiver, *found[0][1])), True


def visible_name(func: ast.expr) -> str:
    """The name under which a call is written."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else "__call__"


def _receiver(call: ast.Call, callee: Callee) -> ArgumentIncidences:
    if callee.receiver is None:
        return []
    func = call.func
    if callee.name == "__call__" and getattr(func, "attr", "") != "__call__":
        return [(callee.receiver, func)]
    # A method taken from its object earlier (`append = items.append`) has no receiver in the call.
    return [(callee.receiver, func.value)] if isinstance(func, ast.Attribute) else []


def bind(signature: Signature, call: ast.Call) -> ArgumentIncidences | None:
    """The formal parameter of each argument; None if they do not fit."""
    incidences: ArgumentIncidences = []
    formals = signature.positional
    size, starred = len(formals), False
    for i, argument in enumerate(call.args):
        if type(argument) is ast.Starred:
            starred = True
            incidences.append(("*args", argument.value))
        elif starred:
            incidences.append(("*args", argument))  # its place depends on how many items came before
        elif i < size:
            incidences.append((formals[i], argument))
        elif signature.vararg is not None:
            incidences.append((signature.vararg, argument))
        else:
            return None
    named = formals[signature.positional_only :]
    given = set(formals[: len(call.args)])
    for keyword in call.keywords:
        name = keyword.arg
        if name is None:
            starred = True
            incidences.append(("**kwargs", keyword.value))
            continue
        if name not in named and name not in signature.keyword_only and signature.kwarg is None:
            return None
        given.add(name)
        incidences.append((name, keyword.value))
    missing = not starred and any(formal not in given for formal in formals[: signature.required])
    return None if missing else incidences


def _unresolved(call: ast.Call) -> Relation:
    incidences: ArgumentIncidences = [("rval", call)]
    func = call.func
    if isinstance(func, ast.Attribute):
        incidences.append(("self", func.value))
    elif not isinstance(func, ast.Name):
        incidences.append(("self", func))
    for i, argument in enumerate(call.args, 1):
        if type(argument) is ast.Starred:
            incidences.append(("*args", argument.value))
        else:
            incidences.append((f"arg{i}", argument))
    incidences += [(keyword.arg or "**kwargs", keyword.value) for keyword in call.keywords]
    return Relation(visible_name(func), tuple(incidences))
