"""Nodes and edges of a function's syntax: `Tokens(p1, p2, ...)` and `AstNode(node, <field>...)`.

Every token is a node. Every `ast` node is a node too, except that one covering exactly one token is that
token's node. Children of one field are numbered when there are several (`body1`, `body2`), not when there is
one (`body`). Punctuation and keywords, which no syntax node claims, stand in `Tokens` alone.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.anchor import Anchor
from hyperheat.pycode.columns import Columns
from hyperheat.pycode.fields import FORMS, numbered
from hyperheat.pycode.layout import FINDERS, Finder, Layout
from hyperheat.pycode.source import MAX_TOKENS, Source, SourceError
from hyperheat.pycode.tokens import Field, TooManyTokens, find_comments, scan

__all__ = ["MAX_LABEL", "FunctionSyntax"]

MAX_LABEL = 200
"""Longer labels (string literals) are shortened: their beginning, their length, their end."""

Incidences = list[tuple[str, int]]


class FunctionSyntax:
    """The nodes and syntax edges of one function, and the way from anchors to nodes.

    All nodes and edges of the function are collected in `columns`, those of other analyses included.
    """

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> None:
        self.function = function
        self.source = source
        self.start_of_lines = source.function_start(function)
        self.end_of_lines = source.line_starts[function.end_lineno or function.lineno]
        try:
            self.tokens = scan(source.text, self.start_of_lines, self.end_of_lines, MAX_TOKENS)
        except TooManyTokens:
            problem = f"expected at most {MAX_TOKENS} tokens in the function {function.name}, got more"
            raise SourceError(source.path, function.lineno, problem) from None
        self.layout = Layout(source, self.tokens)
        self.columns = Columns()
        self._nodes: dict[ast.AST, int] = {}
        self._found: dict[tuple[ast.AST, str], list[int]] = {}
        self._pending: list[ast.AST] = []
        self.defaults: dict[ast.arg, ast.expr] = {}
        self.fields: dict[ast.AST, Field] = {}
        self.ranges: dict[ast.AST, tuple[int, int]] = {}
        for token in zip(self.tokens.texts, self.tokens.starts, self.tokens.ends, strict=True):
            self.add_node(*token)

    def span_in(self, graph: Hypergraph) -> tuple[int, int, int, int]:
        """The span of the function, from its first decorator to its end."""
        assert graph.span is not None
        line, column = graph.span[0, :2].tolist()
        end_line, end_column = graph.span[self._nodes[self.function], 2:].tolist()
        return line, column, end_line, end_column

    def node(self, anchor: Anchor) -> int:
        """The graph node of an anchor."""
        if isinstance(anchor, ast.AST):
            return self._nodes[anchor]
        key, index = anchor[:2], anchor[2] if len(anchor) == 3 else 0
        found = self._found.get(key)
        if found is None:
            syntax, field = key
            found = FINDERS[type(syntax), field](self.layout, syntax) or [self._nodes[syntax]]
            self._found[key] = found
        return found[index]

    def relate(self, relation: str, incidences: Iterable[tuple[str, Anchor]]) -> None:
        """Add an edge whose ends are given as anchors."""
        self.columns.relate(relation, [(qualifier, self.node(anchor)) for qualifier, anchor in incidences])

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
            incidences = _EXPANSIONS.get(type(node), _expand)(self, node)
            index = self._nodes[node]
            if incidences and (len(incidences) > 1 or incidences[0][1] != index):
                self.columns.relate("AstNode", [("node", index), *incidences])
            stack.extend(reversed(self._pending))
            self._pending.clear()

    def add_node(self, label: str, start: int = -1, end: int = -1) -> int:
        """Add a node with a place in the text, or without one."""
        return self.columns.add_node(_shorten(label) if len(label) > MAX_LABEL else label, start, end)

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
        unplaced = _PLACES.get(type(node))
        if unplaced is not None:
            return self.alias(node, unplaced(self, node))
        layout = self.layout
        start = layout.offset(node.lineno, node.col_offset)
        end = layout.offset(node.end_lineno, node.end_col_offset)
        first = layout.at_start.get(start, -1)
        last = layout.at_end.get(end, -1)
        if first < 0 or last < 0:
            index = self.add_node(_label(layout, node, first))
        elif first == last:
            index = first
        else:
            index = self.add_node(_label(layout, node, first), start, end)
        self._nodes[node] = index
        return index


def _shorten(label: str) -> str:
    return f"{label[: MAX_LABEL // 2]}...({len(label)} characters)...{label[-20:]}"


def _label(layout: Layout, node: ast.AST, first: int) -> str:
    """The libCST class name, which in three cases depends on more than the `ast` type."""
    kind = type(node)
    if kind is ast.ExceptHandler and layout.texts[first + 1] == "*":
        return "ExceptStarHandler"
    if kind is ast.MatchSequence and layout.closing(first) == layout.last(node):
        return "MatchTuple"
    if first < 0 and isinstance(node, ast.Name):
        return node.id
    if first < 0 and isinstance(node, ast.Constant):
        return repr(node.value)
    return FORMS[kind].label


def _name_children(qualifier: str, nodes: list[int]) -> Incidences:
    if len(nodes) == 1:
        return [(qualifier, nodes[0])]
    return [(numbered(qualifier, i), node) for i, node in enumerate(nodes, 1)]


_PLANS: dict[type[ast.AST], list[tuple[str, str, Finder | None]]] = {
    kind: [(field, qualifier, FINDERS.get((kind, field))) for field, qualifier in form.fields]
    for kind, form in FORMS.items()
}


def _expand(syntax: FunctionSyntax, node: ast.AST) -> Incidences:
    """The incidences of a node's children by the table of fields."""
    incidences: Incidences = []
    for field, qualifier, find in _PLANS[type(node)]:
        if find is not None:
            incidences += _name_children(qualifier, find(syntax.layout, node))
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            incidences += _name_children(qualifier, [syntax.child(item) for item in value])
        elif type(value) is ast.arguments:
            incidences += _expand_parameters(syntax, value)
        elif value is not None:
            incidences.append((qualifier, syntax.child(value)))
    return incidences


