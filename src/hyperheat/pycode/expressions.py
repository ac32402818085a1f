"""The values of expressions, from the values of the names in reach."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperheat.pycode.definitions import Class, Function, ModuleDefinitions, target_names
from hyperheat.pycode.lookup import Lookup
from hyperheat.pycode.values import Bound, Instance, Super, Value, Values, union

__all__ = ["CallNote", "Expressions"]

_CONTAINERS = frozenset({"list", "set", "frozenset", "tuple", "deque", "iter", "reversed"})
_NUMBERS = ("bool", "int", "float", "complex")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.MatMult: "__matmul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.BitAnd: "__and__",
    ast.BitXor: "__xor__",
    ast.BitOr: "__or__",
}


@dataclass(slots=True)
class CallNote:
    """What a call may call, and the values of its positional and of its keyword arguments."""

    callees: Values
    given: list[Values]
    named: list[Values]


class Expressions:
    """Values of expressions in one scope: a function's, a class's or a module's.

    `names` are the scope's own names, `closure` those of the functions around it; all others are the module's.
    If `calls` is given, each call is noted in it.
    """

    def __init__(
        self,
        lookup: Lookup,
        module: ModuleDefinitions,
        owner: Class | None,
        *,
        names: dict[str, Values],
        closure: dict[str, Values],
        fuel: int,
        calls: dict[ast.Call, CallNote] | None = None,
    ) -> None:
        self.lookup = lookup
        self.module = module
        self.owner = owner
        self.names = names
        self.closure = closure
        self.fuel = fuel
        self.calls = calls
        self.receiver: Instance | Class | None = None  # of the method around
        self.class_body: Class | None = None  # whose members can be used as plain names
        self.type_variables: dict[str, Values] = {}

    def value(self, node: ast.expr) -> Values:
        """The values that an expression may have; every call inside it is noted."""
        return _VALUES[type(node)](self, node)

    # Names and attributes

    def _name(self, node: ast.Name) -> Values:
        values = self.names.get(node.id)
        if values is None:
            values = self.closure.get(node.id)
            if values is None:
                values = self._global(node.id)
        return values

    def _global(self, name: str) -> Values:
        around = self.class_body
        if around is not None and name in around.members:
            bindings = around.members[name]
            return union([self.lookup.bound(b, self.module, around, self.fuel) for b in bindings])
        return self.lookup.names(self.module, name, self.fuel)

    def _attribute(self, node: ast.Attribute) -> Values:
        return self.attributes(self.value(node.value), node.attr)

    def attributes(self, values: Values, name: str) -> Values:
        """The values of an attribute of any of the given values."""
        if not values:
            return ()
        if len(values) == 1:
            return self.lookup.attribute(values[0], name, self.fuel)
        return union([self.lookup.attribute(value, name, self.fuel) for value in values])

    # Literals and displays

    def _constant(self, node: ast.Constant) -> Values:
        kind = type(node.value).__name__
        return () if kind in ("NoneType", "ellipsis") else self.lookup.instance(kind)

    def _joined(self, node: ast.JoinedStr) -> Values:
        self._each(node.values)
        return self.lookup.instance("str")

    def _formatted(self, node: ast.FormattedValue) -> Values:
        self.value(node.value)
        if node.format_spec is not None:
            self.value(node.format_spec)
        return self.lookup.instance("str")

    def _sequence(self, node: ast.List | ast.Set) -> Values:
        kind = "list" if type(node) is ast.List else "set"
        return self._made(kind, union(self._each(node.elts)))

    def _tuple(self, node: ast.Tuple) -> Values:
        return (Instance(self.lookup.builtin("tuple"), tuple(self._each(node.elts))),)

    def _dict(self, node: ast.Dict) -> Values:
        keys = union(self._each([key for key in node.keys if key is not None]))
        pairs = zip(node.keys, self._each(node.values), strict=True)
        return self._made("dict", keys, union([values for key, values in pairs if key is not None]))

    def _made(self, kind: str, *args: Values) -> Values:
        return (Instance(self.lookup.builtin(kind), args),)

    def _comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "Generator")
        return self._made(kind, self._inside(node.generators, [node.elt])[0])

    def _dict_comprehended(self, node: ast.DictComp) -> Values:
        return self._made("dict", *self._inside(node.generators, [node.key, node.value]))

    def _inside(self, generators: list[ast.comprehension], results: list[ast.expr]) -> list[Values]:
        """The values of a comprehension's results, its targets bound meanwhile."""
        outer = self.names
        self.names = dict(outer)
        for generator in generators:
            self.store(generator.target, self.items(self.value(generator.iter)))
            self._each(generator.ifs)
        values = self._each(results)
        self.names = outer
        return values

    def _lambda(self, node: ast.Lambda) -> Values:
        arguments = node.args
        self._each([default for default in (*arguments.defaults, *arguments.kw_defaults) if default])
        outer = self.names
        self.names = {**outer, **self.parameters(arguments)}
        self.value(node.body)
        self.names = outer
        return (Function("", node, self.module),)

    # Operators

    def _bin_op(self, node: ast.BinOp) -> Values:
        left, right = self.value(node.left), self.value(node.right)
        if not left:
            return ()
        first = left[0]
        if type(first) is not Instance:
            return ()
        name = first.of.name
        if name in _NUMBERS:
            other = right[0].of.name if right and type(right[0]) is Instance else ""
            if other in _NUMBERS:
                wider = max(name, other, "float" if type(node.op) is ast.Div else "int", key=_NUMBERS.index)
                return self.lookup.instance(wider)
            return right if other else ()
        if name in ("str", "bytes"):
            return (first,)
        if name in ("list", "tuple", "set", "frozenset"):
            return (first,)
        return self.called(self.attributes(left, _OPERATORS[type(node.op)]), right)

    def _bool_op(self, node: ast.BoolOp) -> Values:
        if type(node.op) is ast.Or:
            return union(self._each(node.values))
        outer = self.names
        self.names = dict(outer)
        values: Values = ()
        for operand in node.values:
            values = self.value(operand)
            self.narrow(operand)
        self.names = outer
        return values

    def _unary_op(self, node: ast.UnaryOp) -> Values:
        values = self.value(node.operand)
        return self.lookup.instance("bool") if type(node.op) is ast.Not else values

    def _compare(self, node: ast.Compare) -> Values:
        self.value(node.left)
        self._each(node.comparators)
        return self.lookup.instance("bool")

    def _if_exp(self, node: ast.IfExp) -> Values:
        self.value(node.test)
        outer = self.names
        self.names = dict(outer)
        self.narrow(node.test)
        body = self.value(node.body)
        self.names = outer
        return union([body, self.value(node.orelse)])

    def _subscript(self, node: ast.Subscript) -> Values:
        values = self.value(node.value)
        self.value(node.slice)
        return union([self._item(value, node.slice) for value in values]) if values else ()

    def _item(self, value: Value, key: ast.expr) -> Values:
        if type(value) is Class:
            return (value,)  # a generic class with its parameters
        if type(value) is not Instance:
            return ()
        name = value.of.name
        if type(key) is ast.Slice or name == "str":
            return (value,) if name in ("str", "bytes", "list", "tuple", "bytearray") else ()
        if name == "tuple" and value.args:
            at = key.value if isinstance(key, ast.Constant) else None
            if type(at) is int and at < len(value.args):
                return value.args[at]
            return union(value.args)
        return self.called(self.attributes((value,), "__getitem__"), ())

    def _await(self, node: ast.Await) -> Values:
        values = self.value(node.value)
        return union(
            [v.args[0] for v in values if type(v) is Instance and v.args and v.of.name in _AWAITABLE]
        )

    def _named(self, node: ast.NamedExpr) -> Values:
        values = self.value(node.value)
        self.names[node.target.id] = values
        return values

    def _starred(self, node: ast.Starred) -> Values:
        return self.items(self.value(node.value))

    def _slice(self, node: ast.Slice) -> Values:
        self._each([part for part in (node.lower, node.upper, node.step) if part is not None])
        return ()

    def yielded(self, node: ast.Yield | ast.YieldFrom) -> Values:
        """The values that are sent back to a `yield`."""
        if node.value is not None:
            self.value(node.value)
        return ()

    def _each(self, nodes: list[Any]) -> list[Values]:
        values = _VALUES
        return [values[type(node)](self, node) for node in nodes]

    # Calls

    def _call(self, node: ast.Call) -> Values:
        callees = self.value(node.func)
        given = self._each(node.args)
        named = self._each([keyword.value for keyword in node.keywords])
        if self.calls is not None:
            self.calls[node] = CallNote(callees, given, named)
        if not callees:
            return ()
        if len(given) == 1 and type(callees[0]) is Bound and callees[0].function.name in ("append", "add"):
            self._add_item(node.func, callees[0].receiver, given[0])
        if type(callees[0]) is Class or type(callees[0]) is Function:
            special = _SPECIAL.get(callees[0].name)
            if special is not None and callees[0].module.name in _SPECIAL_MODULES:
                return special(self, node, callees[0], given)
        return self.called(callees, given[0] if given else ())

    def _add_item(self, func: ast.expr, container: Instance | Class, values: Values) -> None:
        """Take what is added to an empty list or set as the kind of its items."""
        if (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and type(container) is Instance
        ):
            if _is_empty((container,), ("list", "set", "deque")) and func.value.id in self.names:
                self.names[func.value.id] = (Instance(container.of, (values,)),)

    def called(self, callees: Values, given: Values) -> Values:
        """The values that a call of any of the given values returns."""
        return union([self._result(callee, given) for callee in callees])

    def _result(self, callee: Value, given: Values) -> Values:
        if type(callee) is Class:
            if callee.name in _CONTAINERS and given and callee.module.name in ("builtins", "collections"):
                return (Instance(callee, (self.items(given),)),)
            return (Instance(callee),)
        if type(callee) is Function:
            return self.lookup.returned(callee, None, given, self.fuel)
        if type(callee) is Bound:
            return self.lookup.returned(callee.function, callee.receiver, given, self.fuel)
        if type(callee) is Instance:
            methods = self.lookup.attribute(callee, "__call__", self.fuel)
            return union([self._result(method, given) for method in methods if type(method) is not Instance])
        return ()

    def _super(self, node: ast.Call, _: Class | Function, given: list[Values]) -> Values:
        of, receiver = self.owner, self.receiver
        if given and given[0] and type(given[0][0]) is Class:
            of = given[0][0]
        return () if of is None or receiver is None else (Super(of, receiver),)

    def _type(self, node: ast.Call, cls: Class | Function, given: list[Values]) -> Values:
        if len(given) != 1:
            return ()
        return tuple(value.of for value in given[0] if type(value) is Instance)

    def _named_tuple(self, node: ast.Call, _: Class | Function, given: list[Values]) -> Values:
        fields = _field_names(node.args[1]) if len(node.args) > 1 else None
        name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if fields is None or not isinstance(name, str):
            return ()
        return (Class(name, None, self.module, fields=fields),)

    # Iteration, targets, parameters, annotations

    def items(self, values: Values) -> Values:
        """The values that iterating over any of the given values gives."""
        return union([self._items_of(value) for value in values]) if values else ()

    def _items_of(self, value: Value) -> Values:
        if type(value) is not Instance:
            return ()
        name = value.of.name
        if name == "str":
            return (value,)
        if value.args:
            return union(value.args) if name == "tuple" else value.args[0]
        iterators = self.called(self.lookup.attribute(value, "__iter__", self.fuel), ())
        args = [it.args[0] for it in iterators if type(it) is Instance and it.args]
        if args:
            return union(args)
        return self.called(self.attributes(tuple(it for it in iterators if it != value), "__next__"), ())

    def store(self, target: ast.expr, values: Values) -> None:
        """Bind a target to values."""
        if isinstance(target, ast.Name):
            self.names[target.id] = values
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self._parts(target.elts, values)
            for element, part in zip(target.elts, parts, strict=True):
                self.store(element, part)
        elif isinstance(target, ast.Starred):
            for name in target_names(target):
                self.names[name] = self._made("list", values)
        elif isinstance(target, ast.Attribute):
            self.value(target.value)
        elif isinstance(target, ast.Subscript):
            self._store_item(target, values)

    def _store_item(self, target: ast.Subscript, values: Values) -> None:
        container, keys = self.value(target.value), self.value(target.slice)
        if isinstance(target.value, ast.Name) and _is_empty(container, ("dict",)):
            self.names[target.value.id] = self._made("dict", keys, values)

    def _parts(self, targets: list[ast.expr], values: Values) -> list[Values]:
        size = len(targets)
        if len(values) == 1 and type(values[0]) is Instance and values[0].of.name == "tuple":
            args = values[0].args
            if len(args) == size and not any(type(target) is ast.Starred for target in targets):
                return list(args)
        return [self.items(values)] * size

    def parameters(self, arguments: ast.arguments) -> dict[str, Values]:
        """The values of parameters, from their annotations or else their defaults."""
        found: dict[str, Values] = {}
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += [*arguments.defaults, *arguments.kw_defaults]
        quiet, self.calls = self.calls, None
        for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
            values: Values = ()
            if argument.annotation is not None:
                values = self.annotated(argument.annotation)
            elif default is not None:
                values = self.value(default)
            found[argument.arg] = values
        self.calls = quiet
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = self._made("tuple")
        if arguments.kwarg is not None:
            found[arguments.kwarg.arg] = self._made("dict", self.lookup.instance("str"), ())
        return found

    def narrow(self, test: ast.expr) -> None:
        """Take what a true `isinstance(name, cls)` says about the name."""
        if isinstance(test, ast.BoolOp) and type(test.op) is ast.And:
            for operand in test.values:
                self.narrow(operand)
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            if len(test.args) == 2 and isinstance(test.args[0], ast.Name):
                quiet, self.calls = self.calls, None
                classes = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
                found = union(self._each(classes))
                self.calls = quiet
                instances = tuple(Instance(value) for value in found if type(value) is Class)
                if instances and len(instances) == len(classes):
                    self.names[test.args[0].id] = self._narrowed(test.args[0], instances)

    def _narrowed(self, name: ast.Name, instances: tuple[Instance, ...]) -> Values:
        """The given instances, or those that the name already stands for if they are among them."""
        before = self._name(name)
        classes = [instance.of for instance in instances]
        kept = tuple(value for value in before if type(value) is Instance and value.of in classes)
        return kept or instances

    def annotated(self, node: ast.expr) -> Values:
        """The values that an annotation allows."""
        if isinstance(node, ast.Constant):
            return self._quoted(node.value) if isinstance(node.value, str) else ()
        if isinstance(node, ast.BinOp):
            return union([self.annotated(node.left), self.annotated(node.right)])
        if isinstance(node, ast.Subscript):
            return self._parametrised(node)
        if isinstance(node, ast.Name) and node.id in self.type_variables:
            return self.type_variables[node.id]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return tuple(Instance(value) for value in self.value(node) if type(value) is Class)
        return ()

    def _quoted(self, text: str) -> Values:
        try:
            return self.annotated(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()

    def _parametrised(self, node: ast.Subscript) -> Values:
        base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in ("Optional", "Union"):
            return union([self.annotated(part) for part in inner])
        if base in ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"):
            return self.annotated(inner[0])
        if base in ("type", "Type"):
            return tuple(value.of for value in self.annotated(inner[0]) if type(value) is Instance)
        if base in ("Literal", "Callable"):
            return ()
        args = tuple(self.annotated(part) for part in inner if not isinstance(part, ast.List))
        return tuple(Instance(v.of, args) for v in self.annotated(node.value) if type(v) is Instance)


_AWAITABLE = ("Coroutine", "Awaitable", "Future", "Task")


def _is_empty(values: Values, kinds: tuple[str, ...]) -> bool:
    """Whether a value is a container of one of the kinds whose items are not known yet."""
    if len(values) != 1 or type(values[0]) is not Instance:
        return False
    return values[0].of.name in kinds and not any(values[0].args)


def _field_names(node: ast.expr) -> tuple[str, ...] | None:
    """The names in `"x y"`, `"x, y"`, `["x", "y"]` or `[("x", int), ("y", int)]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(node.value.replace(",", " ").split())
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    names = [part.elts[0] if isinstance(part, ast.Tuple) and part.elts else part for part in node.elts]
    found = [name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)]
    return tuple(found) if len(found) == len(names) else None


_SPECIAL: dict[str, Callable[..., Values]] = {
    "super": Expressions._super,
    "type": Expressions._type,
    "namedtuple": Expressions._named_tuple,
    "NamedTuple": Expressions._named_tuple,
}
_SPECIAL_MODULES = ("builtins", "collections", "typing")

_VALUES: dict[type[ast.expr], Callable[[Expressions, Any], Values]] = {
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Constant: Expressions._constant,
    ast.JoinedStr: Expressions._joined,
    ast.FormattedValue: Expressions._formatted,
    ast.List: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Tuple: Expressions._tuple,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehended,
    ast.SetComp: Expressions._comprehended,
    ast.GeneratorExp: Expressions._comprehended,
    ast.DictComp: Expressions._dict_comprehended,
    ast.Lambda: Expressions._lambda,
    ast.BinOp: Expressions._bin_op,
    ast.BoolOp: Expressions._bool_op,
    ast.UnaryOp: Expressions._unary_op,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._if_exp,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Await: Expressions._await,
    ast.NamedExpr: Expressions._named,
    ast.Starred: Expressions._starred,
    ast.Call: Expressions._call,
    ast.Yield: lambda self, node: self.yielded(node),
    ast.YieldFrom: lambda self, node: self.yielded(node),
}
