"""Decoding, positions, and clear refusals of what is not readable Python source."""

import copy
import time

import pytest

from hyperheat.pycode import SourceError, extract
from hyperheat.pycode.syntax.python_source import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_OPERANDS,
    MAX_SEPARATORS,
    MAX_TOKENS,
    PythonSource,
)

RETURN = "def f(x):\n    return "


def spans(source: str | bytes) -> dict[str, list[int]]:
    """The span of the first node with each label, in the first function."""
    graph = extract(source).functions[0].graph
    assert graph.span is not None
    pairs = list(zip(graph.labels, graph.span.tolist(), strict=True))
    return dict(reversed(pairs))


@pytest.mark.parametrize(
    "source",
    [
        "def f(é):\n    return 'ü' + y\n",
        "def f(é):\n    return 'ü' + y\n".encode(),
        b"\xef\xbb\xbf" + "def f(é):\n    return 'ü' + y\n".encode(),
        "\ufeffdef f(é):\r\n    return 'ü' + y\r\n",
        "def f(é):\r    return 'ü' + y",
    ],
)
def test_spans_count_characters_in_every_encoding(source):
    found = spans(source)
    assert found["é"] == [1, 6, 1, 7]
    assert found["'ü'"] == [2, 11, 2, 14]
    assert found["y"] == [2, 17, 2, 18]
    assert found["BinaryOperation"] == [2, 11, 2, 18]


def test_the_coding_cookie_counts():
    assert spans(b"# coding: latin-1\ndef f():\n    return '\xe9', y\n")["y"] == [3, 16, 3, 17]


def test_symbols_have_no_span_and_last_dedents_end_with_the_function():
    graph = (
        extract("class A:\n    def f(self):\n        if self:\n            g\n\n\nx = 1\n").functions[0].graph
    )
    assert graph.span is not None
    by_label = list(zip(graph.labels, graph.span.tolist(), strict=True))
    assert [span for label, span in by_label if label == "<DEDENT>"] == [[4, 13, 4, 13]] * 2
    assert by_label[-1] == ("g", [-1, -1, -1, -1])


def test_names_are_labelled_as_written_and_related_as_python_reads_them():
    graph = extract("def f(ﬁ):\n    return fi\n").functions[0].graph
    shown = [line for line in str(graph).splitlines() if line.startswith("Symbol")]
    assert shown == ["Symbol(sym: f#12, may_last_use: f#1)", "Symbol(sym: fi#13, occ: ﬁ, may_last_use: fi#8)"]


def test_form_feeds_tabs_and_continuations_are_layout():
    graph = extract("\x0cdef f(x):\n\tif x:\n\t    return x \\\n\t + 1\n\x0c\n").functions[0].graph
    assert graph.labels[:16] == [
        *["def", "f", "(", "x", ")", ":", "<INDENT>", "if", "x", ":", "<INDENT>", "return", "x", "+", "1"],
        "<DEDENT>",
    ]


