"""Flow facts as short lines: `2:x | 4:x -> 5:x` says that the x of line 5 may follow those of lines 2 and 4.

Snippets are function bodies; line 1 is their first line and line 0 the definition around them. A place is shown
as its line and text; when a line has the same text again, further ones are marked: `x = x + x` has x, x' and x''.
"""

import ast
from collections.abc import Iterable
from textwrap import dedent, indent

from hyperheat.pycode.anchors import Anchor
from hyperheat.pycode.flow.function_flow import FunctionFlow, Merged, analyse_flow
from hyperheat.pycode.names.function_names import ModuleScope

__all__ = ["Snippet", "control", "last_uses", "reads", "returns", "writes", "yields"]

_KEYWORDS = {
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "async def",
    ast.ClassDef: "class",
    ast.For: "for",
    ast.AsyncFor: "async for",
    ast.comprehension: "for",
    ast.withitem: "with",
}


class Snippet:
    """A function body with its flow facts."""

    def __init__(self, body: str, parameters: str = "", before: str = "", *, is_async: bool = False):
        head = f"{'async ' if is_async else ''}def f({parameters}):\n"
        self.source = dedent(before) + head + indent(dedent(body).strip("\n"), "    ") + "\n"
        self.offset = dedent(before).count("\n") + 1
        module = ast.parse(self.source)
        self.function = module.body[-1]
        assert isinstance(self.function, ast.FunctionDef | ast.AsyncFunctionDef)
        self.flow: FunctionFlow = analyse_flow(self.function, ModuleScope.of(module))
        self.labels = self._make_labels()

    def _make_labels(self) -> dict[Anchor, str]:
        places = [place for symbol in self.flow.symbols for place in symbol.occurrences]
        for before, after in self.flow.control:
            places += [*before, *after]
        for _, sources in (*self.flow.returns, *self.flow.yields):
            places += sources
        labels: dict[Anchor, str] = {}
        taken: set[str] = set()
        for place in sorted(dict.fromkeys(places), key=_position):
            label = f"{_position(place)[0] - self.offset}:{self._text(place)}"
            while label in taken:
                label += "'"
            taken.add(label)
            labels[place] = label
        return labels

    def _text(self, place: Anchor) -> str:
        match place:
            case (ast.Compare(ops=ops), "ops", int(number)):
                return ast.unparse(ast.Compare(ast.Name(""), [ops[number]], [ast.Name("")])).strip()
            case (node, str(field), int(number)):
                return str(getattr(node, field)[number])
            case (node, str(field)):
                return str(getattr(node, field))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return f"{_KEYWORDS[type(place)]} {name}"
            case ast.arg(arg=name):
                return name
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                return f"{_KEYWORDS[type(place)]} {ast.unparse(place.target)}"
            case ast.withitem():
                return f"with {ast.unparse(place)}"
            case ast.ExceptHandler():
                return ast.unparse(place).splitlines()[0].strip().rstrip(":")
            case ast.AST():
                return (ast.get_source_segment(self.source, place) or "").splitlines()[0]
        raise TypeError(f"expected an anchor, got {place!r}")

    def lines(self, merged: Iterable[Merged], symbol: str | None = None) -> list[str]:
        """Edges as lines; only those of one symbol if it is named."""
        wanted = {place for facts in self.flow.symbols if facts.name == symbol for place in facts.occurrences}
        return [
            " | ".join(self.labels[place] for place in before)
            + " -> "
            + " | ".join(self.labels[place] for place in after)
            for before, after in merged
            if symbol is None or after[0] in wanted
        ]


def _position(place: Anchor) -> tuple[int, int]:
    match place:
        case (ast.Compare(comparators=comparators), "ops", int(number)):
            place = comparators[number]
        case (ast.ExceptHandler(type=ast.expr() as node), *_):
            return node.end_lineno or 0, node.end_col_offset or 0
        case (node, *_):
            place = node
        case ast.comprehension(target=node) | ast.withitem(context_expr=node):
            place = node
        case ast.Attribute():
            return place.end_lineno or 0, (place.end_col_offset or 0) - len(place.attr)
    return place.lineno, place.col_offset  # type: ignore[attr-defined]


def control(body: str, parameters: str = "", *, is_async: bool = False) -> set[str]:
    snippet = Snippet(body, parameters, is_async=is_async)
    return set(snippet.lines(snippet.flow.control))


def reads(body: str, symbol: str, parameters: str = "") -> set[str]:
    snippet = Snippet(body, parameters)
    return set(snippet.lines(snippet.flow.may_read, symbol))


def writes(body: str, symbol: str, parameters: str = "", *, is_async: bool = False) -> set[str]:
    snippet = Snippet(body, parameters, is_async=is_async)
    return set(snippet.lines(snippet.flow.may_write, symbol))


def last_uses(body: str, symbol: str, parameters: str = "") -> list[str]:
    snippet = Snippet(body, parameters)
    return [
        snippet.labels[place]
        for facts in snippet.flow.symbols
        if facts.name == symbol
        for place in facts.last_uses
    ]


def returns(body: str, *, is_async: bool = False) -> list[list[str]]:
    snippet = Snippet(body, is_async=is_async)
    return [[snippet.labels[place] for place in sources] for _, sources in snippet.flow.returns]


def yields(body: str) -> list[list[str]]:
    snippet = Snippet(body)
    return [[snippet.labels[place] for place in sources] for _, sources in snippet.flow.yields]
