"""The values of expressions, from the values of the names in reach."""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.calls.abstract_values import Bound, Instance, Value, Values, union
from hyperheat.pycode.calls.builtin_calls import special_result
from hyperheat.pycode.calls.definitions import Class, Function
from hyperheat.pycode.calls.environment import CallNote, Environment, annotated
from hyperheat.pycode.syntax.traversal import target_names

__all__ = ["Expressions"]

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


class Expressions(Environment):
    """Finds the values of expressions."""

    def value(self, node: ast.expr) -> Values:
        return _VALUES[type(node)](self, node)

    def _name(self, node: ast.Name) -> Values:
        return self.name(node.id)

    def _attribute(self, node: ast.Attribute) -> Values:
        return self.attributes(self.value(node.value), node.attr)

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
        return self.made(kind, union(self._each(node.elts)))

    def _tuple(self, node: ast.Tuple) -> Values:
        return self.made("tuple", *self._each(node.elts))

    def _dict(self, node: ast.Dict) -> Values:
        keys = union(self._each([key for key in node.keys if key is not None]))
        pairs = zip(node.keys, self._each(node.values), strict=True)
        return self.made("dict", keys, union([values for key, values in pairs if key is not None]))

    def _comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "Generator")
        return self.made(kind, self._inside(node.generators, [node.elt])[0])

    def _dict_comprehended(self, node: ast.DictComp) -> Values:
        return self.made("dict", *self._inside(node.generators, [node.key, node.value]))

    def _inside(self, generators: list[ast.comprehension], results: list[ast.expr]) -> list[Values]:
        """The values of a comprehension's results, its targets bound meanwhile."""
        own = [name for generator in generators for name in target_names(generator.target)]
        hidden = {name: self.names.get(name) for name in own}
        for generator in generators:
            self.store(generator.target, self.items(self.value(generator.iter)))
            self._each(generator.ifs)
            for test in generator.ifs:
                self.narrow(test, hidden)
        values = self._each(results)
        self._restore(hidden)
        return values

    def _lambda(self, node: ast.Lambda) -> Values:
        arguments = node.args
        self._each([default for default in (*arguments.defaults, *arguments.kw_defaults) if default])
        own = self.parameters(arguments)
        hidden = {name: self.names.get(name) for name in own}
        self.names.update(own)
        self.value(node.body)
        self._restore(hidden)
        return (Function("", node, self.module),)

    def _restore(self, hidden: dict[str, Values | None]) -> None:
        """Give names the values back that they had outside."""
        for name, values in hidden.items():
            if values is None:
                self.names.pop(name, None)
            else:
                self.names[name] = values

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
        hidden: dict[str, Values | None] = {}
        values: Values = ()
        for operand in node.values:
            values = self.value(operand)
            self.narrow(operand, hidden)
        self._restore(hidden)
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
        hidden: dict[str, Values | None] = {}
        self.narrow(node.test, hidden)
        body = self.value(node.body)
        self._restore(hidden)
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
        special = special_result(node, callees[0], given, self)
        return self.called(callees, given[0] if given else ()) if special is None else special

    def _add_item(self, func: ast.expr, container: Instance | Class, values: Values) -> None:
        """Take what is added to an empty list or set as the kind of its items."""
        if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)):
            return
        if type(container) is Instance and _is_empty((container,), ("list", "set", "deque")):
            self.names[func.value.id] = (Instance.having(container.of, (values,)),)

    # Targets and parameters

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
                self.names[name] = self.made("list", values)
        elif isinstance(target, ast.Attribute):
            self.value(target.value)
        elif isinstance(target, ast.Subscript):
            self._store_item(target, values)

    def _store_item(self, target: ast.Subscript, values: Values) -> None:
        container, keys = self.value(target.value), self.value(target.slice)
        if isinstance(target.value, ast.Name) and _is_empty(container, ("dict",)):
            self.names[target.value.id] = self.made("dict", keys, values)

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
        calls, self.calls = self.calls, None  # noted where the function is defined
        for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
            values: Values = ()
            if argument.annotation is not None:
                values = annotated(argument.annotation, self)
            elif default is not None:
                values = self.value(default)
            found[argument.arg] = values
        self.calls = calls
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = self.made("tuple")
        if arguments.kwarg is not None:
            found[arguments.kwarg.arg] = self.made("dict", self.lookup.instance("str"), ())
        return found

    def narrow(self, test: ast.expr, hidden: dict[str, Values | None]) -> None:
        """Take what a true `isinstance(name, cls)` says about the name; note in `hidden` what it was before."""
        if isinstance(test, ast.BoolOp) and type(test.op) is ast.And:
            for operand in test.values:
                self.narrow(operand, hidden)
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and len(test.args) == 2):
            return
        name, classes = test.args
        if test.func.id != "isinstance" or not isinstance(name, ast.Name):
            return
        calls, self.calls = self.calls, None  # noted already
        nodes = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        instances = [Instance(value) for value in union(self._each(nodes)) if type(value) is Class]
        self.calls = calls
        if instances and len(instances) == len(nodes):
            hidden.setdefault(name.id, self.names.get(name.id))
            self.names[name.id] = self._narrowed(name.id, instances)

    def _narrowed(self, name: str, instances: list[Instance]) -> Values:
        """The given instances, or those that the name already stands for if they are among them."""
        classes = [instance.of for instance in instances]
        kept = [value for value in self.name(name) if type(value) is Instance and value.of in classes]
        return tuple(kept or instances)


_AWAITABLE = ("Coroutine", "Awaitable", "Future", "Task")


def _is_empty(values: Values, kinds: tuple[str, ...]) -> bool:
    """Whether a value is a container of one of the kinds whose items are not known yet."""
    if len(values) != 1 or type(values[0]) is not Instance:
        return False
    return values[0].of.name in kinds and not any(values[0].args)


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
