"""The values that an annotation allows."""

import ast

from hyperheat.pycode.calls.definitions import Class
from hyperheat.pycode.calls.environment import Scope
from hyperheat.pycode.calls.values import Instance, Values, union

__all__ = ["annotated"]

_TRANSPARENT = ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar")


def annotated(node: ast.expr, scope: Scope) -> Values:
    """The objects that an annotation describes: `Foo`, `"Foo"`, `Foo | None`, `Optional[Foo]`, `list[Foo]`."""
    if isinstance(node, ast.Constant):
        return _quoted(node.value, scope) if isinstance(node.value, str) else ()
    if isinstance(node, ast.BinOp):
        return union([annotated(node.left, scope), annotated(node.right, scope)])
    if isinstance(node, ast.Subscript):
        return _parametrised(node, scope)
    if isinstance(node, ast.Name) and node.id in scope.type_variables:
        return scope.type_variables[node.id]
    if isinstance(node, (ast.Name, ast.Attribute)):
        return tuple(Instance(value) for value in scope.value(node) if type(value) is Class)
    return ()


def _quoted(text: str, scope: Scope) -> Values:
    try:
        return annotated(ast.parse(text.strip(), mode="eval").body, scope)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _parametrised(node: ast.Subscript, scope: Scope) -> Values:
    base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if base in ("Optional", "Union"):
        return union([annotated(part, scope) for part in inner])
    if base in _TRANSPARENT:
        return annotated(inner[0], scope) if inner else ()
    if base in ("type", "Type"):
        return tuple(value.of for value in annotated(inner[0], scope) if type(value) is Instance)
    if base in ("Literal", "Callable"):
        return ()
    args = tuple(annotated(part, scope) for part in inner if not isinstance(part, ast.List))
    return tuple(Instance.having(v.of, args) for v in annotated(node.value, scope) if type(v) is Instance)
