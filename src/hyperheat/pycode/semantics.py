"""The relations of calls and operators: entry point of the semantic analyses of a function."""

import ast
from dataclasses import dataclass
from typing import Any

from hyperheat.pycode.calls import call_relation
from hyperheat.pycode.definitions import ModuleDefinitions
from hyperheat.pycode.inference import Resolver
from hyperheat.pycode.operators import SUGAR
from hyperheat.pycode.project import ProjectIndex
from hyperheat.pycode.relation import Relation

__all__ = ["CallCounts", "Relation", "relations"]


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls a function makes, and how many of them are bound to formal parameter names."""

    calls: int
    resolved: int


def relations(
    function: ast.FunctionDef | ast.AsyncFunctionDef, module: ModuleDefinitions, project: ProjectIndex | None
) -> tuple[list[Relation], CallCounts]:
    """One relation per call and per operator of a function and the functions inside it, in source order."""
    resolver = Resolver(project)
    callees = resolver.callees(function, module)
    found: list[Relation] = []
    calls = resolved = 0
    stack: list[Any] = [function]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Call:
            values = callees.get(node, ())
            relation, known = call_relation(node, resolver.candidates(node, values))
            found.append(relation)
            calls += 1
            resolved += known
        else:
            sugar = SUGAR.get(kind)
            if sugar is not None:
                sugar(node, found)
        for field in _CHILDREN.get(kind, ()):
            value = getattr(node, field)
            if type(value) is list:
                stack.extend(value[::-1])
            else:
                stack.append(value)
    return found, CallCounts(calls, resolved)


_TEXT = frozenset(
    "id attr ctx op ops arg name asname names kind type_comment level is_async simple conversion module rest"
    " kwd_attrs tag type_ignores".split()
)


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a syntax class that hold syntax below it, last one first."""
    fields = tuple(field for field in kind._fields if field not in _TEXT)
    return ("type_params", "value") if kind.__name__ == "TypeAlias" else fields[::-1]


def _syntax_classes(root: type[ast.AST]) -> list[type[ast.AST]]:
    return [root, *(inner for cls in root.__subclasses__() for inner in _syntax_classes(cls))]


_CHILDREN = {
    kind: fields
    for kind in _syntax_classes(ast.AST)
    if not issubclass(kind, (ast.Constant, ast.MatchSingleton)) and (fields := _child_fields(kind))
}
