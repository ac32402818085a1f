"""The values of names through the statements of a body, in the order of execution.

Branches are followed one by one and joined; the body of a loop is read twice, because what it assigns may come
round. Functions inside are read after the body around them, when the names they close over have their values.
"""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.calls.abstract_values import Instance, Values, union
from hyperheat.pycode.calls.definitions import Class, Function, Imported
from hyperheat.pycode.calls.environment import CallNote, Surroundings, annotated
from hyperheat.pycode.calls.expressions import Expressions
from hyperheat.pycode.syntax.traversal import own_statements, target_names

__all__ = ["Execution", "local_names"]


class Execution(Expressions):
    """Walks the statements of a function or class and keeps what they return and yield."""

    in_class_body = False

    def __init__(self, place: Surroundings, calls: dict[ast.Call, CallNote] | None = None) -> None:
        super().__init__(place, calls)
        self.assigned: dict[ast.expr, Values] = {}  # what assignments found their right sides to be
        self.returns: list[Values] = []
        self.yields: list[Values] = []
        self.is_generator = False
        self.function: Function | None = None
        self._later: list[Function] = []
        self._rehearsing = False

    def enter(self, function: Function) -> None:
        """Take the names that a function starts with: its parameters, and its locals as yet without value."""
        self.function = function
        arguments = function.node.args
        self.names = {**dict.fromkeys(local_names(function.node), ()), **self.parameters(arguments)}
        positional = [*arguments.posonlyargs, *arguments.args]
        if function.owner is not None and positional and positional[0].annotation is None:
            self.receiver = _receiver(function, function.owner)
            if self.receiver is not None:
                self.names[positional[0].arg] = (self.receiver,)
        self._take_arguments(function)

    def _take_arguments(self, function: Function) -> None:
        """Let calls in the module say what parameters are of which the function itself says nothing."""
        unknown = [name for name in _parameter_names(function.node.args) if not self.names[name]]
        if unknown and self.fuel > 0:
            given = self.lookup.given(function, self.fuel - 1)
            for name in unknown:
                self.names[name] = given.get(name, ())

    def block(self, statements: list[Any]) -> bool:
        """Walk statements; tell whether control cannot come out of their end."""
        ends = False
        for statement in statements:
            walk = _STATEMENTS.get(type(statement))
            if walk is not None and walk(self, statement):
                ends = True
        return ends

    def nested(self) -> None:
        """Walk the functions inside, now that the body around them is done."""
        closure = self.closure if self.in_class_body else {**self.closure, **self.names}
        for function in self._later:
            owner = function.owner
            inner = Execution(Surroundings(self.lookup, self.module, owner, closure, self.fuel), self.calls)
            inner.enter(function)
            if owner is None:  # `super()` in a function inside a method means the method's class
                inner.owner, inner.receiver = self.owner, self.receiver
            inner.block(function.node.body)  # pyright: ignore[reportArgumentType]
            inner.nested()

    # Simple statements

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _return(self, node: ast.Return) -> bool:
        self.returns.append(() if node.value is None else self.value(node.value))
        return True

    def _raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.value(part)
        return True

    def _jump(self, node: ast.Break | ast.Continue) -> bool:
        return True

    def _assert(self, node: ast.Assert) -> None:
        self.value(node.test)
        self.narrow(node.test, {})
        if node.msg is not None:
            self.value(node.msg)

    def _assign(self, node: ast.Assign) -> None:
        values = self.assigned[node.value] = self.value(node.value)
        for target in node.targets:
            self.store(target, values)

    def _annotated_assign(self, node: ast.AnnAssign) -> None:
        values = () if node.value is None else self.value(node.value)
        self.store(node.target, annotated(node.annotation, self) or values)

    def _augmented(self, node: ast.AugAssign) -> None:
        self.value(node.value)
        if not isinstance(node.target, ast.Name):
            self.value(node.target)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.store(target, ())

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            values = self.lookup.imported(Imported(name, None, 0), self.module, self.fuel)
            self.names[alias.asname or name] = values

    def _import_from(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            imported = Imported(node.module or "", alias.name, node.level)
            self.names[alias.asname or alias.name] = self.lookup.imported(imported, self.module, self.fuel)

    # Branches

    def _if(self, node: ast.If) -> bool:
        self.value(node.test)
        before = self.names
        self.names = dict(before)
        self.narrow(node.test, {})
        ends = self.block(node.body)
        after, self.names = self.names, dict(before)
        if isinstance(node.test, ast.UnaryOp) and type(node.test.op) is ast.Not:
            self.narrow(node.test.operand, {})
        others = self.block(node.orelse)
        if others and not ends:
            self.names = after
        elif not ends:
            self._join(after)
        return ends and others

    def _while(self, node: ast.While) -> None:
        self.value(node.test)
        before = dict(self.names)
        self._rehearse(node.body, before)
        self.narrow(node.test, {})
        self.block(node.body)
        self._join(before)
        self.block(node.orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        items = self.items(self.value(node.iter))
        before = dict(self.names)
        self.store(node.target, items)
        self._rehearse(node.body, before)
        self.store(node.target, items)
        self.block(node.body)
        self._join(before)
        self.block(node.orelse)

    def _rehearse(self, body: list[ast.stmt], before: dict[str, Values]) -> None:
        """Walk the body of a loop to learn what its names may be when it comes round; nothing else is kept."""
        if self._rehearsing:
            return
        kept = self.calls, self.returns, self.yields, self._later
        self.calls, self.returns, self.yields, self._later = None, [], [], []
        self._rehearsing = True
        self.block(body)
        self._rehearsing = False
        self.calls, self.returns, self.yields, self._later = kept
        self._join(before)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        enter = "__enter__" if type(node) is ast.With else "__aenter__"
        for item in node.items:
            managers = self.value(item.context_expr)
            if item.optional_vars is not None:
                values = self.called(self.attributes(managers, enter), ())
                if type(node) is ast.AsyncWith:
                    values = union([v.args[0] for v in values if type(v) is Instance and v.args])
                self.store(item.optional_vars, values)
        self.block(node.body)

    def _try(self, node: ast.Try) -> bool:
        before = dict(self.names)
        ends = self.block(node.body)
        ends = self.block(node.orelse) or ends
        after = self.names
        for handler in node.handlers:
            self.names = dict(before)
            self._join(after)
            if handler.type is not None:
                caught = self._caught(self.value(handler.type))
                if handler.name is not None:
                    self.names[handler.name] = caught
            if not self.block(handler.body):
                self._join(after)
                after, ends = self.names, False
        self.names = after
        return self.block(node.finalbody) or ends

    def _caught(self, types: Values) -> Values:
        """The exceptions that a handler's type stands for: a class or a tuple of classes."""
        classes = [v for v in types if type(v) is Class]
        for value in types:
            if type(value) is Instance:
                classes += [v for values in value.args for v in values if type(v) is Class]
        return tuple(Instance(cls) for cls in classes)

    def _match(self, node: ast.Match) -> None:
        self.value(node.subject)
        before = dict(self.names)
        after = before
        for case in node.cases:
            self.names = dict(before)
            self._pattern(case.pattern)
            if case.guard is not None:
                self.value(case.guard)
            if not self.block(case.body):
                self._join(after)
                after = self.names
        self.names = after

    def _pattern(self, pattern: ast.pattern) -> None:
        for part in ast.walk(pattern):
            if isinstance(part, ast.MatchAs) and part.name is not None:
                cls = part.pattern.cls if isinstance(part.pattern, ast.MatchClass) else None
                found = () if cls is None else self.value(cls)
                self.names[part.name] = tuple(Instance(v) for v in found if type(v) is Class)
            elif isinstance(part, ast.MatchStar) and part.name is not None:
                self.names[part.name] = ()
            elif isinstance(part, ast.MatchMapping) and part.rest is not None:
                self.names[part.rest] = ()

    def _join(self, other: dict[str, Values]) -> None:
        """Take the values that names have on another path into account."""
        names = self.names
        for name, values in other.items():
            mine = names.get(name)
            if mine is None:
                names[name] = values
            elif mine is not values and mine != values:
                names[name] = union([mine, values])

    # Definitions

    def _function(self, node: FunctionNode) -> None:
        self._each(node.decorator_list)
        arguments = node.args
        self._each([default for default in (*arguments.defaults, *arguments.kw_defaults) if default])
        owner = self.owner if self.in_class_body else None
        closure = self.closure if self.in_class_body else {**self.closure, **self.names}
        around = self.function
        within = "" if around is None else f"{around.within}.{around.name}"
        function = Function(node.name, node, self.module, owner, closure, within)
        self.names[node.name] = (function,)
        self._later.append(function)

    def _class(self, node: ast.ClassDef) -> None:
        self._each(node.decorator_list)
        self._each(node.bases)
        for keyword in node.keywords:
            self.value(keyword.value)
        closure = {**self.closure, **self.names}
        made = Class(node.name, node, self.module, closure)
        self.names[node.name] = (made,)
        if self.calls is not None:
            inner = Execution(Surroundings(self.lookup, self.module, made, closure, self.fuel), self.calls)
            inner.in_class_body = True
            inner.function = self.function
            inner.block(node.body)
            self._later += inner._later

    def yielded(self, node: ast.Yield | ast.YieldFrom) -> Values:
        self.is_generator = True
        values = () if node.value is None else self.value(node.value)
        self.yields.append(self.items(values) if type(node) is ast.YieldFrom else values)
        return ()


def _receiver(function: Function, owner: Class) -> Instance | Class | None:
    """What the first parameter of a method stands for."""
    if function.kind == "classmethod" or function.name == "__new__":
        return owner
    return None if function.kind == "staticmethod" else Instance(owner)


def _parameter_names(arguments: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def local_names(node: FunctionNode | ast.Lambda) -> dict[str, None]:
    """The names that a function's statements bind in its own scope, in source order."""
    if isinstance(node, ast.Lambda):
        return {}
    found: dict[str, None] = {}
    elsewhere: list[str] = []
    for statement in own_statements(node.body):
        collect = _BINDERS.get(type(statement))
        if collect is not None:
            found.update(dict.fromkeys(collect(statement)))
        elif type(statement) is ast.Global or type(statement) is ast.Nonlocal:
            elsewhere += statement.names
    for name in elsewhere:
        found.pop(name, None)
    return found


def _targets(statement: ast.Assign | ast.Delete) -> list[str]:
    return [name for target in statement.targets for name in target_names(target)]


def _imports(statement: ast.Import | ast.ImportFrom) -> list[str]:
    return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]


def _captures(case: ast.match_case) -> list[str]:
    found = [getattr(part, "name", None) or getattr(part, "rest", None) for part in ast.walk(case.pattern)]
    return [name for name in found if name]


_BINDERS: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Assign: _targets,
    ast.Delete: _targets,
    ast.AugAssign: lambda statement: target_names(statement.target),
    ast.AnnAssign: lambda statement: target_names(statement.target),
    ast.For: lambda statement: target_names(statement.target),
    ast.AsyncFor: lambda statement: target_names(statement.target),
    ast.With: lambda s: [n for i in s.items if i.optional_vars for n in target_names(i.optional_vars)],
    ast.AsyncWith: lambda s: [n for i in s.items if i.optional_vars for n in target_names(i.optional_vars)],
    ast.Import: _imports,
    ast.ImportFrom: _imports,
    ast.FunctionDef: lambda statement: [statement.name],
    ast.AsyncFunctionDef: lambda statement: [statement.name],
    ast.ClassDef: lambda statement: [statement.name],
    ast.ExceptHandler: lambda handler: [handler.name] if handler.name else [],
    ast.match_case: _captures,
}

_STATEMENTS: dict[type[ast.stmt], Callable[[Execution, Any], bool | None]] = {
    ast.Expr: Execution._expression,
    ast.Return: Execution._return,
    ast.Raise: Execution._raise,
    ast.Break: Execution._jump,
    ast.Continue: Execution._jump,
    ast.Assert: Execution._assert,
    ast.Assign: Execution._assign,
    ast.AnnAssign: Execution._annotated_assign,
    ast.AugAssign: Execution._augmented,
    ast.Delete: Execution._delete,
    ast.Import: Execution._import,
    ast.ImportFrom: Execution._import_from,
    ast.If: Execution._if,
    ast.While: Execution._while,
    ast.For: Execution._for,
    ast.AsyncFor: Execution._for,
    ast.With: Execution._with,
    ast.AsyncWith: Execution._with,
    ast.Try: Execution._try,
    ast.TryStar: Execution._try,
    ast.Match: Execution._match,
    ast.FunctionDef: Execution._function,
    ast.AsyncFunctionDef: Execution._function,
    ast.ClassDef: Execution._class,
}
