"""Evaluation order: what an expression, an assignment target or a pattern does, written into blocks.

`Evaluation.evaluate` appends to the current block and leaves the current block where the value is known. Expressions
that choose between paths (`and`, `or`, conditional expressions, chained comparisons, comprehensions) open new blocks.
"""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.anchor import Anchor
from hyperheat.pycode.blocks import (
    NESTED,
    NODE,
    RAISES,
    READ,
    SHIFT,
    WRITE,
    Block,
    Catch,
    Cleanup,
    Loop,
    Unit,
)
from hyperheat.pycode.scopes import Function, Names, function_parameters

__all__ = ["Evaluation"]


class Evaluation:
    """Builds blocks for expressions; `hyperheat.pycode.control` adds the statements."""

    def __init__(self, names: Names):
        self.index = names.index
        self.nodes: dict[Anchor, int] = {}
        self.units: list[Unit] = []
        self.unit_of: dict[Function, int] = {}
        self.blocks: list[Block] = []
        self.emitted = 0
        self.catch: Catch | None = None
        self.frames: list[Loop | Cleanup] = []

    # Blocks

    def new(self) -> Block:
        """A block in the current exception context, not yet connected."""
        block = Block(self.catch)
        self.blocks.append(block)
        return block

    def start(self, block: Block) -> None:
        self.block = block
        self.append = block.items.append

    def link(self, block: Block) -> None:
        """The current block may continue with `block`."""
        self.block.successors.append(block)

    def proceed(self) -> Block:
        """Continue in a new block and return it."""
        block = self.new()
        self.block.successors.append(block)
        self.start(block)
        return block

    def fork(self, other: Block) -> None:
        """Continue either at `other` or in a new block, which becomes the current one."""
        self.link(other)
        self.proceed()

    def leave(self, block: Block) -> None:
        """Jump; what follows in the source is not reached from here."""
        self.link(block)
        self.start(self.new())

    # Things that happen

    def run(self, anchor: Anchor) -> None:
        """Run a node that cannot raise."""
        self.emitted += 1
        self.append(self.nodes.setdefault(anchor, len(self.nodes)) << SHIFT | NODE)

    def run_risky(self, anchor: Anchor) -> None:
        """Run a node that may raise."""
        self.emitted += 1
        self.append(self.nodes.setdefault(anchor, len(self.nodes)) << SHIFT | RAISES)
        if self.catch is not None:
            self.catch.raised = True

    def write(self, anchor: Anchor) -> None:
        self.append(self.index[anchor] << SHIFT | WRITE)

    def nested(self, function: Function, body: Callable[[], None]) -> None:
        """Make a function or lambda; its body becomes a unit of its own, once."""
        number = self.unit_of.get(function)
        if number is None:
            number = self.unit_of[function] = len(self.units)
            outside = (self.unit, self.block, self.catch, self.frames)
            self.catch, self.frames = None, []
            self.open_unit(function, self.unit_of[self.unit.function])
            for parameter in function_parameters(function.args):
                self.write(parameter)
            body()
            self.link(self.unit.end)
            self.unit, block, self.catch, self.frames = outside
            self.start(block)
        self.append(number << SHIFT | NESTED)

    def open_unit(self, function: Function, parent: int | None) -> None:
        self.unit = Unit(function, parent)
        self.units.append(self.unit)
        self.start(self.unit.entry)

    # Expressions

    def evaluate(self, node: ast.AST) -> None:
        """Evaluate an expression for its value."""
        _EVALUATORS[type(node)](self, node)

    def evaluate_visibly(self, node: ast.AST) -> None:
        """Evaluate an expression; it is a node of the graph itself when none of its parts is."""
        before = self.emitted
        _EVALUATORS[type(node)](self, node)
        if self.emitted == before:
            self.run(node)

    def test(self, node: ast.expr, yes: Block, no: Block) -> None:
        """Evaluate an expression for its truth and go on to `yes` or `no`."""
        match node:
            case ast.BoolOp(op=op, values=values):
                for operand in values[:-1]:
                    following = self.new()
                    self.test(operand, *((following, no) if type(op) is ast.And else (yes, following)))
                    self.start(following)
                self.test(values[-1], yes, no)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.test(operand, no, yes)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                then, otherwise = self.new(), self.new()
                self.test(test, then, otherwise)
                self.start(then)
                self.test(body, yes, no)
                self.start(otherwise)
                self.test(orelse, yes, no)
            case ast.Compare(ops=[_, _, *_]):
                self.compare_chain(node, no)
                self.link(yes)
                self.link(no)
            case ast.Constant(value=value):
                self.run(node)
                self.link(yes if value else no)
            case _:
                self.evaluate_visibly(node)
                self.link(yes)
                self.link(no)

    def compare_chain(self, node: ast.Compare, no: Block) -> None:
        """Evaluate `a < b < c` up to its last comparison; the others may end it at `no`."""
        self.evaluate(node.left)
        last = len(node.ops) - 1
        for number, comparator in enumerate(node.comparators):
            self.evaluate(comparator)
            self.run_risky((node, "ops", number))
            if number != last:
                self.fork(no)

    # Targets

    def assign(self, target: ast.AST) -> None:
        """Bind or delete a target; the value is already known."""
        match target:
            case ast.Name():
                self.write(target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.assign(element)
            case ast.Starred(value=value):
                self.assign(value)
            case ast.Attribute(value=value):
                self.evaluate(value)
                self.run_risky(target)
                if target in self.index:
                    self.write(target)
            case ast.Subscript(value=value, slice=key):
                self.evaluate(value)
                self.evaluate(key)
                self.run_risky(target)

    # Patterns

    def match_pattern(self, node: ast.pattern, failure: Block) -> None:
        """Test a pattern: go on in the current block, or leave for `failure`."""
        match node:
            case ast.MatchAs(pattern=None) | ast.MatchStar():
                return
            case ast.MatchAs(pattern=pattern):
                self.match_pattern(pattern, failure)
                return
            case ast.MatchOr(patterns=patterns):
                matched = self.new()
                for pattern in patterns[:-1]:
                    following = self.new()
                    self.match_pattern(pattern, following)
                    self.link(matched)
                    self.start(following)
                self.match_pattern(patterns[-1], failure)
                self.link(matched)
                self.start(matched)
                return
        self.test_shape(node, failure)

    def test_shape(self, node: ast.pattern, failure: Block) -> None:
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
            self.evaluate(expression)
        self.run_risky(node)
        self.fork(failure)
        for part in parts:
            self.match_pattern(part, failure)

    def capture(self, node: ast.pattern) -> None:
        """Bind the names of a pattern that has matched as a whole."""
        match node:
            case ast.MatchOr(patterns=patterns):
                chosen, joined = self.block, self.new()
                for pattern in patterns:
                    self.start(chosen)
                    self.proceed()
                    self.capture(pattern)
                    self.link(joined)
                self.start(joined)
            case ast.MatchAs(pattern=pattern, name=name):
                if pattern is not None:
                    self.capture(pattern)
                if name is not None:
                    self.write((node, "name"))
            case ast.MatchStar(name=str()):
                self.write((node, "name"))
            case ast.MatchSequence(patterns=patterns):
                self.capture_all(patterns)
            case ast.MatchMapping(patterns=patterns, rest=rest):
                self.capture_all(patterns)
                if rest is not None:
                    self.write((node, "rest"))
            case ast.MatchClass(patterns=patterns, kwd_patterns=by_keyword):
                self.capture_all(patterns + by_keyword)

    def capture_all(self, patterns: list[ast.pattern]) -> None:
        for pattern in patterns:
            self.capture(pattern)


def _nothing(e: Evaluation, node: ast.AST) -> None:
    pass


def _name(e: Evaluation, node: ast.Name) -> None:
    e.append(e.index[node] << SHIFT | READ)


def _attribute(e: Evaluation, node: ast.Attribute) -> None:
    e.evaluate(node.value)
    number = e.index.get(node)
    if number is not None:
        e.append(number << SHIFT | READ)
    e.run_risky(node)


def _call(e: Evaluation, node: ast.Call) -> None:
    e.evaluate(node.func)
    for argument in node.args:
        e.evaluate(argument)
    for keyword in node.keywords:
        e.evaluate(keyword.value)
    e.run_risky(node)


def _subscript(e: Evaluation, node: ast.Subscript) -> None:
    e.evaluate(node.value)
    e.evaluate(node.slice)
    e.run_risky(node)


def _slice(e: Evaluation, node: ast.Slice) -> None:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            e.evaluate(bound)


def _binary(e: Evaluation, node: ast.BinOp) -> None:
    e.evaluate(node.left)
    e.evaluate(node.right)
    e.run_risky(node)


def _unary(e: Evaluation, node: ast.UnaryOp) -> None:
    e.evaluate(node.operand)
    # `not` only turns a test around
    if type(node.op) is not ast.Not:
        e.run_risky(node)


def _compare(e: Evaluation, node: ast.Compare) -> None:
    if len(node.ops) > 1:
        joined = e.new()
        e.compare_chain(node, joined)
        e.link(joined)
        e.start(joined)
        return
    e.evaluate(node.left)
    e.evaluate(node.comparators[0])
    (e.run if type(node.ops[0]) in (ast.Is, ast.IsNot) else e.run_risky)(node)


def _bool(e: Evaluation, node: ast.BoolOp) -> None:
    joined = e.new()
    for operand in node.values[:-1]:
        following = e.new()
        e.test(operand, *((following, joined) if type(node.op) is ast.And else (joined, following)))
        e.start(following)
    e.evaluate_visibly(node.values[-1])
    e.link(joined)
    e.start(joined)


def _conditional(e: Evaluation, node: ast.IfExp) -> None:
    then, otherwise, joined = e.new(), e.new(), e.new()
    e.test(node.test, then, otherwise)
    for block, value in ((then, node.body), (otherwise, node.orelse)):
        e.start(block)
        e.evaluate_visibly(value)
        e.link(joined)
    e.start(joined)


def _walrus(e: Evaluation, node: ast.NamedExpr) -> None:
    before = e.emitted
    e.evaluate(node.value)
    if e.emitted == before:
        e.run(node)
    e.write(node.target)


def _await(e: Evaluation, node: ast.Await) -> None:
    e.evaluate(node.value)
    e.run_risky(node)


def _yield(e: Evaluation, node: ast.Yield | ast.YieldFrom) -> None:
    if node.value is not None:
        e.evaluate(node.value)
    e.run_risky(node)
    if node not in e.unit.yields:
        e.unit.yields.append(node)


def _sequence(e: Evaluation, node: ast.Tuple | ast.List | ast.Set) -> None:
    for element in node.elts:
        e.evaluate(element)


def _dict(e: Evaluation, node: ast.Dict) -> None:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            e.evaluate(key)
        e.evaluate(value)


def _value(e: Evaluation, node: Any) -> None:
    e.evaluate(node.value)


def _string(e: Evaluation, node: Any) -> None:
    _string_parts(e, node)
    if any(type(part) is not ast.Constant for part in node.values):
        e.run_risky(node)


def _string_parts(e: Evaluation, node: Any) -> None:
    for part in node.values:
        if type(part) is not ast.Constant:
            e.evaluate(part.value)
            if part.format_spec is not None:
                _string_parts(e, part.format_spec)


def _comprehension(e: Evaluation, node: Any) -> None:
    done = e.new()
    exhausted = done
    for generator in node.generators:
        e.evaluate(generator.iter)
        head = e.proceed()
        e.run_risky(generator)
        e.fork(exhausted)
        e.assign(generator.target)
        for condition in generator.ifs:
            passed = e.new()
            e.test(condition, passed, head)
            e.start(passed)
        exhausted = head
    for element in (node.key, node.value) if type(node) is ast.DictComp else (node.elt,):
        e.evaluate(element)
    e.link(exhausted)
    e.start(done)


def _lambda(e: Evaluation, node: ast.Lambda) -> None:
    def body() -> None:
        e.evaluate_visibly(node.body)
        e.unit.returns.append(node.body)
        e.leave(e.unit.exit)

    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            e.evaluate(default)
    e.nested(node, body)


_EVALUATORS: dict[type, Callable[[Evaluation, Any], None]] = {
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
