"""The body of an outermost function as the kinds see it: places in the syntax with their surroundings.

Signatures, decorators, annotations and patterns are not part of a body, and neither are the fields of f-strings
that print their own text (`{x=}`). Syntax whose tokens cannot be found is left out; that happens only in
f-strings before Python 3.12.
"""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from hyperheat.pycode import FunctionGraph
from hyperheat.pycode.names.scopes import Scope
from hyperheat.rewrites.bindings import Bindings
from hyperheat.rewrites.edit import Span

__all__ = ["Body", "Place"]


class Place(NamedTuple):
    """A node of the syntax, the node above it, and the scope in which its names are looked up."""

    node: Any
    parent: Any
    scope: Scope


class Body:
    """The places of one function by type of node, and the way from places to text."""

    def __init__(self, function: FunctionGraph) -> None:
        self.function = function
        self.text = function.source
        self.bindings = Bindings(function)
        self._placement = function.syntax.placement
        self._start = function.syntax.start_of_lines
        self._walked: dict[type, list[Place]] = {}
        for place in _walk(self):
            self._walked.setdefault(type(place.node), []).append(place)
        self._places: dict[type, list[Place]] = {}

    def places(self, *types: type[ast.AST]) -> Iterator[Place]:
        """All places of some types of nodes that have tokens, in no particular order."""
        for kind in types:
            found = self._places.get(kind)
            if found is None:
                walked = self._walked.get(kind, ())
                found = self._places[kind] = [place for place in walked if self.has_tokens(place.node)]
            yield from found

    def span(self, node: ast.AST) -> Span:
        """Where a node lies, without parentheses around it."""
        return Span(self._placement.start(node) - self._start, self._placement.end(node) - self._start)

    def operators(self, node: ast.AST, field: str) -> Iterator[tuple[str, Span]]:
        """The operators of a node with their places, spelled with one blank between two words."""
        for index in self._placement.find(node, field):
            yield self._placement.texts[index], self._token(index)

    def after(self, node: ast.AST) -> tuple[str, Span]:
        """The token after a node and the parentheses around it, with its place."""
        index = self._placement.after(node)
        return self._placement.texts[index], self._token(index)

    def is_parenthesised(self, node: ast.AST) -> bool:
        """Whether parentheses keep a node together: its own, or those of a call with no other argument."""
        return self.parenthesised(node, most=1) != self.span(node)

    def parenthesised(self, node: ast.AST, most: int | None = None) -> Span:
        """Where a node lies with the parentheses around it, all of them or at most so many pairs."""
        first, last = self._placement.first(node), self._placement.last(node)
        texts = self._placement.texts
        pairs = 0
        while pairs != most and first > 0 and texts[first - 1] == "(" and texts[last + 1 : last + 2] == [")"]:
            first, last, pairs = first - 1, last + 1, pairs + 1
        return Span(self._token(first).start, self._token(last).end)

    def touches_word(self, offset: int) -> bool:
        """Whether the character before an offset belongs to a name, a keyword or a number."""
        return offset > 0 and _in_word(self.text[offset - 1])

    def is_whole(self, span: Span) -> bool:
        """Whether nothing touches a span that would run together with another word in its place."""
        return not self.touches_word(span.start) and not _in_word(self.text[span.end : span.end + 1])

    def has_tokens(self, node: Any) -> bool:
        """Whether a node begins and ends at tokens, and a name at its own."""
        first = self._placement.first(node)
        if type(node) is ast.Name:
            return first >= 0 and self._placement.texts[first] == node.id
        return first >= 0 and self._placement.last(node) >= first

    def _token(self, index: int) -> Span:
        tokens = self.function.syntax.tokens
        return Span(tokens.starts[index] - self._start, tokens.ends[index] - self._start)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _walk(body: Body) -> Iterator[Place]:
    """All places of the body, in no particular order."""
    function = body.function.syntax.function
    scopes = {scope.node: scope for scope in body.function.names.scopes if scope.role != "type parameters"}
    stack = list(_inside(function, scopes[function], "body"))
    while stack:
        place = stack.pop()
        node, kind = place.node, type(place.node)
        yield place
        if kind in _COMPREHENSIONS:
            stack += _comprehension(node, outside=place.scope, inside=scopes[node])
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda):
            stack += _inside(node, scopes[node], "body")
        elif kind is ast.ClassDef:
            stack += _inside(node, place.scope, "bases", "keywords")
            stack += _inside(node, scopes[node], "body")
        elif not _prints_itself(body, node):
            stack += _inside(node, place.scope, *_FIELDS.get(kind, ()))


def _inside(node: ast.AST, scope: Scope, *fields: str) -> Iterator[Place]:
    for field in fields:
        value = getattr(node, field)
        for child in value if type(value) is list else (value,):
            if child is not None:
                yield Place(child, node, scope)


def _comprehension(node: Any, *, outside: Scope, inside: Scope) -> Iterator[Place]:
    """Only what the first clause loops over is evaluated outside."""
    yield from _inside(node, inside, *(("key", "value") if type(node) is ast.DictComp else ("elt",)))
    for clause in node.generators:
        yield from _inside(clause, outside if clause is node.generators[0] else inside, "iter")
        yield from _inside(clause, inside, "target", "ifs")


def _prints_itself(body: Body, node: ast.AST) -> bool:
    """Whether a node is the field `{x=}` of an f-string."""
    field = body.function.syntax.fields.get(node)
    return field is not None and field.equal is not None


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# text, operators, annotations and patterns
_LEFT_OUT = frozenset(
    {
        *("annotation", "arg", "attr", "conversion", "ctx", "id", "name", "op", "ops", "pattern"),
        *("simple", "str", "type_comment"),
    }
)
_LEAVES = ("Constant", "Name", "Import", "ImportFrom", "Global", "Nonlocal", "TypeAlias")
_PARTS = (ast.keyword, ast.withitem, ast.ExceptHandler, ast.match_case)
_FIELDS = {
    kind: tuple(field for field in kind._fields if field not in _LEFT_OUT)
    for kind in (*ast.expr.__subclasses__(), *ast.stmt.__subclasses__(), *_PARTS)
    if kind.__name__ not in _LEAVES
}