def _expand_call(syntax: FunctionSyntax, node: ast.Call) -> Incidences:
    arguments: list[Any] = [*node.args, *node.keywords]
    if node.keywords and node.args:
        arguments.sort(key=lambda argument: (argument.lineno, argument.col_offset))
    func = syntax.child(node.func)
    return [("func", func), *_name_children("args", [syntax.child(argument) for argument in arguments])]


def _interleave(*columns: tuple[str, list[int | None]]) -> Incidences:
    """First child of each column, second child of each column, ...; None has no incidence."""
    several = max(len(nodes) for _, nodes in columns) > 1
    return [
        (numbered(qualifier, i) if several else qualifier, node)
        for i, row in enumerate(zip(*(nodes for _, nodes in columns), strict=True), 1)
        for (qualifier, _), node in zip(columns, row, strict=True)
        if node is not None
    ]


def _expand_boolean(syntax: FunctionSyntax, node: ast.BoolOp) -> Incidences:
    left, *right = [syntax.child(value) for value in node.values]
    operators = FINDERS[ast.BoolOp, "op"](syntax.layout, node)
    return [("left", left), *_interleave(("operator", [*operators]), ("right", [*right]))]


def _expand_comparison(syntax: FunctionSyntax, node: ast.Compare) -> Incidences:
    left = syntax.child(node.left)
    operators = FINDERS[ast.Compare, "ops"](syntax.layout, node)
    comparators = [syntax.child(comparator) for comparator in node.comparators]
    return [("left", left), *_interleave(("operator", [*operators]), ("comparator", [*comparators]))]


def _expand_dict(syntax: FunctionSyntax, node: ast.Dict) -> Incidences:
    keys, values = [], []
    for key, value in zip(node.keys, node.values, strict=True):
        keys.append(None if key is None else syntax.child(key))
        values.append(syntax.child(value))
    return _interleave(("key", keys), ("value", values))


def _expand_mapping_pattern(syntax: FunctionSyntax, node: ast.MatchMapping) -> Incidences:
    keys = [syntax.child(key) for key in node.keys]
    patterns = [syntax.child(pattern) for pattern in node.patterns]
    rest = FINDERS[ast.MatchMapping, "rest"](syntax.layout, node)
    return [*_interleave(("key", [*keys]), ("pattern", [*patterns])), *_name_children("rest", rest)]


def _expand_class_pattern(syntax: FunctionSyntax, node: ast.MatchClass) -> Incidences:
    cls = syntax.child(node.cls)
    positional = _name_children("patterns", [syntax.child(pattern) for pattern in node.patterns])
    names = FINDERS[ast.MatchClass, "kwd_attrs"](syntax.layout, node)
    values = [syntax.child(pattern) for pattern in node.kwd_patterns]
    return [("cls", cls), *positional, *_interleave(("key", [*names]), ("pattern", [*values]))]


def _expand_constant(syntax: FunctionSyntax, node: ast.Constant) -> Incidences:
    """Adjacent string literals are one constant: its left part, then what was joined to it."""
    first, last = syntax.layout.first(node), syntax.layout.last(node)
    if first < 0 or last <= first:
        return []
    return [("left", first), *_name_children("right", list(range(first + 1, last + 1)))]


def _parameters(node: ast.arguments) -> Iterator[tuple[str, ast.arg, ast.expr | None]]:
    """(qualifier, parameter, default) in source order."""
    positional = [*node.posonlyargs, *node.args]
    without_default = len(positional) - len(node.defaults)
    for i, parameter in enumerate(positional):
        qualifier = "posonly_params" if i < len(node.posonlyargs) else "params"
        yield qualifier, parameter, node.defaults[i - without_default] if i >= without_default else None
    if node.vararg:
        yield "star_arg", node.vararg, None
    for parameter, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield "kwonly_params", parameter, default
    if node.kwarg:
        yield "star_kwarg", node.kwarg, None


