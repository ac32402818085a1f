"""Operators and syntactic sugar as the functions of Python's data model that they stand for.

Source on the left, relations on the right:

    a + b               __add__(rval: a + b, self: a, other: b)
    a -= b              __isub__(rval: the statement, self: a, other: b)
    a < b               __lt__(rval: a < b, self: a, other: b)
    a < b < c           __lt__(rval: the first <, self: a, other: b),
                        __lt__(rval: the second <, self: b, other: c),
                        and(rval: a < b < c, operand1: the first <, operand2: the second <)
    a in b, a not in b  __contains__(rval, self: b, item: a), __not_contains__(rval, self: b, item: a)
    a is b, a is not b  is(rval, self: a, other: b), is_not(rval, self: a, other: b)
    a and b and c       and(rval, operand1: a, operand2: b, operand3: c); `or` likewise
    not a, -a           not(rval, operand: a), __neg__(rval, self: a)
    a.b                 __getattribute__(rval: a.b, self: a, name: b)
    a.b = v, del a.b    __setattr__(self: a, name: b, value: v), __delattr__(self: a, name: b)
    a[k]                __getitem__(rval: a[k], self: a, key: k)
    a[k] = v, del a[k]  __setitem__(self: a, key: k, value: v), __delitem__(self: a, key: k)
    i:j:k               slice(rval: i:j:k, start: i, stop: j, step: k), with the parts that are written
    a = v, a := v       assign(rval: a, source: v), one per target; `a: T = v` likewise
    a, b = v, w         assign(rval: a, source: v), assign(rval: b, source: w)
    a, *b = v           unpack(source: v, target1: a, rest: b)
    for a in v          __iter__(rval: a, self: v), in comprehensions too; __aiter__ for `async for`
    with v as a         __enter__(rval: a, self: v), __exit__(self: v); __aenter__, __aexit__ for `async with`
    await v             __await__(rval: await v, self: v)
    f"{v:spec}"         __format__(rval: {v:spec}, self: v, format_spec: spec)
    import m as a       __import__(rval: a, name: m)
    from m import b     __import__(rval: b, name: m, fromlist: b)

A result that goes straight into a target (`for`, `with`, `import`) has the target as its `rval`.
"""

import ast
from collections.abc import Callable
from typing import Any

from hyperheat.pycode.anchors import Anchor, Relation

__all__ = ["SUGAR"]

Out = list[Relation]

_ARITHMETIC = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitXor: "xor",
    ast.BitOr: "or",
}
_BINARY = {op: f"__{name}__" for op, name in _ARITHMETIC.items()}
_AUGMENTED = {op: f"__i{name}__" for op, name in _ARITHMETIC.items()}
_UNARY = {ast.UAdd: "__pos__", ast.USub: "__neg__", ast.Invert: "__invert__"}
_BOOLEAN = {ast.And: "and", ast.Or: "or"}
_COMPARISON = {
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.Is: "is",
    ast.IsNot: "is_not",
}
_MEMBERSHIP = {ast.In: "__contains__", ast.NotIn: "__not_contains__"}


def _bin_op(node: ast.BinOp, out: Out) -> None:
    name = _BINARY[type(node.op)]
    out.append(Relation(name, (("rval", node), ("self", node.left), ("other", node.right))))


def _unary_op(node: ast.UnaryOp, out: Out) -> None:
    if type(node.op) is ast.Not:
        out.append(Relation("not", (("rval", node), ("operand", node.operand))))
    else:
        out.append(Relation(_UNARY[type(node.op)], (("rval", node), ("self", node.operand))))


def _bool_op(node: ast.BoolOp, out: Out) -> None:
    out.append(_all_of(_BOOLEAN[type(node.op)], node, node.values))


def _all_of(name: str, rval: Anchor, operands: list[Any]) -> Relation:
    numbered = [(f"operand{i}", operand) for i, operand in enumerate(operands, 1)]
    return Relation(name, (("rval", rval), *numbered))


