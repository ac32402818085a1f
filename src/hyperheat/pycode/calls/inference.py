"""What calls call: inference over the syntax of a module, its project and the signature table."""

import ast
from contextlib import suppress

from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.calls.abstract_values import Bound, Instance, Value, Values, union
from hyperheat.pycode.calls.constructors import constructors
from hyperheat.pycode.calls.definitions import (
    Annotated,
    Assigned,
    Binding,
    Class,
    Function,
    ModuleDefinitions,
)
from hyperheat.pycode.calls.environment import CallNote, Surroundings, annotated
from hyperheat.pycode.calls.execution import Execution
from hyperheat.pycode.calls.expressions import Expressions
from hyperheat.pycode.calls.name_lookup import NameLookup
from hyperheat.pycode.calls.signatures import Callee, visible_name

__all__ = ["Resolver"]

_FUEL = 3
_MANAGERS = {"contextmanager": "ContextManager", "asynccontextmanager": "AsyncContextManager"}
_MOST_SITES = 10  # calls that are asked what they pass to a function


class Resolver(NameLookup):
    """Finds what calls call, by inference over the syntax alone."""

    def calls(
        self, function: FunctionNode, module: ModuleDefinitions, name: str | None
    ) -> dict[ast.Call, CallNote]:
        """What each call inside a function may call, and with which values."""
        calls: dict[ast.Call, CallNote] = {}
        owner = module.owner_of(function, name)
        outside = Execution(Surroundings(self, module, owner, {}, _FUEL), calls)
        outside.class_body = owner
        outside.in_class_body = owner is not None
        outside.block([function])
        outside.nested()
        return calls

    def candidates(self, call: ast.Call, values: Values) -> list[Callee]:
        """The values that can be called, with their formal parameters."""
        found: list[Callee] = []
        for value in values:
            if type(value) is Function:
                name = value.name or visible_name(call.func)
                found.append(Callee(name, value.signature, None, value.kind == "overload"))
            elif type(value) is Bound:
                found.append(_bound(value))
            elif type(value) is Class:
                found += constructors(value, self, _FUEL)
            elif type(value) is Instance:
                methods = self.attribute(value, "__call__", _FUEL)
                found += [_bound(method) for method in methods if type(method) is Bound]
        return found

    # What inference asks back

    def expression(
        self, node: ast.expr, module: ModuleDefinitions, around: Class | None, fuel: int
    ) -> Values:
        try:
            return self._scope(module, around, fuel).value(node)
        except RecursionError:  # modules of a project may be deeper than those that are analysed
            return ()

    def base(self, node: ast.expr, of: Class, fuel: int) -> Values:
        return Expressions(Surroundings(self, of.module, None, of.closure or {}, fuel)).value(node)

    def annotation(
        self, node: ast.expr, module: ModuleDefinitions, around: Class | None, fuel: int
    ) -> Values:
        return annotated(node, self._scope(module, around, fuel))

    def in_method(self, binding: Binding, method: Function, fuel: int) -> Values:
        if isinstance(method.node, ast.Lambda):
            return ()
        if isinstance(binding, Annotated):
            return annotated(binding.annotation, self._scope(method.module, method.owner, fuel))
        if isinstance(binding, Assigned):
            return self._walked(method, fuel).assigned.get(binding.value, ())
        return ()

    def given(self, function: Function, fuel: int) -> dict[str, Values]:
        names = [function.name]
        if function.owner is not None and function.name in ("__init__", "__new__"):
            names.append(function.owner.name)
        sites = [site for name in names for site in function.module.call_sites.get(name, ())]
        found: dict[str, list[Values]] = {}
        for call, caller in sites[:_MOST_SITES]:
            note = (self._walked(caller, fuel).calls or {}).get(call)
            if note is None:  # inside a nested function
                continue
            for callee in note.callees:
                formals = self._formals(callee, function)
                if formals is not None:
                    _pass(call, note, formals, found)
        return {name: union(values) for name, values in found.items()}

    def _formals(self, callee: Value, function: Function) -> tuple[str, ...] | None:
        """The formals that a call fills by position if it calls the given function."""
        if type(callee) is Class:
            bindings = callee.members.get(function.name, ()) if callee.fields is None else ()
            return function.signature.positional[1:] if any(_same(b, function) for b in bindings) else None
        if type(callee) is Bound:
            return function.signature.positional[1:] if _same(callee.function, function) else None
        return function.signature.positional if _same(callee, function) else None

    def returned(self, function: Function, receiver: Value | None, given: Values, fuel: int) -> Values:
        node = function.node
        if isinstance(node, ast.Lambda):
            return ()
        if node.returns is not None:
            values = self._declared(function, node.returns, receiver, given, fuel)
        elif fuel <= 0:
            return ()
        else:
            values = self._inferred(function, fuel)
            if isinstance(receiver, Instance) and function.owner is not None:
                own = Instance(function.owner)
                values = tuple(receiver if value == own else value for value in values)
        for decorator, kind in _MANAGERS.items():
            if decorator in function.decorators:
                yielded = union([v.args[0] for v in values if type(v) is Instance and v.args])
                return self._wrapped(kind, yielded)
        return values

    def _declared(
        self, function: Function, returns: ast.expr, receiver: Value | None, given: Values, fuel: int
    ) -> Values:
        scope = self._scope(function.module, function.owner, fuel)
        args = receiver.args if isinstance(receiver, Instance) else ()
        if isinstance(receiver, Class):
            receiver = Instance(receiver)
        scope.type_variables = {"Self": (receiver,) if receiver is not None else ()}
        if function.module.is_library:
            items = args[0] if args else scope.items(given)
            scope.type_variables.update(Item=items, Key=items, Value=args[1] if len(args) > 1 else ())
        values = annotated(returns, scope)
        is_async = isinstance(function.node, ast.AsyncFunctionDef)
        return self._wrapped("Coroutine", values) if is_async else values

    def _inferred(self, function: Function, fuel: int) -> Values:
        memo = self._memo(function.module)
        key = (function, "returned", fuel)
        if key not in memo:
            body = self._walked(function, fuel - 1)
            if body.is_generator:
                memo[key] = self._wrapped("Generator", union(body.yields))
            elif isinstance(function.node, ast.AsyncFunctionDef):
                memo[key] = self._wrapped("Coroutine", union(body.returns))
            else:
                memo[key] = union(body.returns)
        return memo[key]

    def _wrapped(self, kind: str, values: Values) -> Values:
        return (Instance.having(self.builtin(kind), (values,)),)

    def _scope(self, module: ModuleDefinitions, around: Class | None, fuel: int) -> Expressions:
        closure = {} if around is None else around.closure or {}
        scope = Expressions(Surroundings(self, module, None, closure, fuel))
        scope.class_body = around
        return scope

    def _walked(self, function: Function, fuel: int) -> Execution:
        """A function's body after it has been walked."""
        memo = self._memo(function.module)
        key = (function.node, "walked", fuel)
        body = memo.get(key)
        if body is None:
            closure = function.closure or (function.owner and function.owner.closure) or {}
            # What is kept of the library must not keep a project alive.
            resolver = Resolver(None) if function.module.is_library else self
            body = memo[key] = Execution(
                Surroundings(resolver, function.module, function.owner, closure, fuel), {}
            )
            with suppress(RecursionError):  # several deeply nested functions that call each other
                body.enter(function)
                body.block(function.node.body)  # pyright: ignore[reportArgumentType]
        return body


def _same(value: object, function: Function) -> bool:
    """Whether a definition is the given one, or was before it was rewritten."""
    if type(value) is not Function or value.name != function.name or value.module is not function.module:
        return False
    return value.owner is function.owner and value.within == function.within


def _pass(call: ast.Call, note: CallNote, formals: tuple[str, ...], found: dict[str, list[Values]]) -> None:
    """Note the values that a call passes for each formal."""
    for argument, formal, values in zip(call.args, formals, note.given, strict=False):
        if type(argument) is ast.Starred:
            break
        found.setdefault(formal, []).append(values)
    for keyword, values in zip(call.keywords, note.named, strict=True):
        if keyword.arg is not None:
            found.setdefault(keyword.arg, []).append(values)


def _bound(method: Bound) -> Callee:
    signature = method.function.signature
    receiver = signature.positional[0] if signature.positional else "self"
    overload = method.function.kind == "overload"
    return Callee(method.function.name, signature.without_first(), receiver, overload)
