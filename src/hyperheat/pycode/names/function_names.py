"""The names of a function: which symbol every name of a function refers to.

One walk over the outermost function, with everything nested in it, lists the *occurrences* of names and what
each scope binds; afterwards each occurrence is resolved as Python does it, to one of

    parameter, local, imported     bound by a function, lambda, comprehension or class body of the snippet
    global, imported, builtin      bound outside of it

A name that a nested function takes from a function around it is the same symbol there (`Scope.kind` calls it
"closure"). A chain of plain names such as `self.x.y` makes one more symbol per dot, `self.x` and `self.x.y`,
whose `base` is the symbol before the dot. The spelling counts: another path to the object is another symbol.
"""

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from hyperheat.pycode.anchors import Anchor, FunctionNode, FunctionOrLambda
from hyperheat.pycode.names.scopes import (
    ModuleScope,
    Role,
    Scope,
    SymbolKind,
    function_parameters,
    imported_name,
)

__all__ = ["FunctionNames", "ModuleScope", "Symbol", "resolve_names"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: `owner` is the function whose exit ends it (None for names from outside the snippet)."""

    name: str
    kind: SymbolKind
    owner: FunctionOrLambda | None
    base: int | None


@dataclass(frozen=True, slots=True)
class FunctionNames:
    """All occurrences of names in source order: `anchors[i]` belongs to `symbols[symbol_of[i]]`."""

    anchors: list[Anchor]
    symbol_of: list[int]
    symbols: list[Symbol]
    index: dict[Anchor, int]
    scopes: list["Scope"]


def resolve_names(function: FunctionNode, module: ModuleScope) -> FunctionNames:
    """List the occurrences of names in an outermost function and the symbol of each."""
    collector = _Collector(module)
    collector.visit(function)
    collector.records.sort(key=itemgetter(0))
    names = FunctionNames([], [], [], {}, collector.scopes)
    for number, (_, scope, name, anchor) in enumerate(collector.records):
        symbol = scope.symbols.get(name)
        names.anchors.append(anchor)
        names.symbol_of.append(_symbol(names, scope, name) if symbol is None else symbol)
        names.index[anchor] = number
    return names


def _symbol(names: FunctionNames, scope: Scope, name: str) -> int:
    """Find or make the symbol that a plain or dotted name means in a scope."""
    number = scope.symbols.get(name)
    if number is not None:
        return number
    prefix, dot, _ = name.rpartition(".")
    base = _symbol(names, scope, prefix) if dot else None
    home = scope.home(name.partition(".")[0])
    number = home.symbols.get(name)
    if number is None:
        number = len(names.symbols)
        kind = home.kind(name) if base is None else names.symbols[base].kind
        names.symbols.append(Symbol(name, kind, home.owner, base))
        home.symbols[name] = number
    scope.symbols[name] = number
    return number


class _Collector:
    """Walks a function and notes every occurrence as (position, scope, name, anchor)."""

    def __init__(self, module: ModuleScope):
        root = Scope(None, "module", None, None)
        root.bound.update(module.names)
        self.root = root
        self.scope = root
        self.scopes: list[Scope] = []
        self.records: list[tuple[int, Scope, str, Anchor]] = []
        if module.class_names is not None:
            self.scope = Scope(None, "class", root, None)
            self.scope.bound.update(module.class_names)

    def visit(self, node: ast.AST) -> None:
        visitor = _VISITORS.get(type(node))
        if visitor is not None:
            visitor(self, node)
            return
        for field in _CHILDREN[type(node)]:
            child = getattr(node, field)
            if type(child) is list:
                for item in child:
                    if item is not None:
                        self.visit(item)
            elif child is not None:
                self.visit(child)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def note(
        self, line: int, column: int, name: str, anchor: Anchor, binds: SymbolKind | None = None
    ) -> None:
        """Add an occurrence to the current scope, which binds the name if `binds` says how."""
        self.records.append(((line << 32) + column, self.scope, name, anchor))
        if binds is not None:
            # the first binding decides: a parameter stays one when it is assigned again
            self.scope.bound.setdefault(name, binds)

    def enter(self, node: ast.AST, role: Role, owner: FunctionOrLambda | None) -> Scope:
        """Open a scope inside the current one and return the latter."""
        outside = self.scope
        self.scope = Scope(node, role, outside, owner)
        self.scopes.append(self.scope)
        return outside


def _visit_nothing(walk: _Collector, node: ast.AST) -> None:
    pass


def _visit_name(walk: _Collector, node: ast.Name) -> None:
    scope = walk.scope
    walk.records.append(((node.lineno << 32) + node.col_offset, scope, node.id, node))
    if type(node.ctx) is not ast.Load:
        scope.bound.setdefault(node.id, "local")


def _visit_attribute(walk: _Collector, node: ast.Attribute) -> None:
    chain = [node]
    base = node.value
    while type(base) is ast.Attribute:
        chain.append(base)
        base = base.value
    walk.visit(base)
    if type(base) is not ast.Name:
        return
    path = base.id
    for attribute in reversed(chain):
        path = f"{path}.{attribute.attr}"
        line, column = _end(attribute)
        walk.note(line, column - len(attribute.attr), path, attribute)


def _visit_function(walk: _Collector, node: FunctionNode) -> None:
    walk.visit_all(node.decorator_list)
    walk.note(node.lineno, node.col_offset, node.name, (node, "name"), "local")
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    outside = _enter_type_parameters(walk, node)
    parameters = function_parameters(node.args)
    walk.visit_all(parameter.annotation for parameter in parameters)
    if node.returns is not None:
        walk.visit(node.returns)
    _visit_body(walk, node, parameters, node.body)
    walk.scope = outside


def _visit_lambda(walk: _Collector, node: ast.Lambda) -> None:
    walk.visit_all(node.args.defaults)
    walk.visit_all(node.args.kw_defaults)
    _visit_body(walk, node, function_parameters(node.args), [node.body])


def _visit_body(
    walk: _Collector, function: FunctionOrLambda, parameters: list[ast.arg], body: Iterable[ast.AST]
) -> None:
    outside = walk.enter(function, "function", function)
    for parameter in parameters:
        walk.note(parameter.lineno, parameter.col_offset, parameter.arg, parameter, "parameter")
    walk.visit_all(body)
    walk.scope = outside


def _visit_class(walk: _Collector, node: ast.ClassDef) -> None:
    walk.visit_all(node.decorator_list)
    walk.note(node.lineno, node.col_offset, node.name, (node, "name"), "local")
    outside = _enter_type_parameters(walk, node)
    walk.visit_all(node.bases)
    walk.visit_all(node.keywords)
    walk.enter(node, "class", walk.scope.owner)
    walk.visit_all(node.body)
    walk.scope = outside


def _visit_type_alias(walk: _Collector, node: Any) -> None:
    walk.visit(node.name)
    outside = _enter_type_parameters(walk, node)
    walk.visit(node.value)
    walk.scope = outside


def _enter_type_parameters(walk: _Collector, node: Any) -> Scope:
    """Open the scope of `[T: bound, ...]` if the statement has one; return the scope to go back to."""
    parameters = getattr(node, "type_params", None)
    if not parameters:
        return walk.scope
    outside = walk.enter(node, "type parameters", walk.scope.owner)
    for parameter in parameters:
        walk.note(parameter.lineno, parameter.col_offset, parameter.name, (parameter, "name"), "local")
    for parameter in parameters:
        walk.visit_all((getattr(parameter, "bound", None), getattr(parameter, "default_value", None)))
    return outside


def _visit_comprehension(walk: _Collector, node: Any) -> None:
    walk.visit(node.generators[0].iter)
    outside = walk.enter(node, "comprehension", walk.scope.owner)
    for generator in node.generators:
        if generator is not node.generators[0]:
            walk.visit(generator.iter)
        walk.visit(generator.target)
        walk.visit_all(generator.ifs)
    walk.visit_all((node.key, node.value) if type(node) is ast.DictComp else (node.elt,))
    walk.scope = outside


def _visit_walrus(walk: _Collector, node: ast.NamedExpr) -> None:
    walk.visit(node.value)
    inside = walk.scope
    while walk.scope.role == "comprehension" and walk.scope.parent is not None:
        walk.scope = walk.scope.parent
    walk.visit(node.target)
    walk.scope = inside


def _visit_declaration(walk: _Collector, node: ast.Global | ast.Nonlocal) -> None:
    kind = "global" if type(node) is ast.Global else "nonlocal"
    for number, name in enumerate(node.names):
        walk.note(node.lineno, node.col_offset + number, name, (node, "names", number))
        walk.scope.declared[name] = kind
        if kind == "global":
            walk.root.bound.setdefault(name, "global")


def _visit_import(walk: _Collector, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        name, field = imported_name(alias, node)
        if name != "*":
            walk.note(alias.lineno, alias.col_offset, name, (alias, field), "imported")


def _visit_handler(walk: _Collector, node: ast.ExceptHandler) -> None:
    if node.type is not None:
        walk.visit(node.type)
        if node.name is not None:
            walk.note(*_end(node.type), node.name, (node, "name"), "local")
    walk.visit_all(node.body)


def _visit_match_as(walk: _Collector, node: ast.MatchAs) -> None:
    if node.pattern is not None:
        walk.visit(node.pattern)
    if node.name is not None:
        place = (node.lineno, node.col_offset) if node.pattern is None else _end(node.pattern)
        walk.note(*place, node.name, (node, "name"), "local")


def _visit_match_star(walk: _Collector, node: ast.MatchStar) -> None:
    if node.name is not None:
        walk.note(node.lineno, node.col_offset, node.name, (node, "name"), "local")


def _visit_match_mapping(walk: _Collector, node: ast.MatchMapping) -> None:
    walk.visit_all(node.keys)
    walk.visit_all(node.patterns)
    if node.rest is not None:
        walk.note(*_end(node), node.rest, (node, "rest"), "local")


def _end(node: ast.expr | ast.pattern) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


_VISITORS: dict[type, Callable[[_Collector, Any], None]] = {
    ast.Name: _visit_name,
    ast.Constant: _visit_nothing,
    ast.MatchSingleton: _visit_nothing,
    ast.Attribute: _visit_attribute,
    ast.FunctionDef: _visit_function,
    ast.AsyncFunctionDef: _visit_function,
    ast.Lambda: _visit_lambda,
    ast.ClassDef: _visit_class,
    ast.ListComp: _visit_comprehension,
    ast.SetComp: _visit_comprehension,
    ast.DictComp: _visit_comprehension,
    ast.GeneratorExp: _visit_comprehension,
    ast.NamedExpr: _visit_walrus,
    ast.Global: _visit_declaration,
    ast.Nonlocal: _visit_declaration,
    ast.Import: _visit_import,
    ast.ImportFrom: _visit_import,
    ast.ExceptHandler: _visit_handler,
    ast.MatchAs: _visit_match_as,
    ast.MatchStar: _visit_match_star,
    ast.MatchMapping: _visit_match_mapping,
}
if hasattr(ast, "TypeAlias"):
    _VISITORS[ast.TypeAlias] = _visit_type_alias  # type: ignore[attr-defined]

_PLAIN_FIELDS = frozenset(
    {"ctx", "op", "ops", "type_comment", "conversion", "simple", "arg", "kwd_attrs", "str"}
)
# the fields of each node type that hold syntax, in the order of the grammar
_CHILDREN: dict[type, tuple[str, ...]] = {
    cls: tuple(field for field in cls._fields if field not in _PLAIN_FIELDS)
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
