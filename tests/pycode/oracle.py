"""An oracle for flow analysis: run the program itself and write down what happens.

A function is rewritten so that every name access and every node of the control-flow graph reports to a `Recorder`, and
is then executed by Python. What it would decide by its data (truth of a value, length of an iteration, whether an
operation raises, which clause catches) a `Choices` object decides, so that all paths can be taken in turn.
"""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from hyperheat.pycode.anchor import Anchor
from hyperheat.pycode.blocks import CODE, RAISES, SHIFT
from hyperheat.pycode.builder import Builder
from hyperheat.pycode.control import SWALLOWING, build_blocks
from hyperheat.pycode.dataflow import Reaching, reaching
from hyperheat.pycode.scopes import ModuleScope, Names, resolve_names

__all__ = ["Choices", "Program", "Recorder", "TooLong"]

Relation = dict[int, set[int]]


class TooLong(BaseException):
    """A run that was cut off."""


class Failure(Exception):
    """What an operation of the program raises."""

    def __init__(self, *, thrown: bool = False):
        super().__init__()
        self.thrown = thrown


class Never(Exception):
    """The class of a clause that does not match."""


class Choices:
    """Decides; `next_path` moves on to the choices not taken yet, as an odometer does."""

    def __init__(self, seed: int | None = None):
        self.random = None if seed is None else random.Random(seed)
        self.taken: list[int] = []
        self.position = 0

    def flip(self) -> bool:
        self.position += 1
        if self.position > 400:
            raise TooLong
        if self.random is not None:
            return self.position < 120 and self.random.random() < 0.4
        if self.position > len(self.taken):
            self.taken.append(0)
        return bool(self.taken[self.position - 1])

    def next_path(self) -> bool:
        self.position = 0
        while self.taken and self.taken[-1]:
            self.taken.pop()
        if self.taken:
            self.taken[-1] = 1
        return bool(self.taken)


class Program:
    """A function with its analysis, ready to be run."""

    def __init__(self, source: str):
        module = ast.parse(source)
        function = module.body[0]
        assert isinstance(function, ast.FunctionDef)
        self.names: Names = resolve_names(function, ModuleScope.of(module))
        self.built: Builder = build_blocks(function, self.names, ModuleScope.of(module))
        self.solved: Reaching = reaching(self.names, self.built.units, len(self.built.nodes))
        caught = [block for block in self.built.blocks if block.catch is not None]
        entries = [block.catch.entry for block in caught if block.catch is not None]
        self.fragile = {
            item >> SHIFT
            for block in (*caught, *entries)
            if block.catch is not None
            for item in block.items
            if item & CODE == RAISES
        }
        bound: list[Anchor] = [(function, "name"), *function.args.args]
        self.bound_first = [self.names.index[anchor] for anchor in bound]
        rewritten = _Rewriter(self.names.index, self.built).rewrite(function)
        tree = ast.fix_missing_locations(ast.Module([rewritten], []))
        self.code = compile(tree, "<program>", "exec")

    def run(self, choices: Choices, recorder: "Recorder") -> None:
        """Run the program once."""
        recorder.begin(self, choices)
        scope: dict[str, Any] = {"_r": recorder}
        exec(self.code, scope)
        try:
            scope["main"]()
        except Failure as failure:
            recorder.end(implicit=not failure.thrown)
        except TooLong:
            return
        else:
            recorder.end(implicit=False)


class Value:
    """Any value of the program. Its truth is decided when it is asked for, and stays."""

    def __init__(self, recorder: "Recorder", node: int | None = None):
        self._recorder = recorder
        self._node = node
        self._truth: bool | None = None

    def __bool__(self) -> bool:
        if self._truth is None:
            self._truth = self._recorder.choices.flip()
        return self._truth

    def __call__(self, *args: object, **kwargs: object) -> "Value":
        return Value(self._recorder)

    def __getitem__(self, key: object) -> "Value":
        return Value(self._recorder)

    def __add__(self, other: object) -> "Value":
        return Value(self._recorder)

    def __iadd__(self, other: object) -> "Value":
        assert self._node is not None
        self._recorder.node(self._node)
        return Value(self._recorder)

    def __lt__(self, other: "Value") -> "Value":
        if other._node is not None:
            self._recorder.node(other._node)
        return Value(self._recorder)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Value) and other._node is not None:
            self._recorder.node(other._node)
        return self._recorder.choices.flip()

    __hash__ = None  # type: ignore[assignment]


