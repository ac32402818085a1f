"""A condition joins its parts in the wrong way, or a `not` is missing or unexpected.

Each `and` may become `or`, and vice versa. Both are associative, so this does not regroup the other parts of the
condition.

A `not` may be added to a *condition* or removed from it: the test of `if`, `elif`, `while`, `assert`, of a
conditional expression, of a comprehension or of a `case`, an operand of `and` or `or`, and what is returned. The
condition is a name, an attribute, a subscript, a call, an arithmetic operation, a chain of comparisons, a
comprehension, or something weaker in parentheses. A single comparison is left to the kind `comparison-operator`:
`not a < b` is `a >= b`. White space and parentheses around the condition stay the same.
"""

import ast
import re
from collections.abc import Iterator

from hyperheat.rewrites.body import Body, Place
from hyperheat.rewrites.edit import Edit, Rewrite, Span, Spelling
from hyperheat.rewrites.kind import Case, Kind

__all__ = ["BOOLEAN_OPERATOR"]

_NAME = "boolean-operator"
_PLAIN, _NEGATED = "...", "not ..."
_OTHER = {"and": "or", "or": "and"}
_TIGHT = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Await, ast.BinOp),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_LOOSE = (ast.BoolOp, ast.NamedExpr)
_PARENTS = frozenset(
    {ast.BoolOp, ast.Return, ast.match_case, ast.If, ast.While, ast.IfExp, ast.Assert, ast.comprehension}
)
_NOT = re.compile(r"not[ \t\f]*")


def _find(body: Body) -> Iterator[Rewrite]:
    for place in body.places(ast.BoolOp):
        for operator, span in body.operators(place.node, "op"):
            if operator in _OTHER and body.is_whole(span):
                yield Rewrite(_NAME, span, operator, _OTHER[operator])
    for place in body.places(*_TIGHT, *_LOOSE, ast.Compare):
        if type(place.parent) in _PARENTS and _is_condition(place) and _may_be_negated(body, place.node):
            yield _insert(body, place.node)
    for place in body.places(ast.UnaryOp):
        if isinstance(place.node.op, ast.Not) and _is_condition(place):
            yield from _delete(body, place.node)


def _is_condition(place: Place) -> bool:
    match place.parent:
        case ast.BoolOp() | ast.Return() | ast.match_case():
            return isinstance(place.node, ast.expr)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return place.node is test
        case ast.comprehension(ifs=conditions):
            return any(place.node is condition for condition in conditions)
    return False


def _may_be_negated(body: Body, node: ast.expr) -> bool:
    match node:
        case ast.Compare(ops=operators):
            return len(operators) > 1
        case ast.BoolOp() | ast.NamedExpr():
            return body.is_parenthesised(node)
    return isinstance(node, _TIGHT)


def _insert(body: Body, node: ast.expr) -> Rewrite:
    location = body.span(node)
    whole = body.parenthesised(node, most=1) if isinstance(node, _LOOSE) else location
    text = " not " if body.touches_word(whole.start) else "not "
    return Rewrite(
        kind=_NAME,
        location=location,
        original=_PLAIN,
        replacement=_NEGATED,
        spelling=Spelling(
            (Edit(whole.start, whole.start, text),),
            Span(whole.start + text.index("n"), whole.end + len(text)),
        ),
    )


def _delete(body: Body, node: ast.UnaryOp) -> Iterator[Rewrite]:
    location, operand = body.span(node), node.operand
    if not body.has_tokens(operand) or not _may_be_negated(body, operand):
        return
    sign = _NOT.match(body.text, location.start)
    if sign is None or body.text[sign.end()] in "\\\n#":
        return  # the line ends after `not`
    kept, gone = body.span(operand), sign.end() - sign.start()
    yield Rewrite(
        kind=_NAME,
        location=location,
        original=_NEGATED,
        replacement=_PLAIN,
        spelling=Spelling((Edit(sign.start(), sign.end(), ""),), Span(kept.start - gone, kept.end - gone)),
    )


VALID = (
    Case(
        "`and` and `or`, wherever they stand",
        "def f(a):\n    g(a == 1 and a != 2 or a > 3)",
        ("    g(a == 1 or a != 2 or a > 3)", "    g(a == 1 and a != 2 and a > 3)"),
    ),
    Case("a missing `not`", "def f(a):\n    if a.b(1): pass", ("    if not a.b(1): pass",)),
    Case("an unexpected `not`", "def f(a):\n    while not a[0]: pass", ("    while a[0]: pass",)),
    Case("parentheses stay", "def f(a):\n    assert not(a)", ("    assert (a)",)),
    Case(
        "`not` before parentheses where it would not reach far enough without",
        "def f(a):\n    if(a or a == 1): pass",
        ("    if(not a or a == 1): pass", "    if not (a or a == 1): pass", "    if(a and a == 1): pass"),
    ),
    Case(
        "conditions of expressions",
        "def f(a):\n    return [1 if b else 0 for b in a if not b.c]",
        (
            "    return not [1 if b else 0 for b in a if not b.c]",
            "    return [1 if not b else 0 for b in a if not b.c]",
            "    return [1 if b else 0 for b in a if b.c]",
        ),
    ),
)
INVALID = (
    Case("a comparison is another kind", "def f(a):\n    return not a == 1"),
    Case("two of them", "def f(a):\n    return not not a"),
    Case("literals", "def f():\n    while True: return 1, 2"),
    Case("a line that ends after `not`", "def f(a):\n    return not \\\n a"),
    Case("not a condition", "def f(a):\n    b = not a\n    f(a, b)"),
    Case("a number that touches the operator", "def f(a):\n    b = 0and 1"),
)

BOOLEAN_OPERATOR = Kind(
    name=_NAME,
    message="did you mean `{replacement}` instead of `{original}`?",
    messages={
        _NEGATED: "missing `not`: did you mean `{repaired}`?",
        _PLAIN: "unexpected `not`: did you mean `{repaired}`?",
    },
    texts=(*_OTHER, _PLAIN, _NEGATED),
    find=_find,
    valid=VALID,
    invalid=INVALID,
)
