"""Walking over syntax in source order, fast."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["COMPOUND", "descendants", "levels", "own_statements", "target_names"]

# Fields that hold text, numbers, or operators without a place of their own.
_TEXT = frozenset(
    {
        *(
            "id",
            "attr",
            "ctx",
            "op",
            "ops",
            "arg",
            "name",
            "asname",
            "names",
            "kind",
            "type_comment",
            "level",
        ),
        *("is_async", "simple", "conversion", "module", "rest", "kwd_attrs", "tag", "type_ignores"),
    }
)


def descendants(root: ast.AST) -> Iterator[Any]:
    """A syntax node and everything below it, parents first, without contexts, operators and imported names."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        yield node
        for field in _LAST_FIRST.get(type(node), ()):
            value = getattr(node, field)
            if type(value) is list:
                stack.extend(value[::-1])
            else:
                stack.append(value)


def levels(roots: Iterable[ast.AST]) -> Iterator[list[Any]]:
    """The same nodes level by level: the roots, what is right below them, and so on."""
    level = list(roots)
    while level:
        yield level
        below: list[Any] = []
        for node in level:
            for field in _CHILDREN.get(type(node), ()):
                value = getattr(node, field)
                if type(value) is list:
                    below += value
                else:
                    below.append(value)
        level = [node for node in below if node is not None]


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
COMPOUND = (
    ast.If,
    ast.Try,
    ast.For,
    ast.While,
    ast.With,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Match,
    ast.TryStar,
)


def own_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a body in source order, with those of blocks but not of functions and classes inside."""
    for statement in body:
        yield statement
        kind = type(statement)
        if kind in COMPOUND or kind is ast.ExceptHandler or kind is ast.match_case:
            for block in _BLOCKS:
                inner = getattr(statement, block, None)
                if inner:
                    yield from own_statements(inner)


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from target_names(element)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a syntax class that hold syntax below it."""
    if kind.__name__ == "TypeAlias":
        return ("name", "type_params", "value")
    return tuple(field for field in kind._fields if field not in _TEXT)


def _syntax_classes(root: type[ast.AST]) -> list[type[ast.AST]]:
    return [root, *(inner for cls in root.__subclasses__() for inner in _syntax_classes(cls))]


_CHILDREN = {
    kind: fields
    for kind in _syntax_classes(ast.AST)
    if not issubclass(kind, (ast.Constant, ast.MatchSingleton)) and (fields := _child_fields(kind))
}
_LAST_FIRST = {kind: fields[::-1] for kind, fields in _CHILDREN.items()}
