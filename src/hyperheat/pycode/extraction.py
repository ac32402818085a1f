"""From Python source to one hypergraph per outermost function or method.

    module = extract(source, path, project)
    for function in module.functions:
        print(function.name, function.graph)

After a small edit of one function, only that function is read again, against the facts of its module:

    edited = extract_function(function.source.replace("a", "b"), function, module.facts)

`outline` finds the functions of a module without reading them, which takes a small part of the time:

    module = outline(source)
    graphs = [module.read(function) for function in module.functions if function.name == "main"]
"""

import ast
import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.calls.definitions import ModuleDefinitions
from hyperheat.pycode.calls.function_calls import CallCounts, analyse_calls
from hyperheat.pycode.calls.project import ProjectIndex, define_file
from hyperheat.pycode.flow.blocks import Unit
from hyperheat.pycode.flow.function_flow import FunctionFlow, analyse_flow
from hyperheat.pycode.names.function_names import FunctionNames, ModuleScope
from hyperheat.pycode.syntax.function_syntax import FunctionSyntax
from hyperheat.pycode.syntax.python_source import MAX_CHARACTERS, PythonSource, SourceError

__all__ = [
    "FunctionGraph",
    "ModuleFacts",
    "ModuleGraphs",
    "ModuleOutline",
    "UnreadFunction",
    "extract",
    "extract_function",
    "outermost_functions",
    "outline",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionGraph:
    """One function as a hypergraph.

    `span` is (line, column, end line, end column), decorators included, and so is every row of `graph.span`;
    lines count from 1, columns from 0 and in characters. `source` holds the whole lines of the function, with
    bare newlines. `syntax` leads from places in the syntax tree to nodes of the graph; `names` and `units` are the
    names and the basic blocks that its flow was found from.
    """

    name: str
    span: tuple[int, int, int, int]
    source: str = field(repr=False)
    graph: Hypergraph
    calls: CallCounts
    scope: ModuleScope = field(repr=False, compare=False)
    syntax: FunctionSyntax = field(repr=False, compare=False)
    names: FunctionNames = field(repr=False, compare=False)
    units: list[Unit] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFacts:
    """What all functions of a module share, computed once."""

    source: PythonSource = field(repr=False)
    definitions: ModuleDefinitions = field(repr=False)
    project: ProjectIndex | None
    comments: bool
    chunk: int
    overlap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleGraphs:
    """A module: its facts, the graph of every outermost function in source order, and those too long to be read."""

    facts: ModuleFacts
    functions: tuple[FunctionGraph, ...]
    refused: tuple[SourceError, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadFunction:
    """An outermost function of which only the place is known: its lines from `line` to `end_line`, decorators included."""

    name: str
    line: int
    end_line: int
    node: FunctionNode = field(repr=False)
    scope: ModuleScope = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleOutline:
    """A module whose functions are found, in source order, and read when asked for."""

    facts: ModuleFacts
    functions: tuple[UnreadFunction, ...]

    def read(self, function: UnreadFunction) -> FunctionGraph:
        """The graph of a function; raises SourceError if it is too long to be read."""
        return _build(function.node, function.name, function.scope, self.facts.source, self.facts)


def extract(
    source: str | bytes,
    path: str | os.PathLike[str] | None = None,
    project: ProjectIndex | None = None,
    *,
    comments: bool = False,
    chunk: int = 512,
    overlap: int = 64,
    max_characters: int = MAX_CHARACTERS,
) -> ModuleGraphs:
    """Read a module; raises SourceError where the source as a whole cannot be read.

    >>> [function.name for function in extract("class A:\\n    def f(self): return self").functions]
    ['A.f']
    """
    module = outline(
        source,
        path,
        project,
        comments=comments,
        chunk=chunk,
        overlap=overlap,
        max_characters=max_characters,
    )
    functions, refused = [], []
    for function in module.functions:
        try:
            functions.append(module.read(function))
        except SourceError as error:
            refused.append(error)
    return ModuleGraphs(facts=module.facts, functions=tuple(functions), refused=tuple(refused))


def outline(
    source: str | bytes,
    path: str | os.PathLike[str] | None = None,
    project: ProjectIndex | None = None,
    *,
    comments: bool = False,
    chunk: int = 512,
    overlap: int = 64,
    max_characters: int = MAX_CHARACTERS,
    interactive: bool = False,
) -> ModuleOutline:
    """Find the functions of a module; raises SourceError where the source as a whole cannot be read.

    An `interactive` module may await outside of functions, as the code of a notebook does.

    >>> [(f.name, f.line, f.end_line) for f in outline("@cache\\ndef f(): return 1\\ndef g(): return 2\\n").functions]
    [('f', 1, 2), ('g', 3, 3)]
    """
    if not 0 <= overlap < chunk:
        raise ValueError(f"overlap: expected at least 0 and less than chunk={chunk}, got {overlap}")
    text = PythonSource.read(source, None if path is None else os.fspath(path), max_characters=max_characters)
    tree = text.parse(interactive=interactive)
    facts = ModuleFacts(
        source=text,
        definitions=define_file(tree, text.path, project),
        project=project,
        comments=comments,
        chunk=chunk,
        overlap=overlap,
    )
    functions = (
        UnreadFunction(
            name=name,
            line=bisect_right(text.line_starts, text.function_start(node)),
            end_line=node.end_lineno or node.lineno,
            node=node,
            scope=scope,
        )
        for name, node, scope in _outermost(tree.body, "", ModuleScope.of(tree))
    )
    return ModuleOutline(facts=facts, functions=tuple(functions))


def extract_function(source: str, original: FunctionGraph, facts: ModuleFacts) -> FunctionGraph:
    """Read one function again after an edit; `source` is what `original.source` has become.

    The edit may change the number of lines. The facts stay those of the module as it was: what other
    functions call and what the module defines do not change.
    """
    text = PythonSource.read_function(source, original.span[0], facts.source.path)
    functions = list(_outermost(text.parse().body, "", original.scope))
    if len(functions) != 1:
        got = ", ".join(name for name, _, _ in functions) or "none"
        raise SourceError(
            facts.source.path, original.span[0], f"expected the text of one function, got {got}"
        )
    return _build(functions[0][1], original.name, original.scope, text, facts)


def outermost_functions(tree: ast.Module) -> Iterator[tuple[str, FunctionNode]]:
    """Qualified name and node of every function of a module that is inside no other function, in source order."""
    return ((name, node) for name, node, _ in _outermost(tree.body, "", ModuleScope.of(tree)))


def _outermost(
    body: list[ast.stmt], prefix: str, scope: ModuleScope
) -> Iterator[tuple[str, FunctionNode, ModuleScope]]:
    """Qualified name, node and surroundings of every function that is inside no other function."""
    for statement in body:
        if isinstance(statement, FunctionNode):
            yield prefix + statement.name, statement, scope
        elif isinstance(statement, ast.ClassDef):
            yield from _outermost(statement.body, f"{prefix}{statement.name}.", scope.inside(statement))
        else:
            for block in _blocks(statement):
                yield from _outermost(block, prefix, scope)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists of `if`, `for`, `while`, `with`, `try` and `match`, in source order."""
    yield getattr(statement, "body", [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
    yield getattr(statement, "orelse", [])
    yield getattr(statement, "finalbody", [])


def _build(
    function: FunctionNode, name: str, scope: ModuleScope, source: PythonSource, facts: ModuleFacts
) -> FunctionGraph:
    syntax = FunctionSyntax(function, source)
    syntax.relate_tokens(comments=facts.comments, chunk=facts.chunk, overlap=facts.overlap)
    syntax.relate_tree()
    flow = analyse_flow(function, scope)
    _relate_flow(syntax, flow)
    found, calls = analyse_calls(function, facts.definitions, facts.project, name)
    for relation in found:
        syntax.relate(relation.name, relation.incidences)
    graph = syntax.columns.build(source)
    return FunctionGraph(
        name=name,
        span=syntax.span_in(graph),
        source=source.text[syntax.start_of_lines : syntax.end_of_lines],
        graph=graph,
        calls=calls,
        scope=scope,
        syntax=syntax,
        names=flow.names,
        units=flow.units,
    )


def _relate_flow(syntax: FunctionSyntax, flow: FunctionFlow) -> None:
    node, relate = syntax.node, syntax.columns.relate_groups
    for name, merged in (("CtrlF", flow.control), ("MayRead", flow.may_read), ("MayWrite", flow.may_write)):
        for previous, successors in merged:
            relate(name, ("prev", [node(p) for p in previous]), ("succ", [node(s) for s in successors]))
    for symbol in flow.symbols:
        last = set(symbol.last_uses)
        occurrences = [("may_last_use" if o in last else "occ", node(o)) for o in symbol.occurrences]
        syntax.columns.relate("Symbol", [("sym", syntax.add_node(symbol.name)), *occurrences])
    for name, sources in (("Returns", flow.returns), ("Yields", flow.yields)):
        for function, places in sources:
            relate(name, ("fn", [node(function)]), ("from", [node(place) for place in places]))