REFUSED = {
    "NUL": ("def f():\n    \0\n", "a.py:2: not Python source: a NUL character"),
    "NUL bytes": (b"def f():\n    \0\n", "a.py:2: not Python source: a NUL character"),
    "surrogate": (
        "def f():\n    '\udc80'\n",
        "a.py:2: not Python source: the lone surrogate U+DC80",
    ),
    "not UTF-8": (
        b"x = 1\ny = '\xe9'\n",
        "a.py:2: cannot decode the file as utf-8: the byte 0xe9 (invalid continuation byte)",
    ),
    "unknown encoding": (b"# coding: foo\n", "a.py:1: cannot decode the file: unknown encoding: foo"),
    "no text encoding": (
        b"# coding: base64\n",
        "a.py:1: cannot decode the file: 'base64' is not a text",
    ),
    "UTF-16": (
        "def f(): pass".encode("utf-16"),
        "a.py:1: cannot decode the file: invalid or missing",
    ),
    "Python 2": ("def f():\n    print 'x'\n", "a.py:2: not valid Python 3: Missing parentheses"),
    "broken": ("def f(:\n", "a.py:1: not valid Python 3: invalid syntax"),
    "does not compile": (
        "def f():\n    break\n",
        "a.py:2: not valid Python 3: 'break' outside loop",
    ),
    "many digits": (RETURN + "1" * 10_000, "a.py:2: not valid Python 3: Exceeds the limit"),
    "brackets": (
        RETURN + "(" * 5_000 + ")" * 5_000,
        "a.py:2: not valid Python 3: too many nested",
    ),
    "terms": (RETURN + "+".join(["x"] * 30_000), f"syntax nested more than {MAX_DEPTH} levels deep"),
    "some terms": (
        RETURN + "+".join(["x"] * 210),
        f"a.py:2: syntax nested more than {MAX_DEPTH} levels deep",
    ),
    "signs": (RETURN + "-" * 100_000 + "x", f"syntax nested more than {MAX_DEPTH} levels deep"),
    "dots": (RETURN + "x" + ".x" * 30_000, f"syntax nested more than {MAX_DEPTH} levels deep"),
    "calls": (RETURN + "x" + "()" * 30_000, f"syntax nested more than {MAX_DEPTH} levels deep"),
    "elif": ("def f(x):\n  if x: x\n" + "  elif x: x\n" * 3_000, f"more than {MAX_DEPTH} levels deep"),
    "clauses": (RETURN + "[x " + "for x in y " * 500 + "]", f"a.py:2: syntax nested more than {MAX_DEPTH}"),
    "long line": (
        RETURN + "'" + "x" * 1_000_000 + "'",
        f"a.py: expected at most {MAX_CHARACTERS} characters",
    ),
    "dense line": (
        RETURN + "[" + "x," * 400_000 + "]",
        f"a.py: expected at most {MAX_SEPARATORS} separators",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_with_one_sentence_and_at_once(case):
    source, message = REFUSED[case]
    start = time.process_time()
    with pytest.raises(SourceError) as caught:
        extract(source, "a.py")
    assert message in str(caught.value)
    assert str(caught.value).startswith("a.py")
    assert "\n" not in str(caught.value)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("operator", [" and ", " < "])
def test_one_chain_that_is_too_long_is_refused_alone(operator):
    start = time.process_time()
    module = extract("def g(): pass\n" + RETURN + operator.join(["x"] * 30_000), "a.py")
    assert [function.name for function in module.functions] == ["g"]
    assert [str(refusal) for refusal in module.refused] == [
        f"a.py:3: expected at most {MAX_OPERANDS} operands in a chain, got 30000"
    ]
    assert time.process_time() - start < 2


def test_one_function_that_is_too_long_is_refused_alone():
    source = "def g(): pass\n" + RETURN + "[" + "x," * 60_000 + "]"
    start = time.process_time()
    module = extract(source, "a.py")
    assert [function.name for function in module.functions] == ["g"]
    expected = f"a.py:2: function f has more than {MAX_TOKENS} tokens"
    assert [str(refusal) for refusal in module.refused] == [expected]
    assert time.process_time() - start < 2


READ = {
    "brackets": RETURN + "(" * 150 + "x" + ")" * 150,
    "terms": RETURN + "+".join(["x"] * 150),
    "blocks": "def f(x):\n" + "".join(" " * i + "if x:\n" for i in range(1, 90)) + " " * 90 + "pass\n",
    "string": RETURN + "'" + "x" * 900_000 + "'",
    "no newline": "def f(x): return x",
    "decorator in brackets": "@(\n    # @ no\n    deco)\ndef f(x): return x\n",
    "continued indentation": "class A:\n    \\\n  def f(x): return x\n",
    "comparisons": RETURN + " < ".join(["x"] * 3_000),
    "empty": "",
    "blank": "\n  \n\t\n",
}


@pytest.mark.parametrize("case", READ)
def test_reads_what_is_odd_but_valid(case):
    start = time.process_time()
    functions = extract(READ[case]).functions
    assert len(functions) == (0 if case in ("empty", "blank") else 1)
    assert time.process_time() - start < 2


def test_refusals_pass_between_processes():
    refusal = SourceError("a.py", 3, "expected this, got that")
    again = copy.copy(refusal)  # by the same protocol as between processes
    assert (str(again), again.path, again.line) == ("a.py:3: expected this, got that", "a.py", 3)


def test_long_labels_are_shortened_visibly():
    label = extract(RETURN + "'" + "x" * 900 + "yz'").functions[0].graph.labels[8]
    assert label == "'" + "x" * 99 + "...(904 characters)..." + "x" * 17 + "yz'"


def test_offsets_outside_the_text_are_unknown():
    source = PythonSource.read("é = 1\n")
    assert source.offset(1, 3) == 2
    assert source.offset(1, 99) == source.offset(9, 0) == -1
