"""Comparing syntax trees: what differs between two versions of a file, apart from comments, layout and docstrings."""

import ast
from collections.abc import Callable
from typing import Any

__all__ = ["FunctionNode", "changed_functions", "same"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_UNIMPORTANT = frozenset({"kind", "type_comment", "type_ignores"})


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

    return changed if _walk(before, after, compare) else None


def same(first: Any, second: Any) -> bool:
    """Whether two trees mean the same code; strings that stand as statements do not count."""
    return _walk(first, second, lambda *_: False)


def _walk(first: Any, second: Any, settle: Callable[[Any, Any], bool]) -> bool:
    """Compare two trees in step; pairs of nodes of one type that `settle` takes are not looked into."""
    stack = [(first, second)]
    while stack:
        one, other = stack.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            if not settle(one, other):
                fields = [field for field in one._fields if field not in _UNIMPORTANT]
                stack += [(getattr(one, field, None), getattr(other, field, None)) for field in fields]
        elif isinstance(one, list):
            left, right = _without_strings(one), _without_strings(other)
            if len(left) != len(right):
                return False
            stack += zip(left, right, strict=True)
        elif one != other:
            return False
    return True


def _without_strings(items: list[Any]) -> list[Any]:
    return [item for item in items if not _is_string_statement(item)]


def _is_string_statement(item: Any) -> bool:
    return (
        isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, str)
    )
