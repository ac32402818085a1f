"""Anchors: how an analysis points at a place in the syntax without knowing the graph's node numbers.

An analysis of this package is a pure function: `ast` in, immutable facts out. It speaks of places as

    node                    the syntax node itself, for example the `ast.Name` of an occurrence
    (node, field)           the token that a field holds as plain text or as an operator without a position:
                            `(function_def, "name")`, `(attribute, "attr")`, `(handler, "name")`, `(bin_op, "op")`
    (node, field, index)    the same for a list field: `(global_statement, "names", 0)`, `(compare, "ops", 1)`

`hyperheat.pycode.syntax.nodes` turns anchors into graph nodes.
"""

import ast

__all__ = ["Anchor"]

Anchor = ast.AST | tuple[ast.AST, str] | tuple[ast.AST, str, int]
