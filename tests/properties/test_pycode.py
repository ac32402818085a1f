"""What holds for every program: it gives graphs or one clear refusal, and the graphs fit the text."""

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperheat.pycode import SourceError, extract, extract_function
from hyperheat.pycode.pairs import between_tokens, pairwise, tokens_of
from hyperheat.pycode.syntax.tokens import DEDENT, INDENT

NAMES = st.sampled_from(["a", "b", "self", "print", "é", "match", "_"])


def _filled(*templates: str) -> "st.SearchStrategy[str]":
    return st.sampled_from(templates)


def _expressions() -> st.SearchStrategy[str]:
    leaves = NAMES | _filled(
        "1", "0x_f", "1.5e3j", "'s'", 'rb"t"', "'''l\nm'''", "None", "...", "()", "[]", "{}", "f''"
    )
    shapes = _filled(
        *(
            "{0} + {1}",
            "-{0}",
            "not {0}",
            "{0} and {1} or {2}",
            "{0} < {1} not in {2}",
            "{0} is not {1}",
            "({0})",
        ),
        *(
            "{0} if {1} else {2}",
            "(lambda a, *b: {0})",
            "{0}.x",
            "{0}[{1}]",
            "{0}[{1}:, ::{2}]",
            "({0}, {1})",
            "(n := {0})",
        ),
        *(
            "{0}({1}, *{2}, k={1}, **{0})",
            "[{0}, *{1}]",
            "{{{0}: {1}, **{2}}}",
            "{{{0}, {1}}}",
            "{0}(x for x in {1})",
        ),
        *(
            "[x for x in {0} if {1} for y in {2}]",
            "{{x: {0} for x in {1}}}",
            'f"t{{{0}!r:>{{w}}}}{{ {1} }}"',
            "{0} @\\\n {1}",
        ),
    )
    return st.recursive(leaves, lambda inner: st.builds(_format, shapes, inner, inner, inner), max_leaves=8)


def _format(shape: str, *parts: str) -> str:
    """Fill a template; parts go into parentheses, and those with quotes or breaks stay out of f-strings."""
    if shape.startswith("f") and any(sign in part for part in parts for sign in "\"'\n\\#{"):
        return f"({parts[0]})"
    return shape.format(*(f"({part})" for part in parts))


def _statements() -> st.SearchStrategy[list[str]]:
    expression = _expressions()
    simple = st.builds(
        _format,
        _filled(
            *(
                "{0}",
                "v = {0}",
                "v = w = {0}",
                "v, *w = {0}",
                "v.x = {0}",
                "v[{0}] = {1}",
                "v += {0}",
                "v: {0} = {1}",
            ),
            *(
                "return {0}",
                "yield {0}",
                "v = yield",
                "raise {0} from {1}",
                "assert {0}, {1}",
                "del v.x, w",
                "pass",
            ),
            *("import p.q as r", "from . import s", "global g; g = {0}  # c", "return", "print({0}); {1}"),
        ),
        expression,
        expression,
    ).map(lambda line: [line])
    headers = st.builds(
        _format,
        _filled(
            *(
                "if {0}:",
                "while {0}:",
                "for i, j in {0}:",
                "with {0} as f, {1}:",
                "def inner(p, q={0}, *, r: {1}):",
            ),
            *(
                "class C({0}):",
                "try:|except {0} as e:",
                "try:|finally:",
                "if {0}:|elif {1}:|else:",
                "for _ in {0}:|else:",
            ),
            *("match {0}:|  case [1, *x] | {{'k': x}}:", "match {0}:|  case C(y, z=_) if {1}:"),
        ),
        expression,
        expression,
    )
    return st.recursive(
        simple,
        lambda inner: st.builds(_compound, headers, inner, inner) | st.builds(list.__add__, inner, inner),
        max_leaves=6,
    )


def _compound(headers: str, *blocks: list[str]) -> list[str]:
    lines = []
    for number, header in enumerate(headers.split("|")):
        is_subject = header.startswith("match")
        lines.append(header)
        if not is_subject:
            pad = "    " if header.startswith(" ") else "  "
            lines += [pad + line for line in blocks[number % len(blocks)]]
    return lines


def _program(lines: list[str]) -> str:
    return "class K:\n\tx = 1\n\n\tdef f(self, a, b=2):\n" + "".join(f"\t\t{line}\n" for line in lines)


def _refusal(source: str | bytes) -> str | None:
    """Why a source gives no graphs; None if it gives some."""
    try:
        extract(source, "some.py")
    except SourceError as refused:
        return str(refused)
    return None


@settings(max_examples=60, deadline=None)
@given(_statements())
def test_programs_give_graphs_that_fit_their_text(lines: list[str]):
    source = _program(lines)
    refusal = _refusal(source)
    if refusal is not None:
        assert "not valid Python 3" in refusal  # such as a global name that is used before
        return
    module = extract(source)
    (function,) = module.functions
    assert function.name == "K.f"
    text_lines = source.split("\n")
    assert function.graph.span is not None
    for text, span in zip(function.syntax.tokens.texts, function.graph.span.tolist(), strict=False):
        line, column, end_line, end_column = span
        if line == end_line and text not in (INDENT, DEDENT, "not in", "is not"):
            assert text_lines[line - 1][column:end_column] == text
    for node in ast.walk(function.syntax.function):
        if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.pattern):
            assert 0 <= function.syntax.node(node) < function.graph.num_nodes
    again = extract_function(function.source, function, module.facts)
    assert again.graph == function.graph
    pairs = pairwise(function)
    assert pairs.num_nodes >= function.graph.num_nodes
    assert between_tokens(pairs, tokens_of(function)).num_nodes == len(function.syntax.tokens.texts)


@settings(max_examples=60, deadline=None)
@given(_statements(), st.integers(0, 400), st.text(max_size=3))
def test_broken_programs_are_refused_or_read(lines: list[str], place: int, noise: str):
    source = _program(lines)
    refusal = _refusal(source[:place] + noise + source[place + 1 :])
    assert refusal is None or refusal.startswith("some.py:")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_are_refused_or_read(source: bytes):
    refusal = _refusal(source)
    assert refusal is None or "\n" not in refusal