class Recorder:
    """Collects, over all runs, what came right before each access and node. The program calls its methods."""

    def __init__(self) -> None:
        self.reads: Relation = defaultdict(set)
        self.writes: Relation = defaultdict(set)
        self.nodes: Relation = defaultdict(set)
        self.last_uses: set[int] = set()
        self.implicit_last_uses: set[int] = set()

    def begin(self, program: Program, choices: Choices) -> None:
        self.choices = choices
        self.fragile = program.fragile
        self.symbol_of = program.names.symbol_of
        self.attributes = defaultdict(list)
        for number, symbol in enumerate(program.names.symbols):
            while symbol.base is not None:
                self.attributes[symbol.base].append(number)
                symbol = program.names.symbols[symbol.base]
        self.owned = [
            {n for n, symbol in enumerate(program.names.symbols) if symbol.owner is unit.function}
            for unit in program.built.units
        ]
        self.nested_symbols = set().union(*self.owned[1:])
        self.values: dict[int, object] = {}
        self.last_read: dict[int, int] = {}
        self.last_write: dict[int, int] = {}
        self.last_access: dict[int, int] = {}
        self.last_node: list[int | None] = [None]
        for place in program.bound_first:
            self.write(place, Value(self))

    def end(self, *, implicit: bool) -> None:
        last = {place for symbol, place in self.last_access.items() if symbol not in self.nested_symbols}
        (self.implicit_last_uses if implicit else self.last_uses).update(last)

    # What the rewritten program reports

    def _note(self, place: int) -> int:
        symbol = self.symbol_of[place]
        if symbol in self.last_read:
            self.reads[place].add(self.last_read[symbol])
        if symbol in self.last_write:
            self.writes[place].add(self.last_write[symbol])
        self.last_access[symbol] = place
        return symbol

    def read(self, place: int, base: object = None) -> object:
        symbol = self._note(place)
        self.last_read[symbol] = place
        stored = self.values.get(symbol)
        return stored if callable(stored) and not isinstance(stored, Value) else Value(self)

    def write(self, place: int, value: object = None, *, again: bool = False) -> object:
        symbol = self.symbol_of[place] if again else self._note(place)
        self.last_access[symbol] = place
        self.last_write[symbol] = place
        self.values[symbol] = value
        self._forget_attributes(symbol)
        return value

    def unbind(self, place: int) -> None:
        self.last_write.pop(self.symbol_of[place], None)
        self._forget_attributes(self.symbol_of[place])

    def _forget_attributes(self, symbol: int) -> None:
        for attribute in self.attributes[symbol]:
            self.last_read.pop(attribute, None)
            self.last_write.pop(attribute, None)

    def node(self, number: int, value: object = None) -> object:
        self._step(number)
        if number in self.fragile and self.choices.flip():
            raise Failure
        return value

    def _step(self, number: int) -> None:
        before = self.last_node[-1]
        if before is not None:
            self.nodes[number].add(before)
        self.last_node[-1] = number

    def value(self, value: object) -> Value:
        return value if isinstance(value, Value) else Value(self)

    def after(self, done: object, value: object) -> object:
        return value

    def operand(self, number: int, value: object) -> Value:
        return Value(self, number)

    def thrown(self, number: int, value: object = None) -> Failure:
        self._step(number)
        return Failure(thrown=True)

    def items(self, number: int, value: object) -> Iterator[Value]:
        for _ in range(3):
            self.node(number)
            if not self.choices.flip():
                return
            yield Value(self)
        self.node(number)

    def clause(self, value: object) -> type[Exception]:
        return Failure if self.choices.flip() else Never

    def everything(self, value: object = None) -> type[Exception]:
        return Failure

    def enter(self, unit: int) -> None:
        self.last_node.append(None)
        for symbol in self.owned[unit]:
            self.last_read.pop(symbol, None)
            self.last_write.pop(symbol, None)

    def leave(self) -> None:
        self.last_node.pop()

    def scoped(self, unit: int, body: Any) -> object:
        self.enter(unit)
        try:
            return body()
        finally:
            self.leave()

    def manager(self, number: int, swallows: bool, value: object) -> "_Manager":
        return _Manager(self, number, swallows)

    @property
    def names(self) -> "_Targets":
        return _Targets(self)

    def target(self, base: object) -> "_Targets":
        return _Targets(self)

    @property
    def pattern(self) -> "_Patterns":
        return _Patterns(self)