def _expand_parameters(syntax: FunctionSyntax, node: ast.arguments) -> Incidences:
    """Parameters stand in the edge of their function; one with a default reaches to the default's end."""
    children: dict[str, list[int]] = {}
    for qualifier, parameter, default in _parameters(node):
        if default is None:
            index = syntax.child(parameter)
        else:
            label = FORMS[ast.arg].label
            index = syntax.add_node(label, syntax.layout.start(parameter), syntax.layout.end(default))
            syntax.defer(parameter, index)
            syntax.defaults[parameter] = default
        children.setdefault(qualifier, []).append(index)
    return [incidence for item in children.items() for incidence in _name_children(*item)]


def _expand_parameter(syntax: FunctionSyntax, node: ast.arg) -> Incidences:
    incidences = _expand(syntax, node)
    default = syntax.defaults.get(node)
    return incidences if default is None else [*incidences, ("default", syntax.child(default))]


def _expand_formatted(syntax: FunctionSyntax, node: Any) -> Incidences:
    """The parts of an f-string, read off its tokens: before Python 3.12 `ast` gives them no positions."""
    tokens = syntax.tokens
    at, end = syntax.ranges.get(node) or (syntax.layout.first(node), syntax.layout.last(node) + 1)
    for value in node.values:
        syntax.alias(value, syntax.node(node))
    if at < 0:
        return []
    values = iter([value for value in node.values if not isinstance(value, ast.Constant)])
    parts = []
    while at < end:
        field = tokens.fields.get(at)
        if field is not None:
            value = next(values)
            index = syntax.add_node(FORMS[type(value)].label, tokens.starts[at], tokens.ends[field.close])
            parts.append(syntax.defer(value, index))
            syntax.fields[value] = field
            at = field.close
        elif at not in tokens.quotes:
            parts.append(at)
        at += 1
    return _name_children("parts", parts)


def _expand_field(syntax: FunctionSyntax, node: Any) -> Incidences:
    field = syntax.fields.get(node)
    incidences = [("expression", syntax.child(node.value))]
    if field is None:
        return incidences
    if field.equal is not None:
        incidences.append(("equal", field.equal))
    if field.conversion is not None:
        incidences.append(("conversion", field.conversion))
    if field.specification is not None and node.format_spec is not None:
        incidences.append(("format_spec", _format_specification(syntax, node.format_spec, field)))
    return incidences


def _format_specification(syntax: FunctionSyntax, node: ast.expr, field: Field) -> int:
    """The node of the text between `:` and `}`; where that is empty, the colon."""
    first, after = field.specification or 0, field.close
    if after - first <= 1:
        return syntax.alias(node, first if after > first else first - 1)
    syntax.ranges[node] = first, after
    starts, ends = syntax.tokens.starts, syntax.tokens.ends
    return syntax.defer(node, syntax.add_node(FORMS[type(node)].label, starts[first], ends[after - 1]))


_EXPANSIONS: dict[type[ast.AST], Callable[[FunctionSyntax, Any], Incidences]] = {
    getattr(ast, name): expand
    for name, expand in {
        "arg": _expand_parameter,
        "BoolOp": _expand_boolean,
        "Call": _expand_call,
        "Compare": _expand_comparison,
        "Constant": _expand_constant,
        "Dict": _expand_dict,
        "FormattedValue": _expand_field,
        "Interpolation": _expand_field,
        "JoinedStr": _expand_formatted,
        "MatchClass": _expand_class_pattern,
        "MatchMapping": _expand_mapping_pattern,
        "TemplateStr": _expand_formatted,
    }.items()
    if hasattr(ast, name)
}


def _place_with_item(syntax: FunctionSyntax, node: ast.withitem) -> int:
    start, end = (
        syntax.layout.start(node.context_expr),
        syntax.layout.end(node.optional_vars or node.context_expr),
    )
    return syntax.add_node(FORMS[ast.withitem].label, start, end)


def _place_loop(syntax: FunctionSyntax, node: ast.comprehension) -> int:
    """From the `for` or `async for` before its target to its last condition."""
    first = syntax.layout.before(node.target) - node.is_async
    start = syntax.tokens.starts[first] if first >= 0 else -1
    end = syntax.layout.end(node.ifs[-1] if node.ifs else node.iter)
    return syntax.add_node(FORMS[ast.comprehension].label, start, end)


def _place_case(syntax: FunctionSyntax, node: ast.match_case) -> int:
    start = syntax.tokens.starts[syntax.layout.before(node.pattern)]
    return syntax.add_node(FORMS[ast.match_case].label, start, syntax.layout.end(node.body[-1]))


_PLACES: dict[type[ast.AST], Callable[[FunctionSyntax, Any], int]] = {
    ast.withitem: _place_with_item,
    ast.comprehension: _place_loop,
    ast.match_case: _place_case,
}
"""How to place the `ast` types that have no position."""
