"""Operators and sugar as functions of the data model."""

import ast

import pytest
from tests.pycode.calls.meaning import sugar

from hyperheat.pycode.calls.operators import SUGAR


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("a in b", "__contains__(rval: a in b, self: b, item: a)"),
        ("a -= b", "__isub__(rval: a -= b, self: a, other: b)"),
        ("y.bar", "__getattribute__(rval: y.bar, self: y, name: bar)"),
    ],
)
def test_qualifiers_that_the_paper_prints(statement: str, expected: str):
    assert sugar(statement) == [expected]


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        *(("+", "add"), ("-", "sub"), ("*", "mul"), ("@", "matmul"), ("/", "truediv"), ("//", "floordiv")),
        *(("%", "mod"), ("**", "pow"), ("<<", "lshift"), (">>", "rshift")),
        *(("&", "and"), ("^", "xor"), ("|", "or")),
    ],
)
def test_binary_and_augmented_operators(sign: str, name: str):
    assert sugar(f"a {sign} b") == [f"__{name}__(rval: a {sign} b, self: a, other: b)"]
    assert sugar(f"a {sign}= b") == [f"__i{name}__(rval: a {sign}= b, self: a, other: b)"]


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        *(
            ("<", "__lt__"),
            ("<=", "__le__"),
            ("==", "__eq__"),
            ("!=", "__ne__"),
            (">", "__gt__"),
            (">=", "__ge__"),
        ),
        *(("is", "is"), ("is not", "is_not")),
    ],
)
def test_comparisons(sign: str, name: str):
    assert sugar(f"a {sign} b") == [f"{name}(rval: a {sign} b, self: a, other: b)"]


