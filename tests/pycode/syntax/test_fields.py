"""The table of names against libCST itself: its classes, its fields, and its trees of real files."""

import ast
import asyncio.tasks
import json.decoder
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode import extract
from hyperheat.pycode.syntax.fields import FORMS

# The levels of libCST that the graph leaves out: their fields are asked for at the parent.
WRAPPERS = {
    *("IndentedBlock", "SimpleStatementSuite", "SimpleStatementLine", "Else", "Finally", "From", "Arg"),
    *("Element", "SubscriptElement", "Index", "Decorator", "Annotation", "AsName", "AssignTarget", "CompIf"),
    *(
        "NameItem",
        "TypeParameters",
        "TypeParam",
        "MatchSequenceElement",
        "MatchOrElement",
        "MatchMappingElement",
    ),
    *(
        "MatchKeywordElement",
        "ComparisonTarget",
        "DictElement",
        "StarredDictElement",
        "Parameters",
        "WithItem",
    ),
    *("ConcatenatedString", "FormattedString", "Param"),
}
# Without what the graph is known to join: second clauses, targets and subscripts, dotted names, `*args: int`, `*_`.
SNIPPET = '''
@decorator
async def f(a, /, b: int = 0, *args, key=None, **rest) -> None:
    """Doc."""
    from .m import n as o, p
    import q
    global g
    nonlocal_ = x = a if b else [*args, -1, lambda y: y ** 2, await key]
    z: dict = {1: 2, **rest, "a" "b": {3}}
    x += (yield 1) or not x and 1 < 2 <= z[1:2]
    async with a as b, c: pass
    async for i, *j in x: continue
    else: pass
    for k in (i async for i in j if i if k): del k.l
    while (w := {i: j for i in x}): assert w, {i for i in w}
    try: raise E(a, k=1, *args, **rest) from f"{x!r:>4}y{z=}"
    except A as e: return
    except B: raise
    finally: print(..., (), [], "x")
    class C(D, metaclass=E): pass
    match x:
        case 1 | None | "a": pass
        case [a, *b] if c: pass
        case (a, b), *c: pass
        case (a, [*b]): pass
        case {"k": v, **w}: pass
        case Point(0, y=A.b) as p: pass

def g(x):
    nonlocal_ = yield from x
'''


def test_the_table_has_every_type_with_its_fields():
    abstract = {ast.mod, ast.stmt, ast.expr, ast.pattern, ast.excepthandler}
    concrete = {
        kind
        for base in (ast.stmt, ast.expr, ast.pattern, ast.excepthandler)
        for kind in base.__subclasses__()
        if not issubclass(kind, ast.Constant) or kind is ast.Constant
    } - abstract
    assert concrete <= {*FORMS}
    for kind, form in FORMS.items():
        known = {
            *kind._fields,
            "async",
            "star",
            "type_params",
            "default_value",
        }  # some come with later Pythons
        assert {field for field, _ in form.fields} <= known, kind


def test_every_label_and_qualifier_is_a_name_of_libcst():
    wrapped = {field for name in WRAPPERS for field in _fields(getattr(libcst, name))}
    for kind, form in FORMS.items():
        own = _fields(getattr(libcst, form.label))
        for _, qualifier in form.fields:
            assert qualifier in own or qualifier in wrapped, (kind, qualifier)


def _fields(cls: Any) -> set[str]:
    return {*cls.__dataclass_fields__}


@pytest.mark.parametrize("module", [textwrap, json.decoder, asyncio.tasks, None], ids=str)
def test_real_trees_have_the_same_classes_and_fields(module):
    source = SNIPPET if module is None else Path(module.__file__).read_text(encoding="utf-8")
    tree = _Tree(source)
    wrong = [problem for function in extract(source).functions for problem in tree.problems(function.graph)]
    assert wrong == []


class _Tree:
    """A libCST tree, asked by class and position."""

    def __init__(self, source: str) -> None:
        wrapper = MetadataWrapper(libcst.parse_module(source), unsafe_skip_copy=True)
        self.positions = wrapper.resolve(PositionProvider)
        self.at: dict[tuple[str, tuple[int, int]], list[libcst.CSTNode]] = defaultdict(list)
        for node in self.positions:
            self.at[type(node).__name__, self.start(node)].append(node)

    def start(self, node: libcst.CSTNode) -> tuple[int, int]:
        position = self.positions[node].start
        if type(node) is libcst.CompFor:  # libCST counts the space before it
            position = self.positions[node.target].start
        return position.line, position.column

    def problems(self, graph: Hypergraph) -> Iterator[str]:
        """What differs: nodes of another class, children that are not in the field of their qualifier."""
        assert graph.span is not None
        labels, spans = graph.labels, graph.span.tolist()
        targets = {
            edge.incidences[0][1]: dict(edge.incidences).get("target", -1)
            for edge in graph
            if edge.relation == "AstNode"
        }

        def start(node: int) -> tuple[int, int]:
            line, column = spans[targets[node] if labels[node] == "CompFor" else node][:2]
            return line, column

        for edge in graph:
            (first, parent), *children = edge.incidences
            if edge.relation != "AstNode" or first != "node":
                continue
            found = self.nodes(labels[parent], start(parent))
            if not found:
                yield f"{labels[parent]} at {start(parent)}: no such node in libCST"
            for qualifier, child in children:
                name = str(qualifier).rstrip("0123456789")
                starts = {
                    start for node in found for value in _field(node, name) for start in self.below(value)
                }
                if found and not {start(child), _inside(start(child)), None} & starts:
                    yield f"{labels[parent]} at {start(parent)}: {name} is not {labels[child]} at {start(child)}"

    def nodes(self, label: str, start: tuple[int, int]) -> list[libcst.CSTNode]:
        if label == "StarredElement":  # in a call, libCST has Arg(star="*")
            return [*self.at[label, start], *self.at["Arg", start]]
        if label == "FormattedString":
            return [*self.at[label, start], *self.at["ConcatenatedString", start]]
        return [*self.at[label, start], *self.at[label, _inside(start)]]

    def below(self, value: Any) -> Iterator[tuple[int, int] | None]:
        """Where a value of a field begins, and where it begins inside wrappers; None if it is text."""
        if isinstance(value, str):
            yield None
            return
        yield self.start(value)
        for child in value.children:
            if type(value).__name__ in WRAPPERS:
                yield from self.below(child)


def _inside(start: tuple[int, int]) -> tuple[int, int]:
    """Of a tuple in parentheses libCST tells where the content begins."""
    return start[0], start[1] + 1


def _field(node: libcst.CSTNode, name: str) -> Iterator[Any]:
    """The values of a field of a node or of the wrappers in it."""
    if isinstance(node, libcst.ConcatenatedString) and name == "parts":
        yield from (node.left, node.right)
    value = getattr(node, name, None)
    if value is None or isinstance(value, libcst.MaybeSentinel):
        for child in node.children:
            if type(child).__name__ in WRAPPERS:
                yield from _field(child, name)
    elif isinstance(value, list | tuple):
        yield from value
    else:
        yield value
