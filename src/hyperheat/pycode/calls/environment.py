"""A scope: the names in reach at a place in the code, and what can be done with their values."""

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass

from hyperheat.pycode.calls.abstract_values import Bound, Instance, Value, Values, union
from hyperheat.pycode.calls.definitions import Class, Function, ModuleDefinitions
from hyperheat.pycode.calls.name_lookup import NameLookup

__all__ = ["CallNote", "Environment", "Surroundings", "annotated"]

_TRANSPARENT = ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar")
_CONTAINERS = frozenset({"list", "set", "frozenset", "tuple", "deque", "reversed"})


@dataclass(slots=True)
class CallNote:
    """What a call may call, and the values of its positional and of its keyword arguments."""

    callees: Values
    given: list[Values]
    named: list[Values]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a scope stands: its module, the class around it, the names of the functions around it."""

    lookup: NameLookup
    module: ModuleDefinitions
    owner: Class | None
    closure: dict[str, Values]
    fuel: int


class Environment(ABC):
    """The scope of a function, class or module.

    `names` are the scope's own names, `closure` those of the functions around it; others are the module's.
    If `calls` is given, each call is noted in it.
    """

    def __init__(self, place: Surroundings, calls: dict[ast.Call, CallNote] | None = None) -> None:
        self.lookup = place.lookup
        self.module = place.module
        self.owner = place.owner
        self.closure = place.closure
        self.fuel = place.fuel
        self.names: dict[str, Values] = {}
        self.calls = calls
        self.receiver: Instance | Class | None = None  # what the method around is called on
        self.class_body: Class | None = None  # whose members can be used as plain names
        self.type_variables: dict[str, Values] = {}

    @abstractmethod
    def value(self, node: ast.expr) -> Values:
        """The values that an expression may have; every call inside it is noted."""

    def name(self, name: str) -> Values:
        """The values of a name."""
        values = self.names.get(name)
        if values is None:
            values = self.closure.get(name)
            if values is None:
                values = self._global(name)
        return values

    def _global(self, name: str) -> Values:
        around = self.class_body
        if around is not None and name in around.members:
            bindings = around.members[name]
            return union([self.lookup.bound(b, self.module, around, self.fuel) for b in bindings])
        return self.lookup.names(self.module, name, self.fuel)

    def attributes(self, values: Values, name: str) -> Values:
        """The values of an attribute of any of the given values."""
        if not values:
            return ()
        if len(values) == 1:
            return self.lookup.attribute(values[0], name, self.fuel)
        return union([self.lookup.attribute(value, name, self.fuel) for value in values])

    def made(self, kind: str, *args: Values) -> Values:
        """An object of a builtin class with the given type parameters."""
        return (Instance.having(self.lookup.builtin(kind), args),)

    def called(self, callees: Values, given: Values) -> Values:
        """The values that a call of any of the given values returns; `given` are those of its first argument."""
        return union([self._result(callee, given) for callee in callees])

    def _result(self, callee: Value, given: Values) -> Values:
        if type(callee) is Class:
            if callee.name in _CONTAINERS and given and callee.module.name in ("builtins", "collections"):
                return (Instance.having(callee, (self.items(given),)),)
            return (Instance(callee),)
        if type(callee) is Function:
            return self.lookup.returned(callee, None, given, self.fuel)
        if type(callee) is Bound:
            return self.lookup.returned(callee.function, callee.receiver, given, self.fuel)
        if type(callee) is Instance:
            methods = self.lookup.attribute(callee, "__call__", self.fuel)
            return union([self._result(method, given) for method in methods if type(method) is Bound])
        return ()

    def items(self, values: Values) -> Values:
        """The values that iterating over any of the given values gives."""
        return union([self._items_of(value) for value in values]) if values else ()

    def _items_of(self, value: Value) -> Values:
        if type(value) is not Instance:
            return ()
        if value.of.name == "str":
            return (value,)
        if value.args:
            return union(value.args) if value.of.name == "tuple" else value.args[0]
        iterators = self.called(self.lookup.attribute(value, "__iter__", self.fuel), ())
        args = [it.args[0] for it in iterators if type(it) is Instance and it.args]
        if args:
            return union(args)
        return self.called(self.attributes(tuple(it for it in iterators if it != value), "__next__"), ())


def annotated(node: ast.expr, scope: Environment) -> Values:
    """The objects that an annotation describes: `Foo`, `"Foo"`, `Foo | None`, `Optional[Foo]`, `list[Foo]`."""
    if isinstance(node, ast.Constant):
        return _quoted(node.value, scope) if isinstance(node.value, str) else ()
    if isinstance(node, ast.BinOp):
        return union([annotated(node.left, scope), annotated(node.right, scope)])
    if isinstance(node, ast.Subscript):
        return _parametrised(node, scope)
    if isinstance(node, ast.Name) and node.id in scope.type_variables:
        return scope.type_variables[node.id]
    if isinstance(node, (ast.Name, ast.Attribute)):
        return tuple(Instance(value) for value in scope.value(node) if type(value) is Class)
    return ()


def _quoted(text: str, scope: Environment) -> Values:
    try:
        return annotated(ast.parse(text.strip(), mode="eval").body, scope)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _parametrised(node: ast.Subscript, scope: Environment) -> Values:
    base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if base in ("Optional", "Union"):
        return union([annotated(part, scope) for part in inner])
    if base in _TRANSPARENT:
        return annotated(inner[0], scope) if inner else ()
    if base in ("type", "Type"):
        return tuple(value.of for value in annotated(inner[0], scope) if type(value) is Instance)
    if base in ("Literal", "Callable"):
        return ()
    args = tuple(annotated(part, scope) for part in inner if not isinstance(part, ast.List))
    return tuple(Instance.having(v.of, args) for v in annotated(node.value, scope) if type(v) is Instance)
