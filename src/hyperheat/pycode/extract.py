"""From Python source to one hypergraph per outermost function or method.

    module = extract(source, path, project)
    for function in module.functions:
        print(function.name, function.graph)

After a small edit of one function, only that function is read again, against the facts of its module:

    edited = extract_function(function.source.replace("a", "b"), function, module.facts)
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.source import Source, SourceError
from hyperheat.pycode.syntax import FunctionSyntax

__all__ = ["FunctionGraph", "ModuleFacts", "ModuleGraphs", "extract", "extract_function"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionGraph:
    """One function as a hypergraph.

    `span` is (line, column, end line, end column), decorators included, and so is every row of `graph.span`;
    lines count from 1, columns from 0 and in characters. `source` holds the whole lines of the function.
    `syntax` leads from places in the syntax tree to nodes of the graph.
    """

    name: str
    span: tuple[int, int, int, int]
    source: str = field(repr=False)
    graph: Hypergraph
    syntax: FunctionSyntax = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFacts:
    """What all functions of a module share, computed once."""

    source: Source = field(repr=False)
    comments: bool
    chunk: int
    overlap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleGraphs:
    """A module: its facts, and the graph of every outermost function, in source order."""

    facts: ModuleFacts
    functions: tuple[FunctionGraph, ...]


def extract(
    source: str | bytes,
    path: str | None = None,
    project: None = None,
    *,
    comments: bool = False,
    chunk: int = 512,
    overlap: int = 64,
) -> ModuleGraphs:
    """Read a module; raises SourceError where the source gives no graphs.

    >>> [function.name for function in extract("class A:\\n    def f(self): return self").functions]
    ['A.f']
    """
    if not 0 <= overlap < chunk:
        raise ValueError(f"overlap: expected at least 0 and less than chunk={chunk}, got {overlap}")
    text = Source.read(source, path)
    tree = text.parse()
    facts = ModuleFacts(source=text, comments=comments, chunk=chunk, overlap=overlap)
    functions = [_build(node, name, text, facts) for name, node in _outermost(tree.body, "")]
    return ModuleGraphs(facts=facts, functions=tuple(functions))


def extract_function(source: str, original: FunctionGraph, facts: ModuleFacts) -> FunctionGraph:
    """Read one function again after an edit; `source` is what `original.source` has become, indentation
    included.

    The edit may change the number of lines. It is seen against the old facts: what other functions call is
    not changed.
    """
    text = Source.read_function(source, facts.source.path, first_line=original.span[0])
    functions = list(_outermost(text.parse().body, ""))
    if len(functions) != 1:
        got = ", ".join(name for name, _ in functions) or "none"
        raise SourceError(
            facts.source.path, original.span[0], f"expected the text of one function, got {got}"
        )
    return _build(functions[0][1], original.name, text, facts)


def _outermost(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, FunctionNode]]:
    """Qualified name and node of every function that is inside no other function."""
    for statement in body:
        if isinstance(statement, FunctionNode):
            yield prefix + statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield from _outermost(statement.body, f"{prefix}{statement.name}.")
        else:
            for block in _blocks(statement):
                yield from _outermost(block, prefix)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists of `if`, `for`, `while`, `with`, `try` and `match`, in source order."""
    yield getattr(statement, "body", [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
    yield getattr(statement, "orelse", [])
    yield getattr(statement, "finalbody", [])


def _build(node: FunctionNode, name: str, source: Source, facts: ModuleFacts) -> FunctionGraph:
    syntax = FunctionSyntax(node, source)
    syntax.relate_tokens(comments=facts.comments, chunk=facts.chunk, overlap=facts.overlap)
    syntax.relate_tree()
    start, end = syntax.extent
    line, column, end_line, end_column = source.spans([start], [end])[0].tolist()
    return FunctionGraph(
        name=name,
        span=(line, column, end_line, end_column),
        source=source.text[source.line_starts[line - source.first_line] : syntax.end_of_lines],
        graph=replace(syntax.builder.build(), span=source.spans(syntax.starts, syntax.ends)),
        syntax=syntax,
    )
