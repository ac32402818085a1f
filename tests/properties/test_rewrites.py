"""What holds for the candidate rewrites of every function: they compile, change one place, and can be undone."""

import random
import warnings

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tools.check_rewrites import check_function, check_inverse

from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import KINDS, Rewrite, apply_edits, candidates, edits_in_file

NAMES = st.sampled_from(["a", "b", "c", "d", "self", "print", "é"])
LEAVES = NAMES | st.sampled_from(["0", "1", "2", "-1", "-2", "0x1", "True", "False", "None", "1.5", "'s'"])
# Without parentheses around the parts: what binds how tightly is the point.
OPERATIONS = st.sampled_from(
    (
        *("{0} + {1}", "{0} - {1}", "{0}*{1}", "{0} ** {1}", "{0}//{1}", "{0} % {1}", "{0} @ {1}"),
        *("{0}<<{1}", "{0} | {1}", "{0} & {1}", "{0}^{1}", "-{0}", "~{0}", "+ {0}", "({0})", "( ({0}) )"),
        *("not {0}", "not({0})", "not  {0}", "{0} and {1}", "{0} or {1}", "{0}and({1})", "({0} or {1})"),
        *("{0} < {1}", "{0} == {1} != {2}", "{0} in {1}", "{0} not  in {1}", "{0} is not {1}", "{0} is {1}"),
        *("{0}.x", "{0}[{1}]", "{0}[{1}:{2}]", "{0}({1}, {2})", "g({0}, ({1}), *{2}, k={0})", "g({0},\n{1})"),
        *("{0} if {1} else {2}", "lambda e: {0}", "lambda a=a: {0}", "(e := {0})", "{0}, {1}", "[{0}, {1}]"),
        *("[e for e in {0} if {1}]", "{{a: e for a, e in {0}}}", "any({0} for c in {1} if c and {2})"),
        *('f"1{{{0}}} {{{1}:2>{{{2}}}}}"', 'f"{{{0}=}}"', "{{{0}: {1}}}"),
    )
)
STATEMENTS = st.sampled_from(
    (
        *("v = {0}", "w = v = {0}", "v, w = {0}", "a.x = {0}", "a[{0}] = {1}", "v += {0}", "b: int = {0}"),
        *(
            "return {0}",
            "{0}",
            "assert {0}, {1}",
            "del a",
            "del v, b",
            "global h; h = {0}",
            "print({0}); {1}",
        ),
        *("if {0}: v = {1}", "if({0}): pass\nelif {1}: w = 1\nelse: c = {2}", "while {0}: break"),
        *("for v in {0}: a, b = {1}", "with {0} as w: return {1}", "match {0}:\n case [v, 1] if {1}: pass"),
        *("try: v = {0}\nexcept E as c: {1}\nfinally: w = {2}", "class C({0}):\n  n = {1}; m = n"),
        *("def k(n, d={0}):\n  nonlocal b\n  b = {1}\n  return n", "import m, v", "# no code\npass"),
        *("yield {0}", "def k():\n  a = b\n  nonlocal c\n  c -= {0}", "raise {0}"),
    )
)


def _fill(template: str, *parts: str) -> str:
    if template.startswith("f") and any(sign in part for part in parts for sign in "\"'\n\\{}"):
        return parts[0]
    return template.format(*parts)


EXPRESSIONS = st.recursive(
    LEAVES, lambda inner: st.builds(_fill, OPERATIONS, inner, inner, inner), max_leaves=6
)
LINES = st.lists(st.builds(_fill, STATEMENTS, EXPRESSIONS, EXPRESSIONS, EXPRESSIONS), min_size=1, max_size=5)


def _program(statements: list[str]) -> str:
    lines = [line for statement in statements for line in statement.split("\n")]
    source = "def f(self, a, b, c=1, *d):\n" + "".join(f"    {line}\n" for line in lines)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "<program>", "exec")
        except SyntaxError:
            assume(False)
    return source


@settings(max_examples=120, deadline=None)
@given(LINES, st.randoms(use_true_random=False))
def test_candidates_compile_change_one_place_and_can_be_undone(statements: list[str], chooser: random.Random):
    module = extract(_program(statements))
    (function,) = module.functions
    found = candidates(function)
    assert check_function(function, found, set(found)) == []
    for rewrite in chooser.sample(found, min(6, len(found))):
        assert check_inverse(rewrite, function, module.facts) == []


@settings(max_examples=60, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.integers(0, 3))
def test_a_file_keeps_its_line_ends_and_what_stands_around(
    statements: list[str], line_end: str, mark: str, above: int
):
    text = "\n" * above + "x = 'ü'  # \f\n" + _program(statements) + "y = 1\n"
    function = extract(text).functions[0]
    raw = mark + text.replace("\n", line_end)
    before, after = text.split(function.source)
    for rewrite in candidates(function)[:20]:
        expected = before + rewrite.apply(function.source) + after
        edited = apply_edits(edits_in_file(rewrite, function, raw), raw)
        assert edited == mark + expected.replace("\n", line_end)


@settings(max_examples=40, deadline=None)
@given(LINES)
def test_candidates_do_not_depend_on_how_the_function_was_read(statements: list[str]):
    module = extract("import os\n" + _program(statements))
    (function,) = module.functions
    again = extract_function(function.source, function, module.facts)

    def everything(rewrite: Rewrite) -> tuple[object, ...]:
        return rewrite, rewrite.edits, rewrite.after, rewrite.variable

    assert list(map(everything, candidates(again))) == list(map(everything, candidates(function)))
    assert {rewrite.kind for rewrite in candidates(function)} <= set(KINDS)
