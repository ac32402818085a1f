"""AstNode edges of syntax that the golden files leave out."""

import re
import sys

import pytest

from hyperheat.pycode import extract


def ast_lines(source: str) -> list[str]:
    """The AstNode lines of the first function, without node numbers."""
    graph = extract(source).functions[0].graph
    return [re.sub(r"#\d+", "", line) for line in str(graph).splitlines() if line.startswith("AstNode")]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "try: a\n    except* E: b",
            [
                "AstNode(node: TryStar, body: a, handlers: ExceptStarHandler)",
                "AstNode(node: ExceptStarHandler, type: E, body: b)",
            ],
        ),
        (
            "g(k=1, *a)",
            [
                "AstNode(node: Expr, value: Call)",
                "AstNode(node: Call, func: g, args1: Arg, args2: StarredElement)",
                "AstNode(node: Arg, keyword: k, value: 1)",
                "AstNode(node: StarredElement, value: a)",
            ],
        ),
        (
            "g(**k)",
            [
                "AstNode(node: Expr, value: Call)",
                "AstNode(node: Call, func: g, args: Arg)",
                "AstNode(node: Arg, star: **, value: k)",
            ],
        ),
        (
            "x[*a, 1:]",
            [
                "AstNode(node: Expr, value: Subscript)",
                "AstNode(node: Subscript, value: x, slice: Tuple)",
                "AstNode(node: Tuple, elements1: StarredElement, elements2: Slice)",
                "AstNode(node: StarredElement, value: a)",
                "AstNode(node: Slice, lower: 1)",
            ],
        ),
        (
            "(a) + (b) * (c)",
            [
                "AstNode(node: Expr, value: BinaryOperation)",
                "AstNode(node: BinaryOperation, left: a, operator: +, right: BinaryOperation)",
                "AstNode(node: BinaryOperation, left: b, operator: *, right: c)",
            ],
        ),
        (
            "(a) and (b) and c",
            [
                "AstNode(node: Expr, value: BooleanOperation)",
                "AstNode(node: BooleanOperation, left: a, operator1: and, right1: b, "
                "operator2: and, right2: c)",
            ],
        ),
        (
            "class A(B, metaclass=C): pass",
            [
                "AstNode(node: ClassDef, name: A, bases: B, keywords: Arg, body: pass)",
                "AstNode(node: Arg, keyword: metaclass, value: C)",
            ],
        ),
        (
            "from ... import (a as b, c)\n    from .m.n import o",
            [
                "AstNode(node: ImportFrom, relative: ..., names1: ImportAlias, names2: c)",
                "AstNode(node: ImportAlias, name: a, asname: b)",
                "AstNode(node: ImportFrom, relative: ., module1: m, module2: n, names: o)",
            ],
        ),
        (
            "lambda a, /, b=1, *c, d, **e: a",
            [
                "AstNode(node: Expr, value: Lambda)",
                "AstNode(node: Lambda, posonly_params: a, params: Param, star_arg: c, "
                "kwonly_params: d, star_kwarg: e, body: a)",
                "AstNode(node: Param, name: b, default: 1)",
            ],
        ),
        (
            "a = 'x' 'y' 'z'",
            [
                "AstNode(node: Assign, target: a, value: ConcatenatedString)",
                "AstNode(node: ConcatenatedString, left: \"'x'\", right1: \"'y'\", right2: \"'z'\")",
            ],
        ),
        (
            "match a:\n        case (b), (c): pass\n        case (d, e): pass",
            [
                "AstNode(node: Match, subject: a, cases1: MatchCase, cases2: MatchCase)",
                "AstNode(node: MatchCase, pattern: MatchList, body: pass)",
                "AstNode(node: MatchList, patterns1: b, patterns2: c)",
                "AstNode(node: MatchCase, pattern: MatchTuple, body: pass)",
                "AstNode(node: MatchTuple, patterns1: d, patterns2: e)",
            ],
        ),
        ("'doc'\n    ...\n    x\n    return", []),
    ],
)
def test_edges(body: str, lines: list[str]):
    assert ast_lines(f"def f():\n    {body}\n")[1:] == lines


def test_decorators_and_annotations_are_children_of_the_function():
    lines = ast_lines("@a\n@b.c(1)\ndef f(*args: int) -> None: pass\n")
    assert lines[0] == (
        "AstNode(node: FunctionDef, decorators1: a, decorators2: Call, name: f, star_arg: Param, "
        "returns: None, body: pass)"
    )
    assert "AstNode(node: Param, name: args, annotation: int)" in lines


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters():
    assert ast_lines("def f():\n    type A[T: int, *U, **V] = B\n    class C[T]: pass\n")[1:] == [
        "AstNode(node: TypeAlias, name: A, type_parameters1: TypeVar, type_parameters2: TypeVarTuple, "
        "type_parameters3: ParamSpec, value: B)",
        "AstNode(node: TypeVar, name: T, bound: int)",
        "AstNode(node: TypeVarTuple, name: U)",
        "AstNode(node: ParamSpec, name: V)",
        "AstNode(node: ClassDef, name: C, type_parameters: T, body: pass)",
    ]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="quotes may nest since Python 3.12")
def test_nested_quotes():
    assert ast_lines('def f(x):\n    return f"{x["a"]}{f"{x}"}"\n')[1:] == [
        "AstNode(node: Return, value: FormattedString)",
        "AstNode(node: FormattedString, parts1: FormattedStringExpression, parts2: FormattedStringExpression)",
        "AstNode(node: FormattedStringExpression, expression: Subscript)",
        'AstNode(node: Subscript, value: x, slice: "\\"a\\"")',
        "AstNode(node: FormattedStringExpression, expression: FormattedString)",
        "AstNode(node: FormattedString, parts: FormattedStringExpression)",
        "AstNode(node: FormattedStringExpression, expression: x)",
    ]