CASES = {
    # Comparisons that are not plain calls of the left side's method
    "a not in b": ["__not_contains__(rval: a not in b, self: b, item: a)"],
    "a < b <= c": [
        "__lt__(rval: <1, self: a, other: b)",
        "__le__(rval: <=2, self: b, other: c)",
        "and(rval: a < b <= c, operand1: <1, operand2: <=2)",
    ],
    "a < b in c": [
        "__lt__(rval: <1, self: a, other: b)",
        "__contains__(rval: in2, self: c, item: b)",
        "and(rval: a < b in c, operand1: <1, operand2: in2)",
    ],
    # Unary and boolean operators
    "-a": ["__neg__(rval: -a, self: a)"],
    "+a": ["__pos__(rval: +a, self: a)"],
    "~a": ["__invert__(rval: ~a, self: a)"],
    "not a": ["not(rval: not a, operand: a)"],
    "a and b and c": ["and(rval: a and b and c, operand1: a, operand2: b, operand3: c)"],
    "a or b": ["or(rval: a or b, operand1: a, operand2: b)"],
    # Attributes
    "a.b = v": ["__setattr__(self: a, name: b, value: v)"],
    "del a.b": ["__delattr__(self: a, name: b)"],
    "a.b += v": [
        "__getattribute__(rval: a.b, self: a, name: b)",
        "__iadd__(rval: a.b += v, self: a.b, other: v)",
        "__setattr__(self: a, name: b, value: a.b += v)",
    ],
    "a.b.c = v": [
        "__setattr__(self: a.b, name: c, value: v)",
        "__getattribute__(rval: a.b, self: a, name: b)",
    ],
    # Items and slices
    "a[k]": ["__getitem__(rval: a[k], self: a, key: k)"],
    "a[k] = v": ["__setitem__(self: a, key: k, value: v)"],
    "a[k] *= v": [
        "__getitem__(rval: a[k], self: a, key: k)",
        "__imul__(rval: a[k] *= v, self: a[k], other: v)",
        "__setitem__(self: a, key: k, value: a[k] *= v)",
    ],
    "del a[k]": ["__delitem__(self: a, key: k)"],
    "a[i:j:k]": [
        "__getitem__(rval: a[i:j:k], self: a, key: i:j:k)",
        "slice(rval: i:j:k, start: i, stop: j, step: k)",
    ],
    "a[:j] = v": ["__setitem__(self: a, key: :j, value: v)", "slice(rval: :j, stop: j)"],
    "a[:]": ["__getitem__(rval: a[:], self: a, key: :)", "slice(rval: :)"],
    "a[i:, j]": ["__getitem__(rval: a[i:, j], self: a, key: (i:, j))", "slice(rval: i:, start: i)"],
    # Assignments
    "a = v": ["assign(rval: a, source: v)"],
    "a = b = v": ["assign(rval: a, source: v)", "assign(rval: b, source: v)"],
    "a: int = v": ["assign(rval: a, source: v)"],
    "a: int": [],
    "(a := v)": ["assign(rval: a, source: v)"],
    "a, b = v, w": ["assign(rval: a, source: v)", "assign(rval: b, source: w)"],
    "a, (b, c) = v, [w, x]": [
        "assign(rval: a, source: v)",
        "assign(rval: b, source: w)",
        "assign(rval: c, source: x)",
    ],
    "a, b.c = v, w": ["assign(rval: a, source: v)", "__setattr__(self: b, name: c, value: w)"],
    "a, b = v": ["unpack(source: v, target1: a, target2: b)"],
    "a, *b = v": ["unpack(source: v, target1: a, rest: b)"],
    "a, b = *v, w": ["unpack(source: (*v, w), target1: a, target2: b)"],
    "a, (b, c) = v": [
        "unpack(source: v, target1: a, target2: (b, c))",
        "unpack(source: (b, c), target1: b, target2: c)",
    ],
    "a.b, c[k] = v": [
        "unpack(source: v, target1: a.b, target2: c[k])",
        "__setattr__(self: a, name: b, value: v)",
        "__setitem__(self: c, key: k, value: v)",
    ],
    "del a": [],
    # Imports
    "import m": ["__import__(rval: m, name: m)"],
    "import m.n as a": ["__import__(rval: a, name: m.n)"],
    "from m import b, c as d": [
        "__import__(rval: b, name: m, fromlist: b)",
        "__import__(rval: d, name: m, fromlist: c)",
    ],
    "from . import b": ["__import__(rval: b, fromlist: b)"],
    # Iteration
    "for a in v: pass": ["__iter__(rval: a, self: v)"],
    "async for a in v: pass": ["__aiter__(rval: a, self: v)"],
    "for a, b in v: pass": [
        "__iter__(rval: (a, b), self: v)",
        "unpack(source: (a, b), target1: a, target2: b)",
    ],
    "for a.b in v: pass": ["__iter__(rval: a.b, self: v)", "__setattr__(self: a, name: b, value: v)"],
    "[a for a in v]": ["__iter__(rval: a, self: v)"],
    "{a: b async for a, b in v}": [
        "__aiter__(rval: (a, b), self: v)",
        "unpack(source: (a, b), target1: a, target2: b)",
    ],
    # Context managers
    "with v: pass": ["__enter__(self: v)", "__exit__(self: v)"],
    "with v as a, w as b: pass": [
        *("__enter__(rval: a, self: v)", "__exit__(self: v)"),
        *("__enter__(rval: b, self: w)", "__exit__(self: w)"),
    ],
    "with v as (a, b): pass": [
        "__enter__(rval: (a, b), self: v)",
        "unpack(source: (a, b), target1: a, target2: b)",
        "__exit__(self: v)",
    ],
    "async with v as a: pass": ["__aenter__(rval: a, self: v)", "__aexit__(self: v)"],
    # Await and f-strings
    "await v": ["__await__(rval: await v, self: v)"],
    "f'{v}'": ["__format__(rval: {v}, self: v)"],
    "f'{v:>3}'": ["__format__(rval: {v:>3}, self: v, format_spec: f'>3')"],
    "f'{v:{w}}'": [
        "__format__(rval: {v:{w}}, self: v, format_spec: f'{w}')",
        "__format__(rval: {w}, self: w)",
    ],
}


@pytest.mark.parametrize("statement", CASES)
def test_sugar(statement: str):
    assert sugar(statement) == CASES[statement]


def test_relations_come_in_source_order():
    statements = "x = a + b\nif x < c:\n    del y[k]"
    names = [line.partition("(")[0] for line in sugar(statements)]
    assert names == ["assign", "__add__", "__lt__", "__delitem__"]


def test_defaults_annotations_and_nested_functions_belong_to_the_function():
    nested = "def g(p: t[k] = -d):\n    return ~p"
    assert sugar(nested) == [
        "__getitem__(rval: t[k], self: t, key: k)",
        "__neg__(rval: -d, self: d)",
        "__invert__(rval: ~p, self: p)",
    ]


def test_every_operator_of_python_has_a_relation():
    operators = [*ast.operator.__subclasses__()]
    for operator in operators:
        out: list = []
        SUGAR[ast.BinOp](ast.BinOp(ast.Name("a"), operator(), ast.Name("b")), out)
        SUGAR[ast.AugAssign](ast.AugAssign(ast.Name("a"), operator(), ast.Name("b")), out)
        assert len(out) == 2
    for comparison in ast.cmpop.__subclasses__():
        out = []
        SUGAR[ast.Compare](ast.Compare(ast.Name("a"), [comparison()], [ast.Name("b")]), out)
        assert len(out) == 1
