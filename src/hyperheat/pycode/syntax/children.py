"""The children of every kind of syntax, as incidences of the `AstNode` edge of their parent.

Most kinds follow the table of fields. The others have an expansion here: what `ast` splits into parallel lists
(comparisons, dictionaries, parameters), orders otherwise (arguments), or gives no positions (f-strings).
"""

import ast
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from hyperheat.pycode.syntax.fields import FORMS, numbered
from hyperheat.pycode.syntax.placement import FINDERS
from hyperheat.pycode.syntax.tokens import ReplacementField

if TYPE_CHECKING:
    from hyperheat.pycode.syntax.function_syntax import FunctionSyntax

__all__ = ["PLACES", "expand"]

Incidences = list[tuple[str, int]]


def expand(syntax: "FunctionSyntax", node: ast.AST) -> Incidences:
    """The qualifier and the graph node of every child; each is placed, and its own children wait for their turn."""
    return _EXPANSIONS.get(type(node), _expand_by_table)(syntax, node)


def _name_children(qualifier: str, nodes: list[int]) -> Incidences:
    if len(nodes) == 1:
        return [(qualifier, nodes[0])]
    return [(numbered(qualifier, i), node) for i, node in enumerate(nodes, 1)]


def _expand_by_table(syntax: "FunctionSyntax", node: ast.AST) -> Incidences:
    incidences: Incidences = []
    for field, qualifier, is_text in _PLANS[type(node)]:
        if is_text:
            incidences += _name_children(qualifier, syntax.placement.find(node, field))
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            incidences += _name_children(qualifier, [syntax.child(item) for item in value])
        elif type(value) is ast.arguments:
            incidences += _expand_parameters(syntax, value)
        elif value is not None:
            incidences.append((qualifier, syntax.child(value)))
    return incidences


_PLANS: dict[type[ast.AST], list[tuple[str, str, bool]]] = {
    kind: [(field, qualifier, (kind, field) in FINDERS) for field, qualifier in form.fields]
    for kind, form in FORMS.items()
}


def _expand_call(syntax: "FunctionSyntax", node: ast.Call) -> Incidences:
    arguments: list[Any] = [*node.args, *node.keywords]
    if node.keywords and node.args:
        arguments.sort(key=lambda argument: (argument.lineno, argument.col_offset))
    func = syntax.child(node.func)
    return [("func", func), *_name_children("args", [syntax.child(argument) for argument in arguments])]


def _interleave(*columns: tuple[str, list[int | None]]) -> Incidences:
    """First child of each column, second child of each column, ...; None and empty columns have no incidence."""
    several = max(len(nodes) for _, nodes in columns) > 1
    return [
        (numbered(qualifier, i) if several else qualifier, node)
        for i, row in enumerate(zip_longest(*(nodes for _, nodes in columns)), 1)
        for (qualifier, _), node in zip(columns, row, strict=True)
        if node is not None
    ]


def _expand_boolean(syntax: "FunctionSyntax", node: ast.BoolOp) -> Incidences:
    syntax.check_operands(node, len(node.values))
    left, *right = [syntax.child(value) for value in node.values]
    operators = syntax.placement.find(node, "op")
    return [("left", left), *_interleave(("operator", [*operators]), ("right", [*right]))]


def _expand_comparison(syntax: "FunctionSyntax", node: ast.Compare) -> Incidences:
    syntax.check_operands(node, 1 + len(node.comparators))
    left = syntax.child(node.left)
    operators = syntax.placement.find(node, "ops")
    comparators = [syntax.child(comparator) for comparator in node.comparators]
    return [("left", left), *_interleave(("operator", [*operators]), ("comparator", [*comparators]))]


def _expand_dict(syntax: "FunctionSyntax", node: ast.Dict) -> Incidences:
    keys, values = [], []
    for key, value in zip(node.keys, node.values, strict=True):
        keys.append(None if key is None else syntax.child(key))
        values.append(syntax.child(value))
    return _interleave(("key", keys), ("value", values))


def _expand_mapping_pattern(syntax: "FunctionSyntax", node: ast.MatchMapping) -> Incidences:
    keys = [syntax.child(key) for key in node.keys]
    patterns = [syntax.child(pattern) for pattern in node.patterns]
    rest = syntax.placement.find(node, "rest")
    return [*_interleave(("key", [*keys]), ("pattern", [*patterns])), *_name_children("rest", rest)]


