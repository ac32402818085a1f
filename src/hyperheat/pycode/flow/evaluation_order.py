"""Evaluation order: what expressions, assignment targets and patterns of `match` do, written into blocks.

`evaluate` appends to the current block and leaves the builder in the block where the value is known.
Expressions that choose between paths (`and`, `or`, conditional expressions, chains of comparisons,
comprehensions) open new ones. A pattern makes its tests in order, and binds its names once it matches as a whole.
"""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.flow.blocks import READ, SHIFT, Block, BlockBuilder

__all__ = ["assign", "capture", "evaluate", "evaluate_visibly", "match_pattern", "test"]


def evaluate(b: BlockBuilder, node: ast.AST) -> None:
    """Evaluate an expression for its value."""
    _EVALUATORS[type(node)](b, node)


def evaluate_visibly(b: BlockBuilder, node: ast.AST) -> None:
    """Evaluate an expression; it is a node of the graph itself when none of its parts is."""
    before = b.emitted
    _EVALUATORS[type(node)](b, node)
    if b.emitted == before:
        b.run(node)


def test(b: BlockBuilder, node: ast.expr, yes: Block, no: Block) -> None:
    """Evaluate an expression for its truth and go on to `yes` or `no`."""
    match node:
        case ast.BoolOp(op=op, values=values):
            for operand in values[:-1]:
                following = b.new()
                test(b, operand, *((following, no) if type(op) is ast.And else (yes, following)))
                b.start(following)
            test(b, values[-1], yes, no)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            test(b, operand, no, yes)
        case ast.IfExp():
            then, otherwise = b.new(), b.new()
            test(b, node.test, then, otherwise)
            b.start(then)
            test(b, node.body, yes, no)
            b.start(otherwise)
            test(b, node.orelse, yes, no)
        case ast.Compare(ops=[_, _, *_]):
            _compare_chain(b, node, no)
            b.link(yes)
            b.link(no)
        case ast.Constant(value=value):
            b.run(node)
            b.link(yes if value else no)
        case _:
            evaluate_visibly(b, node)
            b.link(yes)
            b.link(no)


def _compare_chain(b: BlockBuilder, node: ast.Compare, no: Block) -> None:
    """Evaluate `a < b < c` up to its last comparison; the others may end it at `no`."""
    evaluate(b, node.left)
    last = len(node.ops) - 1
    for number, comparator in enumerate(node.comparators):
        evaluate(b, comparator)
        b.run_risky((node, "ops", number))
        if number != last:
            b.fork(no)


def assign(b: BlockBuilder, target: ast.AST) -> None:
    """Bind or delete a target; the value is already known."""
    match target:
        case ast.Name():
            b.write(target)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                assign(b, element)
        case ast.Starred(value=value):
            assign(b, value)
        case ast.Attribute(value=value):
            evaluate(b, value)
            b.run_risky(target)
            if target in b.index:
                b.write(target)
        case ast.Subscript(value=value, slice=key):
            evaluate(b, value)
            evaluate(b, key)
            b.run_risky(target)


def match_pattern(b: BlockBuilder, node: ast.pattern, failure: Block) -> None:
    """Test a pattern: go on in the current block, or leave for `failure`."""
    match node:
        case ast.MatchAs(pattern=pattern):
            if pattern is not None:
                match_pattern(b, pattern, failure)
        case ast.MatchStar():
            pass
        case ast.MatchOr(patterns=patterns):
            matched = b.new()
            for pattern in patterns[:-1]:
                following = b.new()
                match_pattern(b, pattern, following)
                b.link(matched)
                b.start(following)
            match_pattern(b, patterns[-1], failure)
            b.link(matched)
            b.start(matched)
        case _:
            _test_shape(b, node, failure)


def _test_shape(b: BlockBuilder, node: ast.pattern, failure: Block) -> None:
    """Test a pattern that can fail by itself, then the patterns inside it."""
    expressions: list[ast.expr] = []
    parts: list[ast.pattern] = []
    match node:
        case ast.MatchValue(value=value):
            expressions = [value]
        case ast.MatchSequence(patterns=patterns):
            parts = patterns
        case ast.MatchMapping(keys=keys, patterns=patterns):
            expressions, parts = keys, patterns
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=by_keyword):
            expressions, parts = [cls], patterns + by_keyword
    for expression in expressions:
        evaluate(b, expression)
    b.run_risky(node)
    b.fork(failure)
    for part in parts:
        match_pattern(b, part, failure)


def capture(b: BlockBuilder, node: ast.pattern) -> None:
    """Bind the names of a pattern that has matched as a whole."""
    match node:
        case ast.MatchOr(patterns=patterns):
            chosen, joined = b.block, b.new()
            for pattern in patterns:
                b.start(chosen)
                b.proceed()
                capture(b, pattern)
                b.link(joined)
            b.start(joined)
        case ast.MatchAs(pattern=pattern, name=name):
            if pattern is not None:
                capture(b, pattern)
            if name is not None:
                b.write((node, "name"))
        case ast.MatchStar(name=str()):
            b.write((node, "name"))
        case ast.MatchSequence(patterns=patterns):
            _capture_all(b, patterns)
        case ast.MatchMapping(patterns=patterns, rest=rest):
            _capture_all(b, patterns)
            if rest is not None:
                b.write((node, "rest"))
        case ast.MatchClass(patterns=patterns, kwd_patterns=by_keyword):
            _capture_all(b, patterns + by_keyword)


