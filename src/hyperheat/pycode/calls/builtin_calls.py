"""Calls of builtins whose result depends on more than their return type."""

import ast
from collections.abc import Callable

from hyperheat.pycode.calls.abstract_values import Instance, Super, Value, Values
from hyperheat.pycode.calls.definitions import Class, Function
from hyperheat.pycode.calls.environment import Environment

__all__ = ["special_result"]

_MODULES = ("builtins", "collections", "typing")


def special_result(call: ast.Call, callee: Value, given: list[Values], scope: Environment) -> Values | None:
    """The values of a call of `super`, `type`, `zip`, `enumerate` or `namedtuple`; None for any other call."""
    if not isinstance(callee, (Class, Function)) or callee.module.name not in _MODULES:
        return None
    result = _RESULTS.get(callee.name)
    return None if result is None else result(call, given, scope)


def _super(call: ast.Call, given: list[Values], scope: Environment) -> Values:
    of, receiver = scope.owner, scope.receiver
    if given and given[0] and type(given[0][0]) is Class:
        of = given[0][0]
    return () if of is None or receiver is None else (Super(of, receiver),)


def _type(call: ast.Call, given: list[Values], scope: Environment) -> Values:
    return tuple(v.of for v in given[0] if type(v) is Instance) if len(given) == 1 else ()


def _enumerate(call: ast.Call, given: list[Values], scope: Environment) -> Values:
    items = scope.items(given[0]) if given else ()
    return scope.made("enumerate", scope.made("tuple", scope.lookup.instance("int"), items))


def _zip(call: ast.Call, given: list[Values], scope: Environment) -> Values:
    return scope.made("zip", scope.made("tuple", *(scope.items(values) for values in given)))


def _named_tuple(call: ast.Call, given: list[Values], scope: Environment) -> Values:
    fields = _field_names(call.args[1]) if len(call.args) > 1 else None
    name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    if fields is None or not isinstance(name, str):
        return ()
    return (Class(name, None, scope.module, fields=fields),)


def _field_names(node: ast.expr) -> tuple[str, ...] | None:
    """The names in `"x y"`, `"x, y"`, `["x", "y"]` or `[("x", int), ("y", int)]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(node.value.replace(",", " ").split())
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    names = [part.elts[0] if isinstance(part, ast.Tuple) and part.elts else part for part in node.elts]
    found = [name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)]
    return tuple(found) if len(found) == len(names) else None


_RESULTS: dict[str, Callable[[ast.Call, list[Values], Environment], Values]] = {
    "super": _super,
    "type": _type,
    "enumerate": _enumerate,
    "zip": _zip,
    "namedtuple": _named_tuple,
    "NamedTuple": _named_tuple,
}
