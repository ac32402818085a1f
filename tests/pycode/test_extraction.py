"""Which functions become graphs, reading one again after an edit, and determinism."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hyperheat.hypergraph import Position
from hyperheat.pycode import SourceError, extract, extract_function, outline
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.pycode.syntax.function_syntax import FunctionSyntax
from hyperheat.pycode.syntax.python_source import PythonSource

MODULE = '''\
import os

def helper(path, mode="r"):
    return path

class Reader:
    limit = 10

    @property
    def size(self):
        """How much there is."""
        def inner(x):
            return x
        return inner(self.limit)

    class Nested:
        async def read(self, n):
            data = helper(n, "b")
            return data

if os.name == "nt":
    def sep(): return "\\\\"
else:
    try:
        def sep(): return "/"
    finally:
        with x:
            def last(): pass
'''


def test_one_graph_per_outermost_function_in_source_order():
    functions = extract(MODULE).functions
    assert [(function.name, function.span) for function in functions] == [
        ("helper", (3, 0, 4, 15)),
        ("Reader.size", (9, 4, 14, 32)),
        ("Reader.Nested.read", (17, 8, 19, 23)),
        ("sep", (22, 4, 22, 26)),
        ("sep", (25, 8, 25, 29)),
        ("last", (28, 12, 28, 28)),
    ]
    assert functions[2].source == "".join(MODULE.splitlines(keepends=True)[16:19])


def test_an_outline_finds_the_same_functions_and_reads_them_one_by_one():
    found, module = outline(MODULE), extract(MODULE)
    assert [(f.name, f.line, f.end_line) for f in found.functions] == [
        (f.name, f.span[0], f.span[2]) for f in module.functions
    ]
    assert tuple(map(found.read, found.functions)) == module.functions


def test_calls_are_counted():
    functions = {function.name: function for function in extract(MODULE).functions}
    assert functions["Reader.Nested.read"].calls.calls == 1
    assert functions["Reader.Nested.read"].calls.resolved == 1
    assert functions["helper"].calls.calls == 0


def test_calls_of_other_files_of_the_project_are_resolved(tmp_path: Path):
    (tmp_path / "tools.py").write_text("def cut(text, width): ...\n")
    source = "from tools import cut\ndef f(x):\n    cut(x, 3)\n"
    alone = extract(source, "main.py").functions[0]
    inside = extract(source, str(tmp_path / "main.py"), ProjectIndex.build(tmp_path)).functions[0]
    assert "cut(rval: Call, arg1: x#9, arg2: 3)" in str(alone.graph).splitlines()
    assert "cut(rval: Call, text: x#9, width: 3)" in str(inside.graph).splitlines()


def test_reading_an_unchanged_function_again_gives_the_same_graph():
    module = extract(MODULE)
    for function in module.functions:
        again = extract_function(function.source, function, module.facts)
        assert again.graph == function.graph
        assert (again.name, again.span, again.source) == (function.name, function.span, function.source)
        assert again.calls == function.calls


def test_reading_an_edited_function_equals_reading_the_edited_module():
    module = extract(MODULE)
    read = module.functions[2]
    source = read.source.replace('helper(n, "b")', "helper(\n            self, mode=n)  # edited")
    edited = extract_function(source, read, module.facts)
    whole = extract(MODULE.replace(read.source, source)).functions[2]
    assert edited.graph == whole.graph
    assert edited.span == whole.span == (17, 8, 20, 23)
    assert "helper(rval: Call, path: self#14, mode: n#18)" in str(edited.graph).splitlines()


def test_an_edited_method_still_knows_its_class():
    module = extract("class A:\n    def f(self, n):\n        self.f(1)\n")
    (function,) = module.functions
    source = function.source.replace("    def f", "    @deco\n    def f").replace("f(1)", "f(2)")
    edited = extract_function(source, function, module.facts)
    assert "f(rval: Call, self: self#11, n: 2)" in str(edited.graph).splitlines()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "m.py:3: expected the text of one function, got none"),
        ("def f(): pass\ndef g(): pass\n", "m.py:3: expected the text of one function, got f, g"),
        ("def f(:\n", "m.py:3: not valid Python 3: invalid syntax"),
        ("def f():\n    break\n", "m.py:4: not valid Python 3: 'break' outside loop"),
    ],
)
def test_an_edit_that_leaves_no_function_is_refused(source: str, message: str):
    module = extract(MODULE, "m.py")
    with pytest.raises(SourceError, match=f"^{message}"):
        extract_function(source, module.functions[0], module.facts)


def test_long_functions_have_overlapping_chunks_with_absolute_positions():
    graph = extract("def f(x):\n" + "    x = x\n" * 10, chunk=16, overlap=4).functions[0].graph
    chunks = [edge.incidences for edge in graph if edge.relation == "Tokens"]
    ranges = [(chunk[0], chunk[-1]) for chunk in chunks]
    assert ranges == [
        ((Position(1), 0), (Position(16), 15)),
        ((Position(13), 12), (Position(28), 27)),
        ((Position(25), 24), (Position(38), 37)),
    ]
    assert [len(chunk) for chunk in chunks] == [16, 16, 14]


def test_the_overlap_must_be_smaller_than_the_chunk():
    with pytest.raises(ValueError, match="overlap: expected at least 0 and less than chunk=8, got 8"):
        extract("", chunk=8, overlap=8)


def test_comments_are_tokens_when_asked_for():
    source = "def f(x):  # a\n    # b\n    return x\n"
    plain, kept = extract(source).functions[0], extract(source, comments=True).functions[0]
    assert not any(label.startswith("#") for label in plain.graph.labels)
    tokens = next(iter(kept.graph))
    assert [kept.graph.labels[node] for _, node in tokens.incidences] == [
        *["def", "f", "(", "x", ")", ":", "# a", "# b", "<INDENT>", "return", "x", "<DEDENT>"],
    ]
    assert [edge.relation for edge in kept.graph] == [edge.relation for edge in plain.graph]


def test_anchors_lead_to_nodes():
    function = extract("def f(a, b):\n    return a.x < b not in (a, b)\n").functions[0]
    compare = function.syntax.function.body[0].value  # pyright: ignore[reportAttributeAccessIssue]
    labels = function.graph.labels
    assert labels[function.syntax.node(compare)] == "Comparison"
    assert labels[function.syntax.node((compare, "ops", 0))] == "<"
    assert labels[function.syntax.node((compare, "ops", 1))] == "not in"
    assert labels[function.syntax.node((compare.left, "attr"))] == "x"
    assert labels[function.syntax.node((function.syntax.function, "name"))] == "f"


def test_syntax_with_wrong_positions_has_nodes_without_a_place():
    """As in f-strings of early versions of Python 3.11."""
    source = PythonSource.read("def f(a):\n    return f'{a.b < 1 < a(k=-a)}{a in a}'\n")
    (function,) = source.parse().body
    assert isinstance(function, ast.FunctionDef)
    for field in function.body[0].value.values:  # pyright: ignore[reportAttributeAccessIssue]
        for node in ast.walk(field):
            if isinstance(node, ast.expr | ast.keyword):
                node.lineno = node.end_lineno = 99
    syntax = FunctionSyntax(function, source)
    syntax.relate_tree()
    comparison = function.body[0].value.values[0].value  # pyright: ignore[reportAttributeAccessIssue]
    assert syntax.node((comparison, "ops", 1)) == syntax.node(comparison)
    lines = str(syntax.columns.build(source)).splitlines()
    assert "AstNode(node: Comparison#36, left: Attribute, comparator1: int, comparator2: Call)" in lines
    assert "AstNode(node: Arg, value: UnaryOperation)" in lines


PRINT_GRAPHS = """
import sys, hashlib, json, argparse
from hyperheat.pycode import extract
for module in (json.decoder, argparse):
    with open(module.__file__, "rb") as file:
        for function in extract(file.read()).functions:
            sys.stdout.write(f"{function.name} {function.span} {function.graph} {function.graph.span.tolist()}")
"""


def test_output_does_not_depend_on_the_hash_seed():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PRINT_GRAPHS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    ]
    assert len(outputs[0]) > 100_000
    assert outputs[0] == outputs[1]


def test_a_parameter_occurs_at_its_name_whatever_stands_around_it():
    lines = str(extract("def f(a: A = 1): return a\n").functions[0].graph).splitlines()
    assert "MayWrite(prev: a#3, succ: a#11)" in lines
    assert any(line.startswith("Symbol(") and "occ: a#3, may_last_use: a#11" in line for line in lines)
