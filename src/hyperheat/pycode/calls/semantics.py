"""The relations of calls and operators: entry point of the semantic analyses of a function."""

import ast
from dataclasses import dataclass

from hyperheat.pycode.calls.arguments import call_relation
from hyperheat.pycode.calls.definitions import ModuleDefinitions
from hyperheat.pycode.calls.inference import Resolver
from hyperheat.pycode.calls.operators import SUGAR
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.pycode.relation import Relation
from hyperheat.pycode.syntax.traverse import descendants

__all__ = ["CallCounts", "Relation", "relations"]


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls a function makes, and how many of them are bound to formal parameter names."""

    calls: int
    resolved: int


def relations(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    module: ModuleDefinitions,
    project: ProjectIndex | None,
    name: str | None = None,
) -> tuple[list[Relation], CallCounts]:
    """One relation per call and per operator of a function and the functions inside it, in source order.

    `name` (`Class.method`) tells the place of a function that has been rewritten since the module was defined.
    """
    resolver = Resolver(project)
    notes = resolver.calls(function, module, name)
    found: list[Relation] = []
    calls = resolved = 0
    for node in descendants(function):
        kind = type(node)
        if kind is ast.Call:
            note = notes.get(node)
            candidates = [] if note is None else resolver.candidates(node, note.callees)
            relation, known = call_relation(node, candidates)
            found.append(relation)
            calls += 1
            resolved += known
        else:
            sugar = SUGAR.get(kind)
            if sugar is not None:
                sugar(node, found)
    return found, CallCounts(calls, resolved)
