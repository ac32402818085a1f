"""Comparing syntax trees: what differs between two versions of a file, apart from comments, layout and docstrings.

Inside of functions, annotations do not count either.
"""

import ast
from collections.abc import Callable, Set
from typing import Any

__all__ = ["FunctionNode", "changed_functions", "same"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_UNIMPORTANT = frozenset({"kind", "type_comment", "type_ignores"})
_ANNOTATIONS = frozenset({"annotation", "returns"})


def changed_functions(
    before: ast.Module, after: ast.Module
) -> list[tuple[FunctionNode, FunctionNode]] | None:
    """The outermost functions that differ; None if anything else does."""
    changed = []

    def compare(first: Any, second: Any) -> bool:
        if not isinstance(first, FunctionNode):
            return False
        if not same(first, second):
            changed.append((first, second))
        return True

    return changed if _walk(before, after, compare, _UNIMPORTANT, _without_strings) else None


def same(first: Any, second: Any) -> bool:
    """Whether two parts of functions mean the same code; strings that stand as statements and annotations do not count."""
    return _walk(first, second, lambda *_: False, _UNIMPORTANT | _ANNOTATIONS, _bare_code)


def _walk(
    first: Any,
    second: Any,
    settle: Callable[[Any, Any], bool],
    ignored: Set[str],
    code: Callable[[list[Any]], list[Any]],
) -> bool:
    """Compare two trees in step; pairs of nodes of one type that `settle` takes are not looked into."""
    stack = [(first, second)]
    while stack:
        one, other = stack.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            if not settle(one, other):
                fields = [field for field in one._fields if field not in ignored]
                stack += [(getattr(one, field, None), getattr(other, field, None)) for field in fields]
        elif isinstance(one, list):
            left, right = code(one), code(other)
            if len(left) != len(right):
                return False
            stack += zip(left, right, strict=True)
        elif one != other:
            return False
    return True


def _without_strings(items: list[Any]) -> list[Any]:
    return [item for item in items if not _is_string_statement(item)]


def _bare_code(items: list[Any]) -> list[Any]:
    """Statements without strings and annotations: `x: int = 1` as `x = 1`, and `x: int` not at all."""
    kept = []
    for item in _without_strings(items):
        if not isinstance(item, ast.AnnAssign):
            kept.append(item)
        elif item.value is not None:
            kept.append(ast.Assign(targets=[item.target], value=item.value))
    return kept


def _is_string_statement(item: Any) -> bool:
    return (
        isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, str)
    )
