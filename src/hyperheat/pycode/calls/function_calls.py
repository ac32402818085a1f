"""The calls and operators of one function, as relations. This is where the analysis of calls begins."""

import ast
from dataclasses import dataclass
from typing import NamedTuple

from hyperheat.pycode.anchors import FunctionNode, Relation
from hyperheat.pycode.calls.definitions import ModuleDefinitions
from hyperheat.pycode.calls.inference import Resolver
from hyperheat.pycode.calls.operators import SUGAR
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.pycode.calls.signatures import call_relation
from hyperheat.pycode.syntax.traversal import descendants

__all__ = ["CallCounts", "FunctionCalls", "analyse_calls"]


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls a function makes, and how many of them are bound to formal parameter names."""

    calls: int
    resolved: int


class FunctionCalls(NamedTuple):
    """One relation per call and per operator, in source order, and how many of the calls are resolved."""

    relations: list[Relation]
    counts: CallCounts


def analyse_calls(
    function: FunctionNode,
    module: ModuleDefinitions,
    project: ProjectIndex | None,
    name: str | None = None,
) -> FunctionCalls:
    """Find what a function and the functions inside it call.

    `name` (`Class.method`) finds the class of a function that was edited after the module was read.
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
    return FunctionCalls(found, CallCounts(calls, resolved))
