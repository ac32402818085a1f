"""Control flow: the blocks of a function and of everything nested in it.

Nodes of the control-flow graph, in the order in which Python runs them:

- expressions that run code: calls, attribute and subscript access, operators, comparisons, `await`,
  `yield`, f-strings;
- expressions that decide: tests, operands of `and` and `or`, the two values of a conditional expression,
  patterns of `match`. `(compare, "ops", i)` is one comparison of a chain. `not` only turns a test around;
- loop heads: a `for` statement or a `comprehension` asks for the next item; a `while` has its test;
- `return`, `raise`, `break`, `continue`, `pass`, imports, definitions, augmented assignments, `with` items
  (they are entered), `except` clauses (an exception has come in) and `assert` (it has failed);
- any other statement of which nothing above is a part: `x = y` is a node, `x = f(y)` is run by its call.

`global`, `nonlocal`, annotations without a value and strings that stand alone do nothing and are no nodes.

Every function body is a graph of its own. Decorators, defaults and annotations run before the definition; a
class body and a generator expression run where they stand. Inside `try`, every node that may raise may go
to each clause, and on outward unless one of them catches everything; if no node is known to raise, all of
them may. Outside of `try` only `raise` and `assert` leave a function. A `finally` is built once for every
way through it. A `with` passes exceptions on, except for context managers whose names say that they stop
them (`SWALLOWING`).
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.flow.blocks import (
    CODE,
    ENTER,
    NODE,
    RAISES,
    REWRITE,
    SHIFT,
    UNBIND,
    Block,
    BlockBuilder,
    Catch,
    Loop,
)
from hyperheat.pycode.flow.evaluation_order import assign, capture, evaluate, match_pattern, test
from hyperheat.pycode.names.function_names import FunctionNames
from hyperheat.pycode.names.scopes import ModuleScope, function_parameters

__all__ = ["SWALLOWING", "build_blocks"]

SWALLOWING = frozenset(
    {"assertRaises", "assertRaisesRegex", "assert_raises", "ignored", "raises", "suppress", "swallow"}
)


def build_blocks(function: FunctionNode, names: FunctionNames, module: ModuleScope) -> BlockBuilder:
    """Build the units of an outermost function: `units[0]` is its body, the others are nested functions."""
    b = BlockBuilder(names.index, lazy_annotations=module.lazy_annotations)
    b.open_unit(function)
    _signature(b, function)
    b.run(function)
    b.write((function, "name"))
    b.append(ENTER)
    b.fill_unit(lambda: _statements(b, function.body))
    return b


def _statements(b: BlockBuilder, body: Iterable[ast.stmt]) -> None:
    for statement in body:
        _STATEMENTS[type(statement)](b, statement)


def _signature(b: BlockBuilder, function: FunctionNode) -> None:
    """Evaluate what a definition evaluates: decorators, defaults, annotations."""
    for decorator in function.decorator_list:
        evaluate(b, decorator)
    for default in (*function.args.defaults, *function.args.kw_defaults):
        if default is not None:
            evaluate(b, default)
    _type_parameters(b, function)
    if b.lazy_annotations:
        return
    for parameter in function_parameters(function.args):
        if parameter.annotation is not None:
            evaluate(b, parameter.annotation)
    if function.returns is not None:
        evaluate(b, function.returns)


def _type_parameters(b: BlockBuilder, node: Any) -> None:
    for parameter in getattr(node, "type_params", ()):
        b.write((parameter, "name"))
        for part in (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)):
            if part is not None:
                evaluate(b, part)


def _run_if_silent(b: BlockBuilder, node: ast.AST, before: int) -> None:
    """Make a statement a node if nothing of it has been one since `emitted` was `before`."""
    if b.emitted == before:
        b.run(node)


def _expression(b: BlockBuilder, node: ast.Expr) -> None:
    value = node.value
    if type(value) is ast.Constant and type(value.value) is str:
        return
    before = b.emitted
    evaluate(b, value)
    if b.emitted == before:
        # a name that stands alone is there to see whether it exists
        (b.run_risky if type(value) is ast.Name else b.run)(value)


def _assign(b: BlockBuilder, node: ast.Assign) -> None:
    before = b.emitted
    evaluate(b, node.value)
    if b.emitted == before:
        kinds = {type(target) for target in node.targets}
        if kinds & {ast.Tuple, ast.List}:
            b.run_risky(node)
        elif ast.Name in kinds:
            b.run(node)
    for target in node.targets:
        assign(b, target)


def _annotated_assign(b: BlockBuilder, node: ast.AnnAssign) -> None:
    before = b.emitted
    if node.value is not None:
        evaluate(b, node.value)
    if b.in_class and not b.lazy_annotations:
        evaluate(b, node.annotation)
    if node.value is not None:
        if type(node.target) is ast.Name:
            _run_if_silent(b, node, before)
        assign(b, node.target)
    elif not isinstance(node.target, ast.Name):
        evaluate(b, node.target.value)


def _augmented_assign(b: BlockBuilder, node: ast.AugAssign) -> None:
    target = node.target
    evaluate(b, target)
    evaluate(b, node.value)
    b.run_risky(node)
    number = b.index.get(target)
    if number is not None:
        b.append(number << SHIFT | REWRITE)


def _delete(b: BlockBuilder, node: ast.Delete) -> None:
    before = b.emitted
    for target in node.targets:
        assign(b, target)
    _run_if_silent(b, node, before)


def _return(b: BlockBuilder, node: ast.Return) -> None:
    if node.value is not None:
        evaluate(b, node.value)
    b.run(node)
    if node not in b.unit.returns:
        b.unit.returns.append(node)
    b.leave(b.through_cleanups(b.unit.exit, 0))


def _raise(b: BlockBuilder, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            evaluate(b, part)
    b.throw(node)


def _assert(b: BlockBuilder, node: ast.Assert) -> None:
    passed, failed = b.new(), b.new()
    test(b, node.test, passed, failed)
    b.start(failed)
    if node.msg is not None:
        evaluate(b, node.msg)
    b.throw(node)
    b.start(passed)


def _pass(b: BlockBuilder, node: ast.Pass) -> None:
    b.run(node)


def _break(b: BlockBuilder, node: ast.Break) -> None:
    b.run(node)
    loop, level = b.innermost_loop()
    b.leave(b.through_cleanups(loop.after, level))


def _continue(b: BlockBuilder, node: ast.Continue) -> None:
    b.run(node)
    loop, level = b.innermost_loop()
    b.leave(b.through_cleanups(loop.head, level))


def _declaration(b: BlockBuilder, node: ast.Global | ast.Nonlocal) -> None:
    pass


def _import(b: BlockBuilder, node: ast.Import | ast.ImportFrom) -> None:
    b.run_risky(node)
    for alias in node.names:
        if alias.asname is not None:
            b.write((alias, "asname"))
        elif alias.name != "*":
            b.write((alias, "name"))


def _function(b: BlockBuilder, node: FunctionNode) -> None:
    _signature(b, node)
    (b.run_risky if node.decorator_list else b.run)(node)
    b.make_function(node, lambda: _statements(b, node.body))
    b.write((node, "name"))


def _class(b: BlockBuilder, node: ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        evaluate(b, decorator)
    _type_parameters(b, node)
    for base in node.bases:
        evaluate(b, base)
    for keyword in node.keywords:
        evaluate(b, keyword.value)
    in_class, b.in_class = b.in_class, True
    _statements(b, node.body)
    b.in_class = in_class
    b.run_risky(node)
    b.write((node, "name"))


def _type_alias(b: BlockBuilder, node: Any) -> None:
    _type_parameters(b, node)
    evaluate(b, node.value)
    b.run(node)
    assign(b, node.name)


def _if(b: BlockBuilder, node: ast.If) -> None:
    then, otherwise, after = b.new(), b.new(), b.new()
    test(b, node.test, then, otherwise)
    for block, body in ((then, node.body), (otherwise, node.orelse)):
        b.start(block)
        _statements(b, body)
        b.link(after)
    b.start(after)


def _while(b: BlockBuilder, node: ast.While) -> None:
    head, body, otherwise, after = b.proceed(), b.new(), b.new(), b.new()
    test(b, node.test, body, otherwise)
    b.start(body)
    _loop(b, node, head, otherwise, after)


def _for(b: BlockBuilder, node: ast.For | ast.AsyncFor) -> None:
    evaluate(b, node.iter)
    head, otherwise, after = b.proceed(), b.new(), b.new()
    b.run_risky(node)
    b.fork(otherwise)
    assign(b, node.target)
    _loop(b, node, head, otherwise, after)


def _loop(
    b: BlockBuilder, node: ast.While | ast.For | ast.AsyncFor, head: Block, otherwise: Block, after: Block
) -> None:
    """Run the body of a loop back to its head, then what follows its last round."""
    b.framed(Loop(head, after), lambda: _statements(b, node.body))
    b.link(head)
    b.start(otherwise)
    _statements(b, node.orelse)
    b.link(after)
    b.start(after)


def _with(b: BlockBuilder, node: ast.With | ast.AsyncWith) -> None:
    _with_items(b, node.items, node.body)


def _with_items(b: BlockBuilder, items: list[ast.withitem], body: list[ast.stmt]) -> None:
    """Enter the first item and run the others and the body inside it."""
    if not items:
        _statements(b, body)
        return
    item, *others = items
    evaluate(b, item.context_expr)
    b.run_risky(item)

    def inside() -> None:
        if item.optional_vars is not None:
            assign(b, item.optional_vars)
        _with_items(b, others, body)

    if _swallows(item.context_expr):
        catch = b.guard(inside)
        catch.entry.successors += [b.block, b.uncaught(catch)]
    else:
        inside()


def _swallows(manager: ast.expr) -> bool:
    """Does the visible name of a context manager say that it stops exceptions?"""
    if not isinstance(manager, ast.Call):
        return False
    match manager.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in SWALLOWING
    return False


def _try(b: BlockBuilder, node: Any) -> None:
    if node.finalbody:
        b.protect(lambda: _try_except(b, node), lambda: _statements(b, node.finalbody))
    else:
        _try_except(b, node)


def _try_except(b: BlockBuilder, node: Any) -> None:
    if not node.handlers:
        _statements(b, node.body)
        return
    first = len(b.blocks)
    catch = b.guard(lambda: _statements(b, node.body))
    if not catch.raised:
        _suspect_all(b.blocks[first:], catch)
    _statements(b, node.orelse)
    after = b.new()
    b.link(after)
    _handlers(b, node, catch, after)
    b.start(after)


def _suspect_all(blocks: list[Block], catch: Catch) -> None:
    """Let every node raise that is covered by a catch."""
    for block in blocks:
        if block.catch is catch:
            block.items[:] = [
                item >> SHIFT << SHIFT | RAISES if item & CODE == NODE else item for item in block.items
            ]


def _handlers(b: BlockBuilder, node: Any, catch: Catch, after: Block) -> None:
    """Try the clauses one after the other; in `except*` the ones that follow may run too."""
    exhaustive = False
    b.start(catch.entry)
    for handler in node.handlers:
        if handler.type is not None:
            evaluate(b, handler.type)
        exhaustive |= handler.type is None or (
            isinstance(handler.type, ast.Name) and handler.type.id == "BaseException"
        )
        body, following = b.new(), b.new()
        b.link(body)
        b.link(following)
        b.start(body)
        _handler(b, handler)
        b.link(after)
        if type(node) is ast.TryStar:
            b.link(following)
        b.start(following)
    if not exhaustive:
        b.link(b.uncaught(catch))


def _handler(b: BlockBuilder, node: ast.ExceptHandler) -> None:
    b.run(node)
    if node.name is None:
        _statements(b, node.body)
        return
    name = (node, "name")
    b.write(name)
    b.protect(lambda: _statements(b, node.body), lambda: b.append(b.index[name] << SHIFT | UNBIND))


def _match(b: BlockBuilder, node: ast.Match) -> None:
    evaluate(b, node.subject)
    after = b.new()
    for case in node.cases:
        body, following = b.new(), b.new()
        before = b.emitted
        match_pattern(b, case.pattern, following)
        _run_if_silent(b, case.pattern, before)
        capture(b, case.pattern)
        if case.guard is not None:
            test(b, case.guard, body, following)
        else:
            b.link(body)
        b.start(body)
        _statements(b, case.body)
        b.link(after)
        b.start(following)
    b.link(after)
    b.start(after)


_STATEMENTS: dict[type, Callable[[BlockBuilder, Any], None]] = {
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
