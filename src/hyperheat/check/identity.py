"""What a function and its places are, whatever they look like: to find them again in another version of the code.

    identify(function)              the function without layout, comments, docstrings, annotations and spelling of names
    Spots(function).find(rewrite)   a place: which part of which statement, whatever the local variables are called

Both are digests of the syntax tree.
"""

import ast
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator

from hyperheat.check.records import MARGIN, IdentityRecord, TraceRecord
from hyperheat.detector.calibration import Calibration
from hyperheat.pycode import FunctionGraph
from hyperheat.rewrites import Rewrite, Span

__all__ = ["Spots", "describe_rewrite", "identify", "make_traces"]

_HEX_DIGITS = 16
_DIGITS = 4
_UNWRITTEN = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_SIGNATURE_TYPES = {ast.arg: "annotation", ast.FunctionDef: "returns", ast.AsyncFunctionDef: "returns"}
_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_VERBATIM = frozenset({(ast.alias, "name"), (ast.ImportFrom, "module")})  # names of modules

_Text = tuple[ast.AST, str, int | None, str]
"""A name in the tree: the node, its field, the place in the field if that is a list, and the name."""


def identify(function: FunctionGraph) -> IdentityRecord:
    """The identity of a function: its shape with numbers for names, and the names that are not its own variables.

    Two functions that differ only in what their variables are called have the same identity.
    """
    numbers: dict[str | int, str] = {}
    local = _Locals(function)

    def spell(name: _Text) -> str:
        node, field, _, text = name
        if node is function.syntax.function and field == "name":
            return ""
        if (type(node), field) in _VERBATIM:
            return text
        variable = local.symbol(name)
        if variable is not None:
            return numbers.setdefault(variable, f"v{len(numbers)}")
        return numbers.setdefault(_outside(node, text), f"n{len(numbers)}")

    shape = _digest(_written(function.syntax.function, spell, documented=False))
    return IdentityRecord(shape, tuple(name for name in numbers if isinstance(name, str)))


def make_traces(
    function: FunctionGraph, best: Iterable[tuple[Rewrite, float]], no_bug: float, calibration: Calibration
) -> Iterator[TraceRecord]:
    """The traces of places, given by the most likely repair of each and its log-probability, most suspicious first.

    All places are traced that a later version could report without having become more suspicious.
    """
    spots: Spots | None = None
    for rewrite, score in best:
        odds = round(score - no_bug, _DIGITS)
        alone = -math.log1p(
            math.exp(min(-odds - MARGIN, 700))
        )  # if all others were right, and this a bit more likely
        if calibration.confidence(alone) < calibration.bug_rate:
            return
        spots = spots or Spots(function)
        spot, done = spots.find(rewrite), describe_rewrite(rewrite, function.source)
        yield TraceRecord(*rewrite.location, spot, done, score, odds)


def describe_rewrite(rewrite: Rewrite, source: str) -> str:
    """A digest of what a rewrite does, wherever it is done."""
    moved = (source[span.start : span.end] for span in rewrite.arguments or ())
    return _digest("\0".join((rewrite.kind, rewrite.original, rewrite.replacement, *moved)))