def _compare(node: ast.Compare, out: Out) -> None:
    if len(node.ops) == 1:
        out.append(_comparison(node.ops[0], node, node.left, node.comparators[0]))
        return
    links = [(node, "ops", i) for i in range(len(node.ops))]
    lefts = [node.left, *node.comparators]
    for op, link, left, right in zip(node.ops, links, lefts, node.comparators, strict=False):
        out.append(_comparison(op, link, left, right))
    out.append(_all_of("and", node, links))


def _comparison(op: ast.cmpop, rval: Anchor, left: ast.expr, right: ast.expr) -> Relation:
    membership = _MEMBERSHIP.get(type(op))
    if membership is not None:
        return Relation(membership, (("rval", rval), ("self", right), ("item", left)))
    return Relation(_COMPARISON[type(op)], (("rval", rval), ("self", left), ("other", right)))


def _attribute(node: ast.Attribute, out: Out) -> None:
    if type(node.ctx) is ast.Load:
        out.append(_attribute_read(node))
    elif type(node.ctx) is ast.Del:
        out.append(Relation("__delattr__", (("self", node.value), ("name", (node, "attr")))))


def _attribute_read(node: ast.Attribute) -> Relation:
    return Relation("__getattribute__", (("rval", node), ("self", node.value), ("name", (node, "attr"))))


def _subscript(node: ast.Subscript, out: Out) -> None:
    if type(node.ctx) is ast.Load:
        out.append(_item_read(node))
    elif type(node.ctx) is ast.Del:
        out.append(Relation("__delitem__", (("self", node.value), ("key", node.slice))))


def _item_read(node: ast.Subscript) -> Relation:
    return Relation("__getitem__", (("rval", node), ("self", node.value), ("key", node.slice)))


def _slice(node: ast.Slice, out: Out) -> None:
    parts = (("start", node.lower), ("stop", node.upper), ("step", node.step))
    written = [(name, part) for name, part in parts if part is not None]
    out.append(Relation("slice", (("rval", node), *written)))


def _assign(node: ast.Assign, out: Out) -> None:
    for target in node.targets:
        _store(target, node.value, out)


def _assign_one(node: ast.AnnAssign | ast.NamedExpr, out: Out) -> None:
    if node.value is not None:
        _store(node.target, node.value, out)


def _aug_assign(node: ast.AugAssign, out: Out) -> None:
    target = node.target
    if type(target) is ast.Attribute:
        out.append(_attribute_read(target))
    elif type(target) is ast.Subscript:
        out.append(_item_read(target))
    name = _AUGMENTED[type(node.op)]
    out.append(Relation(name, (("rval", node), ("self", target), ("other", node.value))))
    if type(target) is not ast.Name:
        _store(target, node, out)


def _store(target: ast.expr, source: ast.AST, out: Out) -> None:
    """Relate a target to the expression whose value it gets."""
    kind = type(target)
    if kind is ast.Name:
        out.append(Relation("assign", (("rval", target), ("source", source))))
    elif kind is ast.Tuple or kind is ast.List:
        pairs = _pairs(target, source)
        if pairs is None:
            _unpack(target, source, out)
        else:
            for part, value in pairs:
                _store(part, value, out)
    else:
        _store_inside(target, source, out)


def _store_inside(target: ast.expr, source: ast.AST, out: Out) -> None:
    """Relate an attribute or item to the value it gets; names hold their value themselves."""
    if isinstance(target, ast.Attribute):
        name = (target, "attr")
        out.append(Relation("__setattr__", (("self", target.value), ("name", name), ("value", source))))
    elif isinstance(target, ast.Subscript):
        incidences = (("self", target.value), ("key", target.slice), ("value", source))
        out.append(Relation("__setitem__", incidences))
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(target, source, out)


