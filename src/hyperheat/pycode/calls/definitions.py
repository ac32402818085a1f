"""What a module defines: its functions, classes, imports and assigned names, read from its syntax alone.

A name may be bound more than once. At the top level of a body the last binding counts; bindings inside `if`,
`try`, `for`, `while`, `with` and `match` are alternatives and are all kept. Names that are deleted later stay.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.calls.signatures import Signature, signature_of
from hyperheat.pycode.syntax.traversal import COMPOUND, descendants, own_statements, target_names

__all__ = [
    "Annotated",
    "Assigned",
    "Binding",
    "Class",
    "Function",
    "Imported",
    "ModuleDefinitions",
    "define",
]

_FunctionKind = Literal["function", "classmethod", "staticmethod", "property", "overload"]

_KINDS: dict[str, _FunctionKind] = {
    "staticmethod": "staticmethod",
    "abstractstaticmethod": "staticmethod",
    "classmethod": "classmethod",
    "abstractclassmethod": "classmethod",
    "property": "property",
    "cached_property": "property",
    "abstractproperty": "property",
    "DynamicClassAttribute": "property",
    "setter": "property",
    "getter": "property",
    "deleter": "property",
    "overload": "overload",
}
_IMPLICIT_KINDS: dict[str, _FunctionKind] = {
    "__new__": "staticmethod",
    "__init_subclass__": "classmethod",
    "__class_getitem__": "classmethod",
}


@dataclass(frozen=True, slots=True)
class Imported:
    """`import module` (no name), `from module import name`; `level` counts the leading dots."""

    module: str
    name: str | None
    level: int
    tried: bool = False  # in the body of a `try`: what it finds replaces what was defined before


@dataclass(frozen=True, slots=True)
class Assigned:
    """A name that gets the value of an expression."""

    value: ast.expr


@dataclass(frozen=True, slots=True)
class Annotated:
    """A name with an annotation, with or without a value."""

    annotation: ast.expr
    value: ast.expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A name bound in a way that says nothing about its value."""


UNKNOWN = Unknown()


@dataclass(frozen=True, eq=False)
class Function:
    """A function, method or lambda as it is written."""

    name: str
    node: FunctionNode | ast.Lambda
    module: "ModuleDefinitions"
    owner: "Class | None" = None
    closure: dict[str, Any] | None = field(default=None, repr=False)  # values of enclosing functions' names
    within: str = ""  # the dotted names of the functions around it

    @cached_property
    def signature(self) -> Signature:
        return signature_of(self.node.args)

    @cached_property
    def decorators(self) -> tuple[str, ...]:
        """The last name of each decorator: `lru_cache` for `@functools.lru_cache(maxsize=None)`."""
        if isinstance(self.node, ast.Lambda):
            return ()
        return tuple(_last_name(decorator) for decorator in self.node.decorator_list)

    @cached_property
    def kind(self) -> _FunctionKind:
        for decorator in self.decorators:
            if decorator in _KINDS:
                return _KINDS[decorator]
        if self.owner is not None:
            return _IMPLICIT_KINDS.get(self.name, "function")
        return "function"

    @property
    def adds_to_property(self) -> bool:
        """Whether it is the setter or deleter of a property that exists already."""
        return "setter" in self.decorators or "deleter" in self.decorators


@dataclass(frozen=True, eq=False)
class Class:
    """A class as it is written, or made by a call such as `namedtuple("P", "x y")`, then with `fields`."""

    name: str
    node: ast.ClassDef | None
    module: "ModuleDefinitions"
    closure: dict[str, Any] | None = field(default=None, repr=False)
    fields: tuple[str, ...] | None = None

    @cached_property
    def members(self) -> dict[str, tuple["Binding", ...]]:
        return {} if self.node is None else _bindings(self.node.body, self.module, self)

    @cached_property
    def attributes(self) -> dict[str, tuple[tuple["Binding", Function], ...]]:
        """What the methods assign to `self.name`, each with the method that does."""
        found: dict[str, list[tuple[Binding, Function]]] = {}
        for bindings in self.members.values():
            for binding in bindings:
                if type(binding) is Function and binding.kind != "staticmethod":
                    for name, assigned in _self_assignments(binding):
                        found.setdefault(name, []).append((assigned, binding))
        return {name: tuple(pairs) for name, pairs in found.items()}

    @cached_property
    def decorators(self) -> tuple[tuple[str, ast.expr], ...]:
        """The last name of each decorator, with its expression."""
        nodes = [] if self.node is None else self.node.decorator_list
        return tuple((_last_name(node), node) for node in nodes)


