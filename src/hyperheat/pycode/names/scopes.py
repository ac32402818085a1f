"""Scopes: what binds names, inside a function and around it."""

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from hyperheat.pycode.anchors import FunctionOrLambda

__all__ = [
    "FunctionOrLambda",
    "ModuleScope",
    "Role",
    "Scope",
    "SymbolKind",
    "function_parameters",
    "imported_name",
]

SymbolKind = Literal["parameter", "local", "imported", "closure", "global", "builtin"]
Role = Literal["module", "function", "class", "comprehension", "type parameters"]

_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleScope:
    """What surrounds an outermost function: the names of its module and, for a method, of its class."""

    names: Mapping[str, SymbolKind]
    lazy_annotations: bool
    class_names: Mapping[str, SymbolKind] | None = None

    @classmethod
    def of(cls, module: ast.Module) -> "ModuleScope":
        """Collect the names that a module binds outside of its functions and classes."""
        lazy = any(
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and any(alias.name == "annotations" for alias in statement.names)
            for statement in module.body
        )
        return cls(names=_bound_names(module.body, "global"), lazy_annotations=lazy)

    def inside(self, class_def: ast.ClassDef) -> "ModuleScope":
        """The surroundings of a method: its decorators and defaults see the names of the class."""
        return replace(self, class_names=_bound_names(class_def.body, "local"))


class Scope:
    """One namespace: the names it binds, and those it declares `global` or `nonlocal`."""

    __slots__ = ("bound", "declared", "node", "owner", "parent", "role", "symbols")

    def __init__(
        self, node: ast.AST | None, role: Role, parent: "Scope | None", owner: FunctionOrLambda | None
    ):
        self.node = node
        self.role: Role = role
        self.parent = parent
        self.owner = owner
        self.bound: dict[str, SymbolKind] = {}
        self.declared: dict[str, str] = {}
        self.symbols: dict[str, int] = {}

    def home(self, name: str) -> "Scope":
        """The scope whose variable `name` means here; the module if no function around binds it."""
        scope = self
        visible = True
        while scope.parent is not None:
            if visible or scope.role != "class":
                declared = scope.declared.get(name)
                if declared == "global":
                    break
                if declared is None and name in scope.bound:
                    return scope
            visible = scope.role == "type parameters"
            scope = scope.parent
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def kind(self, name: str) -> SymbolKind:
        """How this scope sees `name`: as its home scope does, or as a "closure" from a function around."""
        home = self.home(name)
        if home.role == "module":
            if name == "__class__":
                return "closure"
            return home.bound.get(name) or ("builtin" if name in _BUILTINS else "global")
        return home.bound[name] if home.owner is self.owner else "closure"


def function_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in source order."""
    parameters = arguments.posonlyargs + arguments.args
    if arguments.vararg is not None:
        parameters.append(arguments.vararg)
    parameters += arguments.kwonlyargs
    if arguments.kwarg is not None:
        parameters.append(arguments.kwarg)
    return parameters


def imported_name(alias: ast.alias, statement: ast.Import | ast.ImportFrom) -> tuple[str, str]:
    """The name that an import binds, and the field that spells it."""
    if alias.asname is not None:
        return alias.asname, "asname"
    return (alias.name.partition(".")[0] if type(statement) is ast.Import else alias.name), "name"


def _bound_names(body: list[ast.stmt], kind: SymbolKind) -> Mapping[str, SymbolKind]:
    """The names that a module or class body binds itself, as `kind` unless they are imported."""
    names: dict[str, SymbolKind] = {}
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.setdefault(name, kind)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.setdefault(name, kind)
            case ast.Import() | ast.ImportFrom():
                names.update({imported_name(alias, node)[0]: "imported" for alias in node.names})
            case ast.comprehension():
                pending += [node.iter, *node.ifs]
            case ast.Lambda() | ast.Constant():
                pass
            case _:
                captured = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(captured, str):
                    names.setdefault(captured, kind)
                pending.extend(ast.iter_child_nodes(node))
    return MappingProxyType(names)