def _capture_all(b: BlockBuilder, patterns: list[ast.pattern]) -> None:
    for pattern in patterns:
        capture(b, pattern)


def _nothing(b: BlockBuilder, node: ast.AST) -> None:
    pass


def _name(b: BlockBuilder, node: ast.Name) -> None:
    b.append(b.index[node] << SHIFT | READ)


def _attribute(b: BlockBuilder, node: ast.Attribute) -> None:
    evaluate(b, node.value)
    number = b.index.get(node)
    if number is not None:
        b.append(number << SHIFT | READ)
    b.run_risky(node)


def _call(b: BlockBuilder, node: ast.Call) -> None:
    evaluate(b, node.func)
    for argument in node.args:
        evaluate(b, argument)
    for keyword in node.keywords:
        evaluate(b, keyword.value)
    b.run_risky(node)


def _subscript(b: BlockBuilder, node: ast.Subscript) -> None:
    evaluate(b, node.value)
    evaluate(b, node.slice)
    b.run_risky(node)


def _slice(b: BlockBuilder, node: ast.Slice) -> None:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            evaluate(b, bound)


def _binary(b: BlockBuilder, node: ast.BinOp) -> None:
    evaluate(b, node.left)
    evaluate(b, node.right)
    b.run_risky(node)


def _unary(b: BlockBuilder, node: ast.UnaryOp) -> None:
    evaluate(b, node.operand)
    # `not` only turns a test around
    if type(node.op) is not ast.Not:
        b.run_risky(node)


def _compare(b: BlockBuilder, node: ast.Compare) -> None:
    if len(node.ops) > 1:
        joined = b.new()
        _compare_chain(b, node, joined)
        b.link(joined)
        b.start(joined)
        return
    evaluate(b, node.left)
    evaluate(b, node.comparators[0])
    (b.run if type(node.ops[0]) in (ast.Is, ast.IsNot) else b.run_risky)(node)


def _bool(b: BlockBuilder, node: ast.BoolOp) -> None:
    joined = b.new()
    for operand in node.values[:-1]:
        following = b.new()
        test(b, operand, *((following, joined) if type(node.op) is ast.And else (joined, following)))
        b.start(following)
    evaluate_visibly(b, node.values[-1])
    b.link(joined)
    b.start(joined)


def _conditional(b: BlockBuilder, node: ast.IfExp) -> None:
    then, otherwise, joined = b.new(), b.new(), b.new()
    test(b, node.test, then, otherwise)
    for block, value in ((then, node.body), (otherwise, node.orelse)):
        b.start(block)
        evaluate_visibly(b, value)
        b.link(joined)
    b.start(joined)


def _walrus(b: BlockBuilder, node: ast.NamedExpr) -> None:
    before = b.emitted
    evaluate(b, node.value)
    if b.emitted == before:
        b.run(node)
    b.write(node.target)


def _await(b: BlockBuilder, node: ast.Await) -> None:
    evaluate(b, node.value)
    b.run_risky(node)


def _yield(b: BlockBuilder, node: ast.Yield | ast.YieldFrom) -> None:
    if node.value is not None:
        evaluate(b, node.value)
    b.run_risky(node)
    if node not in b.unit.yields:
        b.unit.yields.append(node)


def _sequence(b: BlockBuilder, node: ast.Tuple | ast.List | ast.Set) -> None:
    for element in node.elts:
        evaluate(b, element)


def _dict(b: BlockBuilder, node: ast.Dict) -> None:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            evaluate(b, key)
        evaluate(b, value)


def _value(b: BlockBuilder, node: Any) -> None:
    evaluate(b, node.value)


def _string(b: BlockBuilder, node: Any) -> None:
    _string_parts(b, node)
    if any(type(part) is not ast.Constant for part in node.values):
        b.run_risky(node)


def _string_parts(b: BlockBuilder, node: Any) -> None:
    for part in node.values:
        if type(part) is not ast.Constant:
            evaluate(b, part.value)
            if part.format_spec is not None:
                _string_parts(b, part.format_spec)


def _comprehension(b: BlockBuilder, node: Any) -> None:
    done = b.new()
    exhausted = done
    for generator in node.generators:
        evaluate(b, generator.iter)
        head = b.proceed()
        b.run_risky(generator)
        b.fork(exhausted)
        assign(b, generator.target)
        for condition in generator.ifs:
            passed = b.new()
            test(b, condition, passed, head)
            b.start(passed)
        exhausted = head
    for element in (node.key, node.value) if type(node) is ast.DictComp else (node.elt,):
        evaluate(b, element)
    b.link(exhausted)
    b.start(done)


def _lambda(b: BlockBuilder, node: ast.Lambda) -> None:
    def body() -> None:
        evaluate_visibly(b, node.body)
        b.unit.returns.append(node.body)
        b.leave(b.unit.exit)

    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            evaluate(b, default)
    b.make_function(node, body)


_EVALUATORS: dict[type, Callable[[BlockBuilder, Any], None]] = {
    ast.Constant: _nothing,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.Starred: _value,
    ast.JoinedStr: _string,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Lambda: _lambda,
}
if hasattr(ast, "TemplateStr"):
    _EVALUATORS[ast.TemplateStr] = _string  # type: ignore[attr-defined]