class _Patterns:
    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    def __getattr__(self, name: str) -> Value:
        return Value(self.recorder, int(name.removeprefix("n")))


class _Manager:
    def __init__(self, recorder: Recorder, number: int, swallows: bool):
        self.recorder, self.number, self.swallows = recorder, number, swallows

    def __enter__(self) -> Value:
        self.recorder.node(self.number)
        return Value(self.recorder)

    def __exit__(self, kind: type | None, *_: object) -> bool:
        return kind is Failure and self.swallows and self.recorder.choices.flip()


class _Targets:
    """Stands where a target was: `names[place, node] = value`, with None for what the target does not have."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder

    def __setitem__(self, key: tuple, value: object) -> None:
        place, node, *augmented = key
        if node is not None and not augmented:
            self.recorder.node(node)
        if place is not None:
            self.recorder.write(place, value, again=bool(augmented))

    def __getitem__(self, key: tuple) -> Value:
        place, node, *augmented = key
        if place is not None:
            self.recorder.read(place)
        if node is not None:
            self.recorder.node(node)
        return Value(self.recorder, *augmented)

    def __delitem__(self, key: tuple) -> None:
        self[key] = None


def _report(method: str, *arguments: ast.expr | int | bool | None) -> ast.Call:
    function = ast.Attribute(ast.Name("_r", ast.Load()), method, ast.Load())
    values = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
    return ast.Call(function, values, [])


def _statement(method: str, *arguments: ast.expr | int) -> ast.Expr:
    return ast.Expr(_report(method, *arguments))


class _Rewriter(ast.NodeTransformer):
    """Makes every access and node report itself, at the moment when it happens."""

    def __init__(self, index: dict[Anchor, int], built: Builder):
        self.index = index
        self.nodes = dict(built.nodes)
        self.unit_of = built.unit_of

    def rewrite(self, function: ast.FunctionDef) -> ast.FunctionDef:
        function.args = _arguments()
        function.body = self.block(function.body)
        return function

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            found += new if isinstance(new, list) else [new]
        return found or [ast.Pass()]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            for field in ("body", "orelse", "finalbody"):
                if getattr(node, field, None):
                    setattr(node, field, self.block(getattr(node, field)))
        new = super().visit(node)
        if (
            isinstance(node, ast.expr)
            and node in self.nodes
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ):
            return _report("node", self.nodes[node], new)
        return new

    # Expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            return _report("read", self.index[node])
        return self.target(_attribute("names"), node.ctx, self.index[node], None)

    def target(self, base: ast.expr, context: ast.expr_context, *key: int | ast.expr | None) -> ast.Subscript:
        parts = [part if isinstance(part, ast.expr) else ast.Constant(part) for part in key]
        return ast.Subscript(base, ast.Tuple(parts, ast.Load()), context)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        base = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return _report("read", self.index[node], base)
        return self.target(_report("target", base), node.ctx, self.index.get(node), self.nodes[node])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        base, key = self.visit(node.value), self.visit(node.slice)
        if isinstance(node.ctx, ast.Load):
            return ast.Subscript(base, key, node.ctx)
        number = _report("after", key, self.nodes[node])
        return self.target(_report("target", base), node.ctx, None, number)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.visit(node.value)
        if node in self.nodes:
            value = _report("node", self.nodes.pop(node), value)
        return _report("write", self.index[node.target], value)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = _report("value", self.visit(node.left)), self.visit(node.right)
        return ast.BinOp(left, node.op, right)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left = _report("value", self.visit(node.left))
        operands: list[ast.expr] = [_report("value", self.visit(operand)) for operand in node.comparators]
        if len(operands) > 1:
            operands = [
                _report("operand", self.nodes[node, "ops", number], operand)
                for number, operand in enumerate(operands)
            ]
        return ast.Compare(left, node.ops, operands)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        iterable = _report("items", self.nodes[node], self.visit(node.iter))
        return ast.comprehension(
            self.visit(node.target), iterable, [self.visit(test) for test in node.ifs], node.is_async
        )

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        body = ast.Lambda(_arguments(), self.visit(node.body))
        return ast.Lambda(_arguments(ast.arg("_")), _report("scoped", self.unit_of[node], body))

    # Statements

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        value = self.visit(node.value)
        if node in self.nodes:
            value = _report("node", self.nodes[node], value)
        return ast.Assign([self.visit(target) for target in node.targets], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target = self.visit(node.target)
        target.slice.elts.append(ast.Constant(self.nodes[node]))
        return ast.AugAssign(target, node.op, self.visit(node.value))

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        statement = ast.Delete([self.visit(target) for target in node.targets])
        return [statement, *self.log(node)]

    def log(self, node: ast.AST) -> list[ast.stmt]:
        return [_statement("node", self.nodes[node])] if node in self.nodes else []

    def visit_Pass(self, node: ast.stmt) -> list[ast.stmt]:
        return [*self.log(node), node]

    visit_Break = visit_Continue = visit_Pass

    def visit_Nonlocal(self, node: ast.Nonlocal) -> list[ast.stmt]:
        return []

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        if node.value is None:
            return self.visit_Pass(node)
        return [ast.Return(_report("node", self.nodes[node], self.visit(node.value)))]

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        value = ast.Constant(None) if node.exc is None else self.visit(node.exc)
        return ast.Raise(_report("thrown", self.nodes[node], value))

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        value = ast.Constant(None) if node.msg is None else self.visit(node.msg)
        return ast.If(
            self.visit(node.test), [ast.Pass()], [ast.Raise(_report("thrown", self.nodes[node], value))]
        )

    def visit_If(self, node: Any) -> ast.stmt:
        node.test = self.visit(node.test)
        return node

    visit_While = visit_If

    def visit_For(self, node: ast.For) -> ast.stmt:
        iterable = _report("items", self.nodes[node], self.visit(node.iter))
        return ast.For(self.visit(node.target), iterable, node.body, node.orelse)

    def visit_With(self, node: ast.With) -> ast.stmt:
        for item in node.items:
            swallows = isinstance(item.context_expr, ast.Call) and (
                isinstance(item.context_expr.func, ast.Name) and item.context_expr.func.id in SWALLOWING
            )
            item.context_expr = _report("manager", self.nodes[item], swallows, self.visit(item.context_expr))
            if item.optional_vars is not None:
                item.optional_vars = self.visit(item.optional_vars)
        return node

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        node.handlers = [self.handler(handler) for handler in node.handlers]
        return node

    def handler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        body = self.block(node.body)
        if node.name is not None:
            place = self.index[node, "name"]
            body = [_statement("write", place), ast.Try(body, [], [], [_statement("unbind", place)])]
        kind = _report("everything") if node.type is None else _report("clause", self.visit(node.type))
        return ast.ExceptHandler(kind, None, [*self.log(node), *body])

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        node.subject = _report("value", self.visit(node.subject))
        for case in node.cases:
            done: list[ast.expr] = []
            if case.pattern in self.nodes and isinstance(case.pattern, ast.MatchAs):
                done.append(_report("node", self.nodes[case.pattern]))
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchAs) and part.name is not None:
                    done.append(_report("write", self.index[part, "name"]))
            # a guard that reports what the pattern did and then asks the guard proper
            guard = ast.Constant(True) if case.guard is None else self.visit(case.guard)
            case.guard = _report("after", ast.Tuple(done, ast.Load()), guard)
            case.pattern = self.visit(case.pattern)
            case.body = self.block(case.body)
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        return ast.MatchValue(ast.Attribute(_attribute("pattern"), f"n{self.nodes[node]}", ast.Load()))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        place = self.index[node, "name"]
        parameters = [_statement("write", self.index[argument]) for argument in node.args.args]
        body = [*parameters, ast.Try(node.body, [], [], [_statement("leave")])]
        function = ast.FunctionDef(
            "_f", _arguments(ast.arg("_")), [_statement("enter", self.unit_of[node]), *body], []
        )
        stored = self.target(_attribute("names"), ast.Store(), place, None)
        return [function, *self.log(node), ast.Assign([stored], ast.Name("_f", ast.Load()))]


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("_r", ast.Load()), name, ast.Load())


def _arguments(anything: ast.arg | None = None) -> ast.arguments:
    return ast.arguments([], [], anything, [], [], None, [])