class Spots:
    """The places of a function: a statement without the blocks in it, and a part of that statement."""

    def __init__(self, function: FunctionGraph) -> None:
        self._function, self._local = function, _Locals(function)
        self._spans: list[tuple[Span, ast.AST]] = []
        self._parents: dict[ast.AST, ast.AST] = {}
        syntax = function.syntax
        for parent, node in _edges(syntax.function):
            self._parents[node] = parent
            if isinstance(node, ast.expr | ast.stmt):
                try:
                    index = syntax.node(node)
                except KeyError:  # a node that the graph does not have
                    continue
                first, last = syntax.columns.starts[index], syntax.columns.ends[index]
                self._spans.append((Span(first - syntax.start_of_lines, last - syntax.start_of_lines), node))

    def find(self, rewrite: Rewrite) -> str:
        """A digest of the place of a rewrite."""
        start, end = rewrite.location
        chain = [(span, node) for span, node in self._spans if span.start <= start and end <= span.end]
        around = [node for _, node in chain] or [self._function.syntax.function]
        inmost = around[-1]  # parents are listed before their children
        before = sum(
            self._parents.get(node) is inmost and span.end <= start for span, node in self._spans
        )  # tells one operator of a chain from another
        statement = inmost
        while not isinstance(statement, _STATEMENTS):
            statement = self._parents[statement]
        written = _written(statement, self._spell, mark=inmost, blocks=False)
        return _digest(f"{before} {written}")

    def _spell(self, name: _Text) -> str:
        node, field, _, text = name
        if self._local.symbol(name) is not None or (
            node is self._function.syntax.function and field == "name"
        ):
            return "_"
        return text


class _Locals:
    """The variables of a function, by number."""

    def __init__(self, function: FunctionGraph) -> None:
        self._names = function.names

    def symbol(self, name: _Text) -> int | None:
        """The variable of the function that a name stands for, if it does."""
        node, field, number, _ = name
        index = self._names.index
        if isinstance(node, ast.Attribute | ast.keyword):
            return None
        if isinstance(node, ast.Name | ast.arg):
            found = index.get(node)
        else:
            found = index.get((node, field) if number is None else (node, field, number))
        if found is None:
            return None
        symbol = self._names.symbol_of[found]
        known = self._names.symbols[symbol]
        return symbol if known.owner is not None and known.base is None else None


def _outside(node: ast.AST, text: str) -> str:
    """A name that is not a variable of the function; attributes and keywords are other names than variables."""
    if isinstance(node, ast.Attribute):
        return f".{text}"
    return f"{text}=" if isinstance(node, ast.keyword) else text


def _written(
    root: ast.AST,
    spell: Callable[[_Text], str],
    *,
    mark: ast.AST | None = None,
    blocks: bool = True,
    documented: bool = True,
) -> str:
    """A tree as text; `mark` is a node to point at, and without `blocks` the statements inside the root are left out."""
    parts: list[str] = []
    left: list[object] = [root]
    while left:
        item = left.pop()
        if isinstance(item, str):
            parts.append(item)
        elif isinstance(item, tuple):
            parts.append(spell(item))
        elif isinstance(item, ast.AST):
            parts.append(f"{'>' if item is mark else ''}{type(item).__name__}(")
            left.append(")")
            fields = _fields(item, documented=documented, blocks=blocks or item is not root)
            left.extend(reversed(list(fields)))
        else:
            parts.append(_value(item))
        parts.append(" ")
    return "".join(parts)


def _fields(node: ast.AST, *, documented: bool, blocks: bool) -> Iterator[object]:
    """What is in a node: nodes, names, and plain values."""
    if isinstance(node, ast.Constant):
        yield _value(node.value)
        return
    for field in node._fields:
        if field in _UNWRITTEN or _SIGNATURE_TYPES.get(type(node)) == field:
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            if field in _BLOCKS and not blocks:
                continue
            if field == "body" and not documented and isinstance(node, _DOCUMENTED) and _is_text(value[0]):
                value = value[1:]
            yield f"[{len(value)}"
            for number, item in enumerate(value):
                yield (node, field, number, item) if isinstance(item, str) else item
        else:
            yield (node, field, None, value) if isinstance(value, str) else value


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _value(value: object) -> str:
    """A constant; whole numbers in base 16, since Python refuses to write very long ones in base 10."""
    return f"{type(value).__name__}:{hex(value) if type(value) is int else repr(value)}"


def _edges(root: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node below a node with its parent, parents first."""
    left = [root]
    while left:
        parent = left.pop()
        for child in ast.iter_child_nodes(parent):
            yield parent, child
            left.append(child)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HEX_DIGITS]
