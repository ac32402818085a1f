"""Instrumentation: a function rewritten so that everything it does is reported to `_r`, a recorder."""

import ast
from typing import Any

from hyperheat.pycode.anchors import Anchor
from hyperheat.pycode.flow.blocks import BlockBuilder
from hyperheat.pycode.flow.control_flow import SWALLOWING

__all__ = ["instrument"]


def instrument(function: ast.FunctionDef, index: dict[Anchor, int], built: BlockBuilder) -> ast.Module:
    """Make every access and node of a function report itself, at the moment when it happens."""
    rewritten = _Rewriter(index, built).rewrite(function)
    return ast.fix_missing_locations(ast.Module([rewritten], []))


def _report(method: str, *arguments: ast.expr | int | bool | None) -> ast.Call:
    function = ast.Attribute(ast.Name("_r", ast.Load()), method, ast.Load())
    values = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
    return ast.Call(function, values, [])


def _statement(method: str, *arguments: ast.expr | int) -> ast.Expr:
    return ast.Expr(_report(method, *arguments))


class _Rewriter(ast.NodeTransformer):
    def __init__(self, index: dict[Anchor, int], built: BlockBuilder):
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
