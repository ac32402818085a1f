"""Control flow: the blocks of a function and of everything nested in it.

Nodes of the control-flow graph, in the order in which Python runs them:

- expressions that run code: calls, attribute and subscript access, operators, comparisons, `await`, `yield`, f-strings;
- expressions that decide: tests, the operands of `and` and `or`, the two values of a conditional expression, the
  patterns of `match`. `(compare, "ops", i)` stands for one comparison of a chain. `not` only turns a test around;
- loop heads: the `for` statement or the `comprehension` asks for the next item; `while` has its test;
- `return`, `raise`, `break`, `continue`, `pass`, imports, definitions, augmented assignments, `with` items (entering), an
  `except` clause (an exception has come in), an `assert` (it has failed);
- any other statement of which nothing above is part: `x = y` is a node, `x = f(y)` is run by its call.

`global` and `nonlocal`, annotations without a value and strings that stand alone do nothing and are no nodes.

Decisions. Every function body is a graph of its own; decorators, defaults and annotations run before the definition; a
class body and a generator expression run where they stand. Inside `try`, each node that may raise may go to each clause, and
on outward unless a clause catches everything; if no node is known to raise, every node may. Outside of `try`
only `raise` and `assert` leave a function. A `finally` is built once for every way through it. A `with` passes exceptions
on, except for context managers whose name says that they swallow them (`SWALLOWING`).
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from hyperheat.pycode.blocks import ENTER, NODE, REWRITE, SHIFT, UNBIND, Block, Catch, Cleanup, Loop
from hyperheat.pycode.evaluation import Evaluation
from hyperheat.pycode.scopes import ModuleScope, Names, function_parameters

__all__ = ["SWALLOWING", "Control"]

SWALLOWING = frozenset(
    {
        "assertRaises",
        "assertRaisesRegex",
        "assert_raises",
        "deprecated_call",
        "ignored",
        "raises",
        "suppress",
        "swallow",
    }
)
# beyond this many `finally` inside one another's bodies, the ways through share one copy
_NESTED_COPIES = 3
_CATCH_ALL = "BaseException"


class Control(Evaluation):
    """Builds the blocks of an outermost function: `units[0]` is its body, the others are nested functions."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef, names: Names, module: ModuleScope):
        super().__init__(names)
        self.evaluates_annotations = not module.lazy_annotations
        self.in_class = False
        self.copying = 0
        self.unit_of[function] = 0
        self.open_unit(function, None)
        self.signature(function)
        self.run(function)
        self.write((function, "name"))
        self.append(ENTER)
        for parameter in function_parameters(function.args):
            self.write(parameter)
        self.statements(function.body)
        self.link(self.unit.end)

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            _STATEMENTS[type(statement)](self, statement)

    def run_if_silent(self, node: ast.AST, before: int) -> None:
        """Make a statement a node if nothing of it has been one since `emitted` was `before`."""
        if self.emitted == before:
            self.run(node)

    def signature(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Evaluate what a definition evaluates: decorators, defaults, annotations."""
        for decorator in function.decorator_list:
            self.evaluate(decorator)
        for default in (*function.args.defaults, *function.args.kw_defaults):
            if default is not None:
                self.evaluate(default)
        self.type_parameters(function)
        if self.evaluates_annotations:
            for parameter in function_parameters(function.args):
                if parameter.annotation is not None:
                    self.evaluate(parameter.annotation)
            if function.returns is not None:
                self.evaluate(function.returns)

    def type_parameters(self, node: Any) -> None:
        for parameter in getattr(node, "type_params", ()):
            self.write((parameter, "name"))
            for part in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
                if part is not None:
                    self.evaluate(part)

    # Ways out

    def loop_exit(self) -> Loop:
        return next(frame for frame in reversed(self.frames) if type(frame) is Loop)

    def through_cleanups(self, target: Block, level: int) -> Block:
        """The block to jump to in order to reach `target` outside of all cleanups from `level` on."""
        for frame in self.frames[level:]:
            if type(frame) is Cleanup:
                target = self.copy(frame, target)
        return target

    def copy(self, frame: Cleanup, target: Block) -> Block:
        """The first block of a cleanup that continues at `target`."""
        if target in frame.copies:
            return frame.copies[target][0]
        if self.copying >= _NESTED_COPIES and frame.copies:
            first, last = next(iter(frame.copies.values()))
            last.successors.append(target)
        else:
            outside = (self.block, self.catch, self.frames)
            self.catch, self.frames = frame.catch, self.frames[: frame.level]
            first = self.new()
            self.start(first)
            self.copying += 1
            frame.build()
            self.copying -= 1
            self.link(target)
            last = self.block
            block, self.catch, self.frames = outside
            self.start(block)
        frame.copies[target] = (first, last)
        return first

    def protect(self, body: Callable[[], None], cleanup: Callable[[], None]) -> None:
        """Run `body`, then `cleanup` however it ends."""
        outer = self.catch
        frame = Cleanup(cleanup, outer, len(self.frames))
        catch = self.guard(lambda: self.framed(frame, body))
        after = self.new()
        self.link(self.copy(frame, after))
        if catch.raised:
            catch.entry.successors.append(self.copy(frame, self.uncaught(catch)))
        self.start(after)

    def framed(self, frame: Loop | Cleanup, body: Callable[[], None]) -> None:
        self.frames.append(frame)
        body()
        self.frames.pop()

    def guard(self, body: Callable[[], None]) -> Catch:
        """Run `body` with its exceptions going to a new catch, and return that."""
        outer = self.catch
        catch = self.catch = Catch(outer)
        self.proceed()
        body()
        self.catch = outer
        self.proceed()
        return catch

    def uncaught(self, catch: Catch) -> Block:
        """Where exceptions go on that a catch of the current context does not stop."""
        outer = self.catch
        if outer is not None:
            outer.raised = True
            outer.thrown |= catch.thrown
            return outer.entry
        return self.unit.exit if catch.thrown else self.new()

    def throw(self, node: ast.stmt) -> None:
        """Raise an exception for certain."""
        self.run_risky(node)
        if self.catch is None:
            self.link(self.unit.exit)
        else:
            self.catch.thrown = True
        self.start(self.new())


def _expression(c: Control, node: ast.Expr) -> None:
    value = node.value
    if type(value) is ast.Constant and type(value.value) is str:
        return
    before = c.emitted
    c.evaluate(value)
    if c.emitted == before:
        # a name that stands alone is there to see whether it exists
        (c.run_risky if type(value) is ast.Name else c.run)(value)


def _assign(c: Control, node: ast.Assign) -> None:
    before = c.emitted
    c.evaluate(node.value)
    if c.emitted == before:
        kinds = {type(target) for target in node.targets}
        if kinds & {ast.Tuple, ast.List}:
            c.run_risky(node)
        elif ast.Name in kinds:
            c.run(node)
    for target in node.targets:
        c.assign(target)


def _annotated_assign(c: Control, node: ast.AnnAssign) -> None:
    before = c.emitted
    if node.value is not None:
        c.evaluate(node.value)
    if c.in_class and c.evaluates_annotations:
        c.evaluate(node.annotation)
    if node.value is not None:
        if type(node.target) is ast.Name:
            c.run_if_silent(node, before)
        c.assign(node.target)
    elif type(node.target) is not ast.Name:
        c.evaluate(node.target.value)


def _augmented_assign(c: Control, node: ast.AugAssign) -> None:
    target = node.target
    c.evaluate(target)
    c.evaluate(node.value)
    c.run_risky(node)
    number = c.index.get(target)
    if number is not None:
        c.append(number << SHIFT | REWRITE)


def _delete(c: Control, node: ast.Delete) -> None:
    before = c.emitted
    for target in node.targets:
        c.assign(target)
    c.run_if_silent(node, before)


def _return(c: Control, node: ast.Return) -> None:
    if node.value is not None:
        c.evaluate(node.value)
    c.run(node)
    if node not in c.unit.returns:
        c.unit.returns.append(node)
    c.leave(c.through_cleanups(c.unit.exit, 0))


def _raise(c: Control, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            c.evaluate(part)
    c.throw(node)


def _assert(c: Control, node: ast.Assert) -> None:
    passed, failed = c.new(), c.new()
    c.test(node.test, passed, failed)
    c.start(failed)
    if node.msg is not None:
        c.evaluate(node.msg)
    c.throw(node)
    c.start(passed)


def _pass(c: Control, node: ast.Pass) -> None:
    c.run(node)


def _break(c: Control, node: ast.Break) -> None:
    c.run(node)
    loop = c.loop_exit()
    c.leave(c.through_cleanups(loop.after, c.frames.index(loop)))


def _continue(c: Control, node: ast.Continue) -> None:
    c.run(node)
    loop = c.loop_exit()
    c.leave(c.through_cleanups(loop.head, c.frames.index(loop)))


def _declaration(c: Control, node: ast.Global | ast.Nonlocal) -> None:
    pass


def _import(c: Control, node: ast.Import | ast.ImportFrom) -> None:
    c.run_risky(node)
    for alias in node.names:
        if alias.asname is not None:
            c.write((alias, "asname"))
        elif alias.name != "*":
            c.write((alias, "name"))


def _function(c: Control, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    def body() -> None:
        in_class, c.in_class = c.in_class, False
        c.statements(node.body)
        c.in_class = in_class

    c.signature(node)
    (c.run_risky if node.decorator_list else c.run)(node)
    c.nested(node, body)
    c.write((node, "name"))


def _class(c: Control, node: ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        c.evaluate(decorator)
    c.type_parameters(node)
    for base in node.bases:
        c.evaluate(base)
    for keyword in node.keywords:
        c.evaluate(keyword.value)
    in_class, c.in_class = c.in_class, True
    c.statements(node.body)
    c.in_class = in_class
    c.run_risky(node)
    c.write((node, "name"))


def _type_alias(c: Control, node: Any) -> None:
    c.type_parameters(node)
    c.evaluate(node.value)
    c.run(node)
    c.assign(node.name)


def _if(c: Control, node: ast.If) -> None:
    then, otherwise, after = c.new(), c.new(), c.new()
    c.test(node.test, then, otherwise)
    for block, body in ((then, node.body), (otherwise, node.orelse)):
        c.start(block)
        c.statements(body)
        c.link(after)
    c.start(after)


def _while(c: Control, node: ast.While) -> None:
    head, body, otherwise, after = c.proceed(), c.new(), c.new(), c.new()
    c.test(node.test, body, otherwise)
    c.start(body)
    c.framed(Loop(head, after), lambda: c.statements(node.body))
    c.link(head)
    c.start(otherwise)
    c.statements(node.orelse)
    c.link(after)
    c.start(after)


def _for(c: Control, node: ast.For | ast.AsyncFor) -> None:
    c.evaluate(node.iter)
    head, otherwise, after = c.proceed(), c.new(), c.new()
    c.run_risky(node)
    c.fork(otherwise)
    c.assign(node.target)
    c.framed(Loop(head, after), lambda: c.statements(node.body))
    c.link(head)
    c.start(otherwise)
    c.statements(node.orelse)
    c.link(after)
    c.start(after)


def _with(c: Control, node: ast.With | ast.AsyncWith) -> None:
    swallows = False
    for item in node.items:
        c.evaluate(item.context_expr)
        c.run_risky(item)
        if item.optional_vars is not None:
            c.assign(item.optional_vars)
        swallows |= _swallows(item.context_expr)
    if not swallows:
        c.statements(node.body)
        return
    catch = c.guard(lambda: c.statements(node.body))
    catch.entry.successors += [c.block, c.uncaught(catch)]


def _swallows(manager: ast.expr) -> bool:
    """Does the visible name of a context manager say that it stops exceptions?"""
    if not isinstance(manager, ast.Call):
        return False
    match manager.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in SWALLOWING
    return False


def _try(c: Control, node: Any) -> None:
    if node.finalbody:
        c.protect(lambda: _try_except(c, node), lambda: c.statements(node.finalbody))
    else:
        _try_except(c, node)


def _try_except(c: Control, node: Any) -> None:
    if not node.handlers:
        c.statements(node.body)
        return
    first = len(c.blocks)
    catch = c.guard(lambda: c.statements(node.body))
    if not catch.raised:
        for block in c.blocks[first:]:
            if block.catch is catch:
                # NODE becomes RAISES
                block.items[:] = [item | 1 if item & 7 == NODE else item for item in block.items]
    c.statements(node.orelse)
    after = c.new()
    c.link(after)
    _handlers(c, node, catch, after)
    c.start(after)


def _handlers(c: Control, node: Any, catch: Catch, after: Block) -> None:
    """Try the clauses one after the other; in `except*` the ones that follow may run too."""
    exhaustive = False
    c.start(catch.entry)
    for handler in node.handlers:
        if handler.type is not None:
            c.evaluate(handler.type)
        exhaustive |= handler.type is None or (
            isinstance(handler.type, ast.Name) and handler.type.id == _CATCH_ALL
        )
        body, following = c.new(), c.new()
        c.link(body)
        c.link(following)
        c.start(body)
        _handler(c, handler)
        c.link(after)
        if type(node) is ast.TryStar:
            c.link(following)
        c.start(following)
    if not exhaustive:
        c.link(c.uncaught(catch))


def _handler(c: Control, node: ast.ExceptHandler) -> None:
    c.run(node)
    if node.name is None:
        c.statements(node.body)
        return
    name = (node, "name")
    c.write(name)
    c.protect(lambda: c.statements(node.body), lambda: c.append(c.index[name] << SHIFT | UNBIND))


def _match(c: Control, node: ast.Match) -> None:
    c.evaluate(node.subject)
    after = c.new()
    for case in node.cases:
        body, following = c.new(), c.new()
        before = c.emitted
        c.match_pattern(case.pattern, following)
        c.run_if_silent(case.pattern, before)
        c.capture(case.pattern)
        if case.guard is not None:
            c.test(case.guard, body, following)
        else:
            c.link(body)
        c.start(body)
        c.statements(case.body)
        c.link(after)
        c.start(following)
    c.link(after)
    c.start(after)


_STATEMENTS: dict[type, Callable[[Control, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented_assign,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Pass: _pass,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Global: _declaration,
    ast.Nonlocal: _declaration,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
}
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = _type_alias  # type: ignore[attr-defined]
