"""Where syntax lies among the tokens: the tokens of a node, and the tokens of fields that `ast` keeps as bare
text.

`ast` gives no position for operators (`op`) and for names held as strings (`name`, `attr`, `asname`, ...).
Each has a finder here that reads it off the tokens around the children, which do have positions.
"""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.pycode.syntax.tokens import DEDENT, INDENT, TokenStream

__all__ = ["FINDERS", "Placement"]


class Placement:
    """Offsets and token indices of `ast` nodes.

    A token index is -1 where a node does not begin or end at a token. That happens only inside f-strings,
    whose parts may have wrong positions before Python 3.12.
    """

    def __init__(self, source: PythonSource, tokens: TokenStream) -> None:
        self.texts = tokens.texts
        self.offset = source.offset
        self._lines = source.line_starts
        self._is_wide = bool(source.wide_lines)  # then columns of `ast` are not those of the text
        real = [i for i, text in enumerate(tokens.texts) if text is not INDENT and text is not DEDENT]
        self.at_start = {tokens.starts[i]: i for i in real}
        self.at_end = {tokens.ends[i]: i for i in real}

    # Any: of the `ast` types, only those with a position are asked for one.
    def start(self, node: Any) -> int:
        if self._is_wide or node.lineno > len(self._lines):
            return self.offset(node.lineno, node.col_offset)
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: Any) -> int:
        if self._is_wide or node.end_lineno > len(self._lines):
            return self.offset(node.end_lineno, node.end_col_offset)
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def first(self, node: ast.AST) -> int:
        """The index of the node's first token."""
        return self.at_start.get(self.start(node), -1)

    def last(self, node: ast.AST) -> int:
        """The index of the node's last token."""
        return self.at_end.get(self.end(node), -1)

    def after(self, node: ast.AST) -> int:
        """The index of the first token after the node and the parentheses around it."""
        index = self.last(node)
        if index < 0:
            return -1
        index += 1
        while self.texts[index] == ")":
            index += 1
        return index

    def before(self, node: ast.AST) -> int:
        """The index of the last token before the node and the parentheses around it."""
        index = self.first(node) - 1
        while index >= 0 and self.texts[index] == "(":
            index -= 1
        return index

    def find(self, node: ast.AST, field: str) -> list[int]:
        """The tokens of a field that `ast` holds as text or as an operator; none where the node has no place."""
        tokens = FINDERS[type(node), field](self, node)
        return tokens if min(tokens, default=0) >= 0 else []

    def closing(self, index: int) -> int:
        """The index of the parenthesis that closes the one at `index`; -1 if there is none at `index`."""
        if self.texts[index] != "(":
            return -1
        depth = 1
        while depth:
            index += 1
            depth += {"(": 1, ")": -1}.get(self.texts[index], 0)
        return index


Finder = Callable[[Placement, Any], list[int]]


def _first_plus(distance: int) -> Finder:
    def find(placement: Placement, node: ast.AST) -> list[int]:
        first = placement.first(node)
        return [first + distance if first >= 0 else -1]

    return find


def _last(placement: Placement, node: ast.AST) -> list[int]:
    return [placement.last(node)]


def _after_field(field: str) -> Finder:
    def find(placement: Placement, node: ast.AST) -> list[int]:
        return [placement.after(getattr(node, field))]

    return find


def _boolean_operators(placement: Placement, node: ast.BoolOp) -> list[int]:
    return [placement.after(value) for value in node.values[:-1]]


def _comparison_operators(placement: Placement, node: ast.Compare) -> list[int]:
    return [placement.after(operand) for operand in (node.left, *node.comparators[:-1])]


def _keyword(placement: Placement, node: ast.keyword) -> list[int]:
    return [placement.first(node)] if node.arg is not None else []


def _double_star(placement: Placement, node: ast.keyword) -> list[int]:
    return [placement.first(node)] if node.arg is None else []


def _dotted(first: int, name: str) -> list[int]:
    return [first + 2 * i for i in range(name.count(".") + 1)]


def _alias_name(placement: Placement, node: ast.alias) -> list[int]:
    return _dotted(placement.first(node), node.name)


def _alias_asname(placement: Placement, node: ast.alias) -> list[int]:
    return _last(placement, node) if node.asname is not None else []


def _import_level(placement: Placement, node: ast.ImportFrom) -> list[int]:
    first = after = placement.first(node) + 1
    while placement.texts[after] in (".", "..."):
        after += 1
    return list(range(first, after))


def _import_module(placement: Placement, node: ast.ImportFrom) -> list[int]:
    if node.module is None:
        return []
    return _dotted(placement.first(node) + 1 + len(_import_level(placement, node)), node.module)


def _declared_names(placement: Placement, node: ast.Global | ast.Nonlocal) -> list[int]:
    first = placement.first(node) + 1
    return [first + 2 * i for i in range(len(node.names))]


def _handler_name(placement: Placement, node: ast.ExceptHandler) -> list[int]:
    if node.name is None or node.type is None:
        return []
    return [placement.after(node.type) + 1]  # after the keyword `as`


def _loop_async(placement: Placement, node: ast.comprehension) -> list[int]:
    return [placement.before(node.target) - 1] if node.is_async else []


def _mapping_rest(placement: Placement, node: ast.MatchMapping) -> list[int]:
    if node.rest is None:
        return []
    index = placement.last(node) - 1
    return [index - 1 if placement.texts[index] == "," else index]


def _pattern_keywords(placement: Placement, node: ast.MatchClass) -> list[int]:
    return [placement.before(pattern) - 1 for pattern in node.kwd_patterns]  # before the sign `=`


_FINDERS_BY_NAME: dict[tuple[str, str], Finder] = {
    ("FunctionDef", "name"): _first_plus(1),
    ("AsyncFunctionDef", "name"): _first_plus(2),
    ("AsyncFunctionDef", "async"): _first_plus(0),
    ("AsyncFor", "async"): _first_plus(0),
    ("AsyncWith", "async"): _first_plus(0),
    ("comprehension", "is_async"): _loop_async,
    ("ClassDef", "name"): _first_plus(1),
    ("arg", "arg"): _first_plus(0),
    ("keyword", "arg"): _keyword,
    ("keyword", "star"): _double_star,
    ("Attribute", "attr"): _last,
    ("BinOp", "op"): _after_field("left"),
    ("AugAssign", "op"): _after_field("target"),
    ("UnaryOp", "op"): _first_plus(0),
    ("BoolOp", "op"): _boolean_operators,
    ("Compare", "ops"): _comparison_operators,
    ("alias", "name"): _alias_name,
    ("alias", "asname"): _alias_asname,
    ("ImportFrom", "level"): _import_level,
    ("ImportFrom", "module"): _import_module,
    ("Global", "names"): _declared_names,
    ("Nonlocal", "names"): _declared_names,
    ("ExceptHandler", "name"): _handler_name,
    ("MatchAs", "name"): _last,
    ("MatchStar", "name"): _last,
    ("MatchMapping", "rest"): _mapping_rest,
    ("MatchClass", "kwd_attrs"): _pattern_keywords,
    ("TypeVar", "name"): _first_plus(0),
    ("TypeVarTuple", "name"): _first_plus(1),
    ("ParamSpec", "name"): _first_plus(1),
}

FINDERS: dict[tuple[type[ast.AST], str], Finder] = {
    (getattr(ast, kind), field): finder
    for (kind, field), finder in _FINDERS_BY_NAME.items()
    if hasattr(ast, kind)
}
"""How to find the tokens of a field; where the node has no place, some index is negative."""