def _expand_class_pattern(syntax: "FunctionSyntax", node: ast.MatchClass) -> Incidences:
    cls = syntax.child(node.cls)
    positional = _name_children("patterns", [syntax.child(pattern) for pattern in node.patterns])
    names = syntax.placement.find(node, "kwd_attrs")
    values = [syntax.child(pattern) for pattern in node.kwd_patterns]
    return [("cls", cls), *positional, *_interleave(("key", [*names]), ("pattern", [*values]))]


def _expand_constant(syntax: "FunctionSyntax", node: ast.Constant) -> Incidences:
    """Adjacent string literals are one constant: its left part, then what was joined to it."""
    first, last = syntax.placement.first(node), syntax.placement.last(node)
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


def _expand_parameters(syntax: "FunctionSyntax", node: ast.arguments) -> Incidences:
    """Parameters stand in the edge of their function; one with a default reaches to the default's end."""
    children: dict[str, list[int]] = {}
    for qualifier, parameter, default in _parameters(node):
        if default is None:
            index = syntax.child(parameter)
        else:
            label = FORMS[ast.arg].label
            index = syntax.add_node(label, syntax.placement.start(parameter), syntax.placement.end(default))
            syntax.defer(parameter, index)
            syntax.defaults[parameter] = default
        children.setdefault(qualifier, []).append(index)
    return [incidence for item in children.items() for incidence in _name_children(*item)]


def _expand_parameter(syntax: "FunctionSyntax", node: ast.arg) -> Incidences:
    incidences = _expand_by_table(syntax, node)
    default = syntax.defaults.get(node)
    return incidences if default is None else [*incidences, ("default", syntax.child(default))]


def _expand_formatted(syntax: "FunctionSyntax", node: Any) -> Incidences:
    """The parts of an f-string, read off its tokens: before Python 3.12 `ast` gives them no positions."""
    tokens = syntax.tokens
    at, end = syntax.ranges.get(node) or (syntax.placement.first(node), syntax.placement.last(node) + 1)
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


def _expand_field(syntax: "FunctionSyntax", node: Any) -> Incidences:
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


def _format_specification(syntax: "FunctionSyntax", node: ast.expr, field: ReplacementField) -> int:
    """The node of the text between `:` and `}`; where that is empty, the colon."""
    first, after = field.specification or 0, field.close
    if after - first <= 1:
        return syntax.alias(node, first if after > first else first - 1)
    syntax.ranges[node] = first, after
    starts, ends = syntax.tokens.starts, syntax.tokens.ends
    return syntax.defer(node, syntax.add_node(FORMS[type(node)].label, starts[first], ends[after - 1]))


_EXPANSIONS: dict[type[ast.AST], Callable[["FunctionSyntax", Any], Incidences]] = {
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


def _place_with_item(syntax: "FunctionSyntax", node: ast.withitem) -> int:
    start = syntax.placement.start(node.context_expr)
    end = syntax.placement.end(node.optional_vars or node.context_expr)
    return syntax.add_node(FORMS[ast.withitem].label, start, end)


def _place_loop(syntax: "FunctionSyntax", node: ast.comprehension) -> int:
    """From the `for` or `async for` before its target to its last condition."""
    first = syntax.placement.before(node.target) - node.is_async
    start = syntax.tokens.starts[first] if first >= 0 else -1
    end = syntax.placement.end(node.ifs[-1] if node.ifs else node.iter)
    return syntax.add_node(FORMS[ast.comprehension].label, start, end)


def _place_case(syntax: "FunctionSyntax", node: ast.match_case) -> int:
    start = syntax.tokens.starts[syntax.placement.before(node.pattern)]
    return syntax.add_node(FORMS[ast.match_case].label, start, syntax.placement.end(node.body[-1]))


PLACES: dict[type[ast.AST], Callable[["FunctionSyntax", Any], int]] = {
    ast.withitem: _place_with_item,
    ast.comprehension: _place_loop,
    ast.match_case: _place_case,
}
"""How to place the `ast` types that have no position."""
