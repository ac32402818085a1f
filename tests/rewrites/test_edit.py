"""Rewrites as data: places, files, inverses, descriptions."""

import pytest

from hyperheat.pycode import FunctionGraph, extract
from hyperheat.rewrites import (
    KINDS,
    Edit,
    Rewrite,
    Span,
    Spelling,
    apply_edits,
    candidates,
    edits_in_file,
    place,
)

SOURCE = "x = 1\n\n\nclass A:\n    def f(self, left, é):\n        return g(left,\n                 é(1))\n"


def function_of(source: str) -> FunctionGraph:
    return extract(source).functions[-1]


def only(function: FunctionGraph, kind: str, replacement: str = "") -> Rewrite:
    (found,) = [r for r in candidates(function) if r.kind == kind and r.replacement == replacement]
    return found


def test_edits_are_done_in_order():
    assert apply_edits([Edit(0, 1, "xy"), Edit(2, 2, "!"), Edit(3, 5, "")], "abcdef") == "xyb!cf"


def test_a_place_has_the_lines_and_columns_of_the_file():
    function = function_of(SOURCE)
    rewrite = only(function, "variable-misuse", "left")
    assert rewrite.original == "é"
    assert place(function, rewrite.location) == (7, 17, 7, 18)
    assert rewrite.variable is not None
    assert place(function, rewrite.variable) == (5, 16, 5, 20)


def test_the_inverse_of_a_swap_knows_where_its_arguments_lie():
    source = "def f(a, b):\n    g((a), b[1])\n"
    swap = only(function_of(source), "argument-swap")
    assert swap == Rewrite(
        kind="argument-swap",
        location=Span(17, 29),
        arguments=(Span(20, 21), Span(24, 28)),
        spelling=Spelling((), Span(0, 0)),
    )
    result = swap.apply(source)
    assert result == "def f(a, b):\n    g(b[1], (a))\n"
    inverse = swap.inverse(source)
    assert inverse.arguments is not None
    assert [result[start:end] for start, end in inverse.arguments] == ["b[1]", "a"]
    assert inverse.apply(result) == source


def test_a_missing_and_an_extra_not_are_inverses():
    source = "def f(a):\n    if(a or 1): pass\n"
    function = function_of(source)
    inserted = next(
        r for r in candidates(function) if r.replacement == "not ..." and r.location == Span(17, 23)
    )
    result = inserted.apply(source)
    assert result == "def f(a):\n    if not (a or 1): pass\n"
    removed = next(r for r in candidates(function_of(result)) if r.replacement == "...")
    assert removed == inserted.inverse(source)
    assert removed.apply(result) == "def f(a):\n    if (a or 1): pass\n"  # the same tokens
    assert inserted.inverse(source).apply(result) == source  # the same characters


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_keeps_its_line_ends(line_end, mark):
    raw = mark + SOURCE.replace("\n", line_end)
    function = function_of(raw)
    swap = next(r for r in candidates(function) if r.kind == "argument-swap")
    expected = mark + SOURCE.replace("left,\n                 é(1)", "é(1),\n                 left")
    assert apply_edits(edits_in_file(swap, function, raw), raw) == expected.replace("\n", line_end)


def test_line_ends_inside_an_argument_move_with_it():
    raw = "def f(a, b):\r\n    g([a,\r\n  1],\n b)\r"
    function = function_of(raw)
    swap = only(function, "argument-swap")
    assert apply_edits(edits_in_file(swap, function, raw), raw) == "def f(a, b):\r\n    g(b,\n [a,\r\n  1])\r"


@pytest.mark.parametrize("gap", ["\t", "  # c\n\t", " \f ", " \\\n "])
def test_blanks_and_comments_stay(gap):
    source = f"def f(a, b):\n\treturn (a{gap}<{gap}b)\n"
    function = function_of(source)
    results = {r.apply(source) for r in candidates(function) if r.kind == "comparison-operator"}
    assert results == {source.replace("<", other) for other in ("<=", ">", ">=", "==", "!=")}


def test_candidates_come_in_the_order_of_the_source():
    source = "def f(a, b):\n    a += 1\n    return a < b\n"
    function = function_of(source)
    found = candidates(function)
    assert found == candidates(function_of(source))
    assert [r.location for r in found] == sorted(r.location for r in found)
    at_one_place = [(r.kind, r.replacement) for r in found if r.location == found[0].location]
    assert at_one_place == [("variable-misuse", "b")]


@pytest.mark.parametrize(
    ("line", "kind", "replacement", "words"),
    [
        ("return left", "variable-misuse", "right", "did you mean `right` instead of `left`?"),
        ("return left <= 3", "comparison-operator", "<", "did you mean `<` instead of `<=`?"),
        ("right = left and 3", "boolean-operator", "or", "did you mean `or` instead of `and`?"),
        ("while left(): pass", "boolean-operator", "not ...", "missing `not`: did you mean `not left()`?"),
        ("while not left: pass", "boolean-operator", "...", "unexpected `not`: did you mean `left`?"),
        ("right = left % 3", "binary-operator", "//", "did you mean `//` instead of `%`?"),
        ("left += 3", "augmented-assignment", "=", "did you mean `=` instead of `+=`?"),
        ("return True", "literal", "False", "did you mean `False` instead of `True`?"),
        ("g(3,\n      left)", "argument-swap", "", "arguments look swapped: did you mean `g(left, 3)`?"),
        (
            "g(3, 'a very long text that would fill the whole line and more')",
            "argument-swap",
            "",
            "arguments look swapped: `3` and `'a very long text that would fill the...`",
        ),
    ],
)
def test_a_rewrite_says_what_it_means(line, kind, replacement, words):
    function = function_of(f"def f(left, right):\n    {line}\n")
    rewrite = only(function, kind, replacement)
    assert KINDS[kind].describe(rewrite, function.source) == words


def test_kinds_are_registered_by_their_names():
    assert [kind.name for kind in KINDS.values()] == list(KINDS)
    assert set(KINDS) == {
        *("variable-misuse", "argument-swap", "comparison-operator", "boolean-operator"),
        *("binary-operator", "augmented-assignment", "literal"),
    }
