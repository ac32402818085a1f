"""Nodes and edges of a function's syntax: `Tokens(p1, p2, ...)` and `AstNode(node, <field>...)`.

Every token is a node. Every `ast` node is a node too, except that one covering exactly one token is that
token's node. Children of one field are numbered when there are several (`body1`, `body2`), not when there is
one (`body`). Punctuation and keywords, which no syntax node claims, stand in `Tokens` alone.
"""

import ast
from collections.abc import Iterable
from typing import Any

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.anchors import Anchor, FunctionNode
from hyperheat.pycode.syntax.children import PLACES, expand
from hyperheat.pycode.syntax.fields import FORMS
from hyperheat.pycode.syntax.graph_columns import GraphColumns
from hyperheat.pycode.syntax.placement import Placement
from hyperheat.pycode.syntax.python_source import MAX_OPERANDS, MAX_TOKENS, PythonSource, TooMuchSource
from hyperheat.pycode.syntax.tokens import ReplacementField, TooManyTokens, find_comments, scan

__all__ = ["MAX_LABEL", "FunctionSyntax"]

MAX_LABEL = 200
"""Longer labels (string literals) are shortened: their beginning, their length, their end."""


class FunctionSyntax:
    """The nodes and syntax edges of one function, and the way from anchors to nodes.

    All nodes and edges of the function are collected in `columns`, those of other analyses included.
    """

    def __init__(self, function: FunctionNode, source: PythonSource) -> None:
        self.function = function
        self.source = source
        self.start_of_lines = source.function_start(function)
        self.end_of_lines = source.line_starts[function.end_lineno or function.lineno]
        try:
            self.tokens = scan(source.text, self.start_of_lines, self.end_of_lines, MAX_TOKENS)
        except TooManyTokens:
            problem = f"function {function.name} has more than {MAX_TOKENS} tokens"
            raise TooMuchSource(source.path, function.lineno, problem) from None
        self.placement = Placement(source, self.tokens)
        self.columns = GraphColumns()
        self._nodes: dict[ast.AST, int] = {}
        self._anchored: dict[Anchor, int] = {}  # what `node` has found so far
        self._found: dict[tuple[ast.AST, str], list[int]] = {}  # the tokens of fields, likewise
        self._pending: list[ast.AST] = []  # children that are placed, but not yet expanded
        # What a parent tells its children: the default of a parameter, the tokens of parts of f-strings.
        self.defaults: dict[ast.arg, ast.expr] = {}
        self.fields: dict[ast.AST, ReplacementField] = {}
        self.ranges: dict[ast.AST, tuple[int, int]] = {}
        labels = [_shorten(text) if len(text) > MAX_LABEL else text for text in self.tokens.texts]
        self.columns.add_nodes(labels, self.tokens.starts, self.tokens.ends)

    def span_in(self, graph: Hypergraph) -> tuple[int, int, int, int]:
        """The span of the function, from its first decorator to its end."""
        assert graph.span is not None
        line, column = graph.span[0, :2].tolist()
        end_line, end_column = graph.span[self._nodes[self.function], 2:].tolist()
        return line, column, end_line, end_column

    def node(self, anchor: Anchor) -> int:
        """The graph node of an anchor; a parameter stands for its name, without annotation and default."""
        found = self._anchored.get(anchor)
        if found is None:
            found = self._anchored[anchor] = self._find(anchor)
        return found

    def _find(self, anchor: Anchor) -> int:
        if type(anchor) is ast.arg:
            anchor = (anchor, "arg")
        if isinstance(anchor, ast.AST):
            return self._nodes[anchor]
        node, field, *number = anchor
        tokens = self._found.get((node, field))
        if tokens is None:
            tokens = self._found[node, field] = self.placement.find(node, field)
        return tokens[number[0] if number else 0] if tokens else self._nodes[node]

    def relate(self, relation: str, incidences: Iterable[tuple[str, Anchor]]) -> None:
        """Add an edge whose ends are given as anchors."""
        node = self.node
        self.columns.relate(relation, [(qualifier, node(anchor)) for qualifier, anchor in incidences])

    def relate_tokens(self, *, comments: bool, chunk: int, overlap: int) -> None:
        """Add `Tokens` edges of `chunk` tokens; neighbours share `overlap` tokens, positions are absolute."""
        sequence = list(range(len(self.tokens.texts)))
        if comments:
            text = self.source.text
            for shift, (index, start, end) in enumerate(find_comments(text, self.tokens, self.end_of_lines)):
                sequence.insert(index + shift, self.add_node(text[start:end], start, end))
        start = 0
        while True:
            self.columns.relate_sequence("Tokens", sequence[start : start + chunk], start=start + 1)
            if start + chunk >= len(sequence):
                return
            start += chunk - overlap

    def relate_tree(self) -> None:
        """Give every `ast` node its graph node and add the `AstNode` edges, parents before children."""
        self._place(self.function)
        stack: list[ast.AST] = [self.function]
        while stack:
            node = stack.pop()
            incidences = expand(self, node)
            index = self._nodes[node]
            if incidences and (len(incidences) > 1 or incidences[0][1] != index):
                self.columns.relate("AstNode", [("node", index), *incidences])
            stack.extend(reversed(self._pending))
            self._pending.clear()

    def add_node(self, label: str, start: int = -1, end: int = -1) -> int:
        """Add a node with a place in the text, or without one."""
        return self.columns.add_node(_shorten(label) if len(label) > MAX_LABEL else label, start, end)

    def check_operands(self, node: ast.expr, count: int) -> None:
        """Refuse a chain that is too long."""
        if count > MAX_OPERANDS:
            problem = f"expected at most {MAX_OPERANDS} operands in a chain, got {count}"
            raise TooMuchSource(self.source.path, node.lineno, problem)

    def child(self, node: ast.AST) -> int:
        """The graph node of a child, whose own children are then read later."""
        if type(node) is ast.withitem and node.optional_vars is None:
            return self.alias(node, self.child(node.context_expr))  # without `as`, the item is its expression
        index = self._place(node)
        if type(node) is not ast.Name:
            self._pending.append(node)
        return index

    def alias(self, node: ast.AST, index: int) -> int:
        """Let an `ast` node stand on an existing graph node."""
        self._nodes[node] = index
        return index

    def defer(self, node: ast.AST, index: int) -> int:
        """The same for a child whose own children are read later."""
        self._pending.append(node)
        return self.alias(node, index)

    def _place(self, node: Any) -> int:
        unplaced = PLACES.get(type(node))
        if unplaced is not None:
            return self.alias(node, unplaced(self, node))
        placement = self.placement
        start, end = placement.start(node), placement.end(node)
        first = placement.at_start.get(start, -1)
        last = placement.at_end.get(end, -1)
        if first < 0 or last < 0:
            index = self.add_node(_label(placement, node, first))
        elif first == last:
            index = first
        else:
            index = self.add_node(_label(placement, node, first), start, end)
        self._nodes[node] = index
        return index


def _shorten(label: str) -> str:
    return f"{label[: MAX_LABEL // 2]}...({len(label)} characters)...{label[-20:]}"


def _label(placement: Placement, node: ast.AST, first: int) -> str:
    """The libCST class name, which in three cases depends on more than the `ast` type."""
    kind = type(node)
    if kind is ast.ExceptHandler and placement.texts[first + 1] == "*":
        return "ExceptStarHandler"
    if kind is ast.MatchSequence and placement.closing(first) == placement.last(node):
        return "MatchTuple"
    if first < 0 and isinstance(node, ast.Name):
        return node.id
    if first < 0 and isinstance(node, ast.Constant):
        return type(node.value).__name__
    return FORMS[kind].label
