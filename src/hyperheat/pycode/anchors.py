"""Anchors: how an analysis points at places in the syntax, without knowing the node numbers of the graph.

An analysis of this package is a pure function: `ast` in, immutable facts out. It speaks of places as

    node                    the syntax node itself, for example the `ast.Name` of an occurrence
    (node, field)           the token that a field holds as plain text or as an operator without a position:
                            `(function_def, "name")`, `(attribute, "attr")`, `(handler, "name")`, `(bin_op, "op")`
    (node, field, index)    the same for a list field: `(global_statement, "names", 0)`, `(compare, "ops", 1)`

`hyperheat.pycode.syntax.function_syntax` turns anchors into graph nodes.
"""

import ast
from dataclasses import dataclass

__all__ = ["Anchor", "FunctionNode", "FunctionOrLambda", "Relation"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
FunctionOrLambda = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

Anchor = ast.AST | tuple[ast.AST, str] | tuple[ast.AST, str, int]


@dataclass(frozen=True, slots=True)
class Relation:
    """One edge `name(qualifier: anchor, ...)`, for example `foo(rval: the call, fzz: its argument)`."""

    name: str
    incidences: tuple[tuple[str, Anchor], ...]
