"""What the published code of this field gets wrong, each with the right behaviour."""

import ast

import pytest

from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import KINDS, candidates


def results(source: str, kind: str) -> list[str]:
    function = extract(source).functions[-1]
    return [r.apply(function.source) for r in candidates(function) if r.kind == kind]


@pytest.mark.parametrize("target", ["a, b", "(a, b)", "[a, b]", "a, *b", "a.x, b[0]"])
def test_a_tuple_is_never_augmented(target):
    assert results(f"def f(a, b):\n    {target} = b, a\n", "augmented-assignment") == []


@pytest.mark.parametrize(
    ("condition", "without"),
    [
        ("not(a)", "(a)"),
        ("not (a)", "(a)"),
        ("not(a)[0]", "(a)[0]"),
        ("not(a and b)", "(a and b)"),
        ("not (\n a or b)", "(\n a or b)"),
    ],
)
def test_deleting_not_keeps_the_parentheses(condition, without):
    source = f"def f(a, b):\n    if {condition}:\n        return 1\n"
    assert source.replace(condition, without) in results(source, "boolean-operator")


@pytest.mark.parametrize(
    "call", ["g(a, a)", "g(a, (a))", "g(a+1, a + 1)", "g('x', \"x\")", "g(0x10, 16)", "g(a.b, a. b)"]
)
def test_equal_arguments_are_not_swapped(call):
    assert results(f"def f(a):\n    {call}\n", "argument-swap") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return lambda x: x", "return lambda x: a"),
        ("return lambda x: a", "return lambda x: x"),
        ("return [x for x in a]", "return [a for x in a]"),
        ("return {x: y for x, y in a}", "return {y: y for x, y in a}"),
        ("return [x for y in a for x in y if x]", "return [x for y in a for x in y if y]"),
        ("return any(x for x in a if a)", "return any(x for x in a if x)"),
        ("def g(x): return a", "def g(x): return x"),
        ("return (x := a) and x", "return (x := a) and a"),
    ],
)
def test_lambdas_closures_and_comprehensions_have_candidates(before, after):
    assert f"def f(a):\n    {after}\n" in results(f"def f(a):\n    {before}\n", "variable-misuse")


@pytest.mark.parametrize(
    "lines",
    [
        ["b = 1", "del b", "return a"],
        ["b = 1", "if a: del b", "else: return 1", "return a"],
        ["try: g()", "except E as b: pass", "return a"],
        ["b = 1", "for c in g(): del b; break", "else: return 1", "return a"],
    ],
)
def test_deleted_variables_are_no_candidates(lines):
    source = "def f(a):\n" + "".join(f"    {line}\n" for line in lines)
    assert source.replace("return a", "return b") not in results(source, "variable-misuse")


@pytest.mark.parametrize(
    "lines",
    [
        ["print(a)", "b = 1"],
        ["def g(c): print(a); b = 1"],
        ["def g(c):", "  nonlocal a", "  print(c, a)", "  b = a"],
        ["if a: return 1", "else: b = 1; return 2", "print(a)"],
    ],
)
def test_variables_that_cannot_have_a_value_yet_are_no_candidates(lines):
    source = "def f(a):\n" + "".join(f"    {line}\n" for line in lines)
    assert not any("print(b" in text for text in results(source, "variable-misuse"))


def test_a_name_is_never_used_before_it_is_declared():
    source = "def f(a, b):\n    def g():\n        print(b)\n        nonlocal a\n        a = b\n"
    found = results(source, "variable-misuse")
    assert source.replace("print(b)", "print(a)") not in found
    assert source.replace("a = b", "a = a") in found


def test_a_variable_of_a_function_around_may_get_its_value_later():
    source = "def f(a):\n    def g(): print(a)\n    b = 1\n    return g\n"
    assert source.replace("print(a)", "print(b)") in results(source, "variable-misuse")


def test_a_variable_that_some_path_keeps_is_a_candidate():
    source = "def f(a, b):\n    if a: del b\n    return a\n"
    assert source.replace("return a", "return b") in results(source, "variable-misuse")


OPERATORS = ["+", "-", "*", "**", "/", "//", "%", "@", "<<", ">>", "|", "&", "^"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_all_operators_form_one_set(operator):
    """So every candidate of a real bug can also have been a target in training."""
    source = f"def f(a, b):\n    return a {operator} b\n"
    others = {f"def f(a, b):\n    return a {other} b\n" for other in OPERATORS if other != operator}
    assert set(results(source, "binary-operator")) == others
    source = f"def f(a, b):\n    a {operator}= b\n"
    others = {f"def f(a, b):\n    a {other}= b\n" for other in OPERATORS if other != operator}
    assert set(results(source, "augmented-assignment")) == {*others, "def f(a, b):\n    a = b\n"}


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("a + b * c", "a + b + c"),
        ("a - b - c", "a - b * c"),
        ("a ** b ** c", "a ** b * c"),
        ("-a ** b", "-a * b"),
        ("-a * b", "-a ** b"),
        ("a * b + c", "a * b ** c"),
        ("a | b & c", "a | b | c"),
    ],
)
def test_precedence_never_regroups_operands(expression, missing):
    found = results(f"def f(a, b, c):\n    return {expression}\n", "binary-operator")
    assert f"def f(a, b, c):\n    return {missing}\n" not in found


def test_a_minus_sign_never_takes_hold_of_more_than_its_number():
    found = results("def f(a):\n    return 2 ** a, 1 .real, 0[a]\n", "literal")
    assert found
    assert not any("-" in text for text in found)


def test_a_rewrite_that_was_made_is_found_again():
    """The published code lost the samples whose rewrite could not be found in the result."""
    source = "def f(a, b):\n    while not(a < b  and a is  not b):\n        a -= g(a, (b))\n    return 1\n"
    module = extract(source)
    (function,) = module.functions
    for rewrite in candidates(function):
        result = extract_function(rewrite.apply(source), function, module.facts)
        (inverse,) = [found for found in candidates(result) if found == rewrite.inverse(source)]
        assert ast.dump(ast.parse(inverse.apply(result.source))) == ast.dump(ast.parse(source))
        assert KINDS[inverse.kind].describe(inverse, result.source)