Binding = Function | Class | Imported | Assigned | Annotated | Unknown


@dataclass(frozen=True, eq=False)
class ModuleDefinitions:
    """The names of a module, each with its bindings, and the class around each of its methods."""

    name: str  # dotted; empty when unknown
    is_package: bool
    tree: ast.Module = field(repr=False)
    is_library: bool = False  # from the signature table
    # What resolution found out about the module so far, per project; a memo, not a fact.
    memo: dict[Any, dict[Any, Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def bindings(self) -> dict[str, tuple[Binding, ...]]:
        return _bindings(self.tree.body, self, None)

    @cached_property
    def star_imports(self) -> tuple[Imported, ...]:
        return tuple(
            Imported(statement.module or "", "*", statement.level)
            for statement in own_statements(self.tree.body)
            if type(statement) is ast.ImportFrom and statement.names[0].name == "*"
        )

    @cached_property
    def _all(self) -> frozenset[str] | None:
        """The names listed in `__all__`, if that is one literal."""
        bindings = self.bindings.get("__all__", ())
        value = bindings[0].value if len(bindings) == 1 and isinstance(bindings[0], Assigned) else None
        if not isinstance(value, (ast.List, ast.Tuple)):
            return None
        names = [str(element.value) for element in value.elts if isinstance(element, ast.Constant)]
        return frozenset(names) if len(names) == len(value.elts) else None

    def offers(self, name: str) -> bool:
        """Whether a star import of the module takes a name."""
        return not name.startswith("_") if self._all is None else name in self._all

    @cached_property
    def classes(self) -> tuple[tuple[str, Class], ...]:
        """The classes outside functions, inner ones included, each with its dotted name."""
        return tuple(_classes(self.tree.body, "", self.bindings, self))

    @cached_property
    def owners(self) -> dict[tuple[str, int], Class]:
        """The class around each method, by the method's name and line."""
        return {
            (statement.name, statement.lineno): owner
            for _, owner in self.classes
            if owner.node is not None
            for statement in own_statements(owner.node.body)
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        }

    def owner_of(self, function: FunctionNode, name: str | None = None) -> Class | None:
        """The class around a function; `name` (`A.f`) finds it for a function that was rewritten and moved."""
        here = self.owners.get((function.name, function.lineno))
        if name is None:
            return here
        named = [cls for dotted, cls in self.classes if dotted == name.rpartition(".")[0]]
        if here in named:
            return here
        return named[-1] if named else None

    @cached_property
    def call_sites(self) -> dict[str, tuple[tuple[ast.Call, Function], ...]]:
        """The calls in the module's functions by visible name, each with the outermost function around it."""
        found: dict[str, list[tuple[ast.Call, Function]]] = {}
        for function in self._functions:
            for node in descendants(function.node):
                if type(node) is ast.Call:
                    name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                    if name is not None:
                        found.setdefault(name, []).append((node, function))
        return {name: tuple(sites) for name, sites in found.items()}

    @cached_property
    def global_assignments(self) -> dict[str, tuple[tuple["Assigned", Function], ...]]:
        """What functions assign to names that they declare global."""
        found: dict[str, list[tuple[Assigned, Function]]] = {}
        for function in self._functions:
            statements = list(own_statements(function.node.body))  # pyright: ignore[reportArgumentType]
            names = {name for s in statements if type(s) is ast.Global for name in s.names}
            for statement in statements if names else ():
                for name, binding in _bound(statement, self, None):
                    if name in names and type(binding) is Assigned:
                        found.setdefault(name, []).append((binding, function))
        return {name: tuple(pairs) for name, pairs in found.items()}

    @cached_property
    def _functions(self) -> list[Function]:
        """The outermost functions and the methods of the module's classes, in source order."""
        found: list[Function] = []
        bodies = [self.tree.body]
        for body in bodies:
            for statement in own_statements(body):
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.append(Function(statement.name, statement, self, self.owner_of(statement)))
                elif isinstance(statement, ast.ClassDef):
                    bodies.append(statement.body)
        return found


def define(
    tree: ast.Module, *, name: str = "", is_package: bool = False, is_library: bool = False
) -> ModuleDefinitions:
    """Say what a module defines; `name` (dotted) lets its relative imports be followed."""
    return ModuleDefinitions(name=name, is_package=is_package, tree=tree, is_library=is_library)


def _bindings(
    body: list[ast.stmt], module: ModuleDefinitions, owner: Class | None
) -> dict[str, tuple[Binding, ...]]:
    found: dict[str, tuple[Binding, ...]] = {}
    for statement in body:
        for name, binding in _bound(statement, module, owner):
            before = found.get(name, ())
            if before and type(binding) is Function and type(before[-1]) is Function:
                if binding.adds_to_property:
                    continue
                if binding.kind == before[-1].kind == "overload":
                    found[name] = (*before, binding)
                    continue
            found[name] = (binding,)
        if type(statement) in COMPOUND:
            for inner in own_statements([statement]):
                tried = type(statement) is ast.Try and inner in statement.body
                for name, binding in _bound(inner, module, owner):
                    if tried and type(binding) is Imported:
                        binding = replace(binding, tried=True)
                    found[name] = (*found.get(name, ()), binding)
    return found


def _bound(
    statement: ast.AST, module: ModuleDefinitions, owner: Class | None
) -> Iterator[tuple[str, Binding]]:
    """The names that one statement itself binds, blocks inside it left out."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.name, Function(statement.name, statement, module, owner)
    elif isinstance(statement, ast.ClassDef):
        yield statement.name, Class(statement.name, statement, module)
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname is None:
                yield alias.name.partition(".")[0], Imported(alias.name.partition(".")[0], None, 0)
            else:
                yield alias.asname, Imported(alias.name, None, 0)
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            if alias.name != "*":
                yield (
                    alias.asname or alias.name,
                    Imported(statement.module or "", alias.name, statement.level),
                )
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _assigned(target, statement.value)
    elif isinstance(statement, ast.AnnAssign):
        if isinstance(statement.target, ast.Name):
            yield statement.target.id, Annotated(statement.annotation, statement.value)
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        for name in target_names(statement.target):
            yield name, UNKNOWN
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                for name in target_names(item.optional_vars):
                    yield name, UNKNOWN


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Assigned(value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for part, inner in zip(target.elts, value.elts, strict=True):
                yield from _assigned(part, inner)
        else:
            for name in target_names(target):
                yield name, UNKNOWN


def _self_assignments(method: Function) -> Iterator[tuple[str, Binding]]:
    parameters = method.signature.positional
    if not parameters or isinstance(method.node, ast.Lambda):
        return
    for statement in own_statements(method.node.body):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from _attribute_assignments(target, statement.value, parameters[0])
        elif isinstance(statement, ast.AnnAssign):
            name = _attribute_of(statement.target, parameters[0])
            if name is not None:
                yield name, Annotated(statement.annotation, statement.value)


def _attribute_assignments(target: ast.expr, value: ast.expr, receiver: str) -> Iterator[tuple[str, Binding]]:
    name = _attribute_of(target, receiver)
    if name is not None:
        yield name, Assigned(value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            values = [*value.elts]
        for part, inner in zip(target.elts, values, strict=True):
            name = _attribute_of(part, receiver)
            if name is not None:
                yield name, UNKNOWN if inner is None else Assigned(inner)


def _attribute_of(target: ast.expr, receiver: str) -> str | None:
    """The `name` of a target `receiver.name`."""
    if (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == receiver
    ):
        return target.attr
    return None


def _last_name(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _classes(
    body: list[ast.stmt], prefix: str, bindings: dict[str, tuple[Binding, ...]], module: ModuleDefinitions
) -> Iterator[tuple[str, Class]]:
    for statement in own_statements(body):
        if isinstance(statement, ast.ClassDef):
            known = (b for b in bindings.get(statement.name, ()) if type(b) is Class and b.node is statement)
            cls = next(known, None) or Class(statement.name, statement, module)
            yield prefix + cls.name, cls
            yield from _classes(statement.body, f"{prefix}{cls.name}.", cls.members, module)