def _pairs(target: Any, source: ast.AST) -> list[tuple[ast.expr, ast.expr]] | None:
    """Targets beside their values where a display of the same length is assigned."""
    if not isinstance(source, (ast.Tuple, ast.List)) or len(source.elts) != len(target.elts):
        return None
    if any(type(element) is ast.Starred for element in (*target.elts, *source.elts)):
        return None
    return list(zip(target.elts, source.elts, strict=True))


def _unpack(target: Any, source: ast.AST, out: Out) -> None:
    parts: list[tuple[str, Anchor]] = [("source", source)]
    for i, element in enumerate(target.elts, 1):
        if type(element) is ast.Starred:
            parts.append(("rest", element.value))
        else:
            parts.append((f"target{i}", element))
    out.append(Relation("unpack", tuple(parts)))
    for _, element in parts[1:]:
        if type(element) is not ast.Name:
            # Each inner target stands for the part of the value that it is given.
            inner = element if isinstance(element, (ast.Tuple, ast.List)) else source
            _store_inside(element, inner, out)  # pyright: ignore[reportArgumentType]


def _delivered(name: str, target: ast.expr, source: ast.expr, out: Out) -> None:
    """Relate a target to the protocol method that delivers its value."""
    out.append(Relation(name, (("rval", target), ("self", source))))
    inner = target if isinstance(target, (ast.Tuple, ast.List)) else source
    _store_inside(target, inner, out)


def _for(node: ast.For, out: Out) -> None:
    _delivered("__iter__", node.target, node.iter, out)


def _async_for(node: ast.AsyncFor, out: Out) -> None:
    _delivered("__aiter__", node.target, node.iter, out)


def _comprehension(node: ast.comprehension, out: Out) -> None:
    _delivered("__aiter__" if node.is_async else "__iter__", node.target, node.iter, out)


def _with(node: ast.With, out: Out) -> None:
    _contexts(node.items, "__enter__", "__exit__", out)


def _async_with(node: ast.AsyncWith, out: Out) -> None:
    _contexts(node.items, "__aenter__", "__aexit__", out)


def _contexts(items: list[ast.withitem], enter: str, leave: str, out: Out) -> None:
    for item in items:
        if item.optional_vars is None:
            out.append(Relation(enter, (("self", item.context_expr),)))
        else:
            _delivered(enter, item.optional_vars, item.context_expr, out)
        out.append(Relation(leave, (("self", item.context_expr),)))


def _await(node: ast.Await, out: Out) -> None:
    out.append(Relation("__await__", (("rval", node), ("self", node.value))))


def _formatted(node: ast.FormattedValue, out: Out) -> None:
    spec = () if node.format_spec is None else (("format_spec", node.format_spec),)
    out.append(Relation("__format__", (("rval", node), ("self", node.value), *spec)))


def _import(node: ast.Import, out: Out) -> None:
    for alias in node.names:
        rval = (alias, "name") if alias.asname is None else (alias, "asname")
        out.append(Relation("__import__", (("rval", rval), ("name", (alias, "name")))))


def _import_from(node: ast.ImportFrom, out: Out) -> None:
    module: tuple[tuple[str, Anchor], ...] = () if node.module is None else (("name", (node, "module")),)
    for alias in node.names:
        rval = (alias, "name") if alias.asname is None else (alias, "asname")
        out.append(Relation("__import__", (("rval", rval), *module, ("fromlist", (alias, "name")))))


SUGAR: dict[type[ast.AST], Callable[[Any, Out], None]] = {
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary_op,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Assign: _assign,
    ast.AnnAssign: _assign_one,
    ast.NamedExpr: _assign_one,
    ast.AugAssign: _aug_assign,
    ast.For: _for,
    ast.AsyncFor: _async_for,
    ast.comprehension: _comprehension,
    ast.With: _with,
    ast.AsyncWith: _async_with,
    ast.Await: _await,
    ast.FormattedValue: _formatted,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
