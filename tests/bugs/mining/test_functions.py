"""Functions found by a cheap split, which the syntax tree confirms."""

import ast
import sysconfig
from pathlib import Path

import pytest

from hyperheat.bugs.mining.prefilter import Functions, differing_functions
from hyperheat.pycode.extraction import outermost_functions

STANDARD = Path(sysconfig.get_paths()["stdlib"])


def texts(source):
    functions = Functions.of(source if isinstance(source, bytes) else source.encode())
    return {place: functions.function(place).decode() for place in functions.spans}


def test_names_classes_and_equal_names():
    source = """
import os
def f(): return 1
class A:
    x = 1
    @property
    def p(self):
        def inner():
            return 1
        return inner
    @p.setter
    def p(self, value):
        self.x = value
    class B:
        async  def f(self): pass
    def last(self): pass
def f(a): return 2
"""
    assert list(texts(source)) == [
        ("f", 0),
        ("A.p", 0),
        ("A.p", 1),
        ("A.B.f", 0),
        ("A.last", 0),
        ("f", 1),
    ]
    assert texts(source)["A.p", 1] == "    def p(self, value):\n        self.x = value\n"


def test_functions_behind_conditions_belong_to_no_function_or_class_above():
    source = """
def f(a):
    def inner(): return 1
    return inner
if f:
    def g(a): return 1
else:
    def g(a): return 2
class A:
    def m(self): pass
    if f:
        def n(self): pass
try:
    import x
except ImportError:
    class B:
        def m(self): pass
    def h(): pass
"""
    places = [("f", 0), ("g", 0), ("g", 1), ("A.m", 0), ("A.n", 0), ("B.m", 0), ("h", 0)]
    assert list(texts(source)) == places
    assert [name for name, _ in outermost_functions(ast.parse(source))] == [name for name, _ in places]


def test_texts_end_with_the_last_line_of_the_function():
    source = "def f(\n    a,\n):\n    return a\n\n\n# about x\nx = 1\n\ndef g():\n\treturn 2\nclass A: pass\n"
    found = texts(source)
    assert found["f", 0] == "def f(\n    a,\n):\n    return a\n\n\n# about x\n"
    assert found["g", 0] == "def g():\n\treturn 2\n"


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_unindented_text_in_strings_does_not_end_a_function(quotes):
    source = f"def f(a):\n    x = {quotes}\nHello\nx = 1\n{quotes}\n    return a + x\ny = 1\n"
    assert texts(source)["f", 0].endswith("return a + x\n")


def test_a_definition_in_a_string_hides_a_change_after_it():
    source = 'def f(a):\n    x = """\ndef g():\n    return 1\n"""\n    return a + 1\n'
    before, after = Functions.of(source.encode()), Functions.of(source.replace("+", "-").encode())
    assert list(before.spans) == [("f", 0), ("g", 0)]
    assert list(differing_functions(before, after)) == []


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_do_not_count(line_end):
    source = "def f(a):\n    return a\n\ndef g(a):\n    return a\n"
    before, after = Functions.of(source.encode()), Functions.of(source.replace("\n", line_end).encode())
    assert list(differing_functions(before, after)) == []


def test_code_after_a_function_is_no_change_of_it():
    source = "def f(a):\n    return a\n\nx = 1\n\ndef g(a):\n    return a\n"
    other = source.replace("x = 1", "x = 17").replace("return a\n\nx", "return a\n\n\nx")
    before, after = Functions.of(source.encode()), Functions.of(other.encode())
    assert list(differing_functions(before, after)) == []
    changed = Functions.of(source.replace("def g(a):\n    return a", "def g(a):\n    return -a").encode())
    assert [change.place for change in differing_functions(before, changed)] == [("g", 0)]


@pytest.mark.parametrize(
    "source", [b"", b"\xff\xfe\0", b"def ", b"def f", b"class A", b"print 'a'\ndef f(): print 1"]
)
def test_any_bytes_can_be_split(source):
    functions = Functions.of(source)
    assert list(differing_functions(functions, functions)) == []


@pytest.mark.parametrize("name", ["argparse.py", "shutil.py", "textwrap.py", "csv.py", "dataclasses.py"])
def test_the_split_agrees_with_the_syntax_tree(name):
    """On files without functions in unindented strings or behind conditions."""
    source = (STANDARD / name).read_bytes().replace(b"\r\n", b"\n")
    functions = Functions.of(source)
    lines = source.decode().splitlines(keepends=True)
    found = 0
    for qualified, node in outermost_functions(ast.parse(source)):
        for number in range(9):
            span = functions.spans.get((qualified, number))
            if span and source.count(b"\n", 0, span[0]) + 1 == node.lineno:
                text = "".join(lines[node.lineno - 1 : node.end_lineno])
                code = functions.function((qualified, number)).decode().splitlines()
                while code and code[-1].lstrip()[:1] in ("", "#"):
                    code.pop()
                assert "\n".join(code) == text.rstrip()
                found += 1
    assert found > 0.9 * len(functions.spans)
