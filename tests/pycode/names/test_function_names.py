"""Scopes: symbols of all kinds of binding, checked by hand and against the standard library's `symtable`."""

import ast
import symtable
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from hyperheat.pycode.names.function_names import FunctionNames, ModuleScope, resolve_names
from hyperheat.pycode.names.scopes import Scope


def names_of(source: str) -> FunctionNames:
    """Resolve the last function of a module, or the last one of its last class."""
    module = ast.parse(dedent(source))
    scope = ModuleScope.of(module)
    last = module.body[-1]
    if isinstance(last, ast.ClassDef):
        scope, last = scope.inside(last), last.body[-1]
    assert isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef)
    return resolve_names(last, scope)


def symbols(source: str) -> dict[str, list[str]]:
    """Kind and lines of the occurrences of each symbol; symbols of equal name are told apart by marks."""
    names = names_of(source)
    found: dict[str, list[str]] = {}
    labels: list[str] = []
    for symbol in names.symbols:
        label = f"{symbol.name}: {symbol.kind}"
        while label in found:
            label += "'"
        labels.append(label)
        found[label] = []
    for anchor, symbol in zip(names.anchors, names.symbol_of, strict=True):
        found[labels[symbol]].append(_show(anchor))
    return found


def _show(anchor: ast.AST | tuple) -> str:
    if isinstance(anchor, tuple):
        node, *place = anchor
        return f"{node.lineno} {type(node).__name__}.{'.'.join(map(str, place))}"
    return f"{anchor.lineno}"  # type: ignore[attr-defined]


def test_kinds():
    source = """
        import os
        LIMIT = 3
        def f(a, /, b, *args, c=LIMIT, **kwargs):
            x = a + b
            return len(args), c, kwargs, os.sep, x, unknown
    """
    assert symbols(source) == {
        "f: global": ["4 FunctionDef.name"],
        "a: parameter": ["4", "5"],
        "b: parameter": ["4", "5"],
        "args: parameter": ["4", "6"],
        "c: parameter": ["4", "6"],
        "LIMIT: global": ["4"],
        "kwargs: parameter": ["4", "6"],
        "x: local": ["5", "6"],
        "len: builtin": ["6"],
        "os: imported": ["6"],
        "os.sep: imported": ["6"],
        "unknown: global": ["6"],
    }


def test_every_kind_of_binding():
    source = """
        def f(s):
            import a.b
            import c.d as e
            from g import h, i as j
            for k, *m in s: pass
            with s as (n, o): pass
            try: pass
            except E as p: p
            match s:
                case {"k": q, **r} | [q, *r]: pass
                case t as u: pass
            (v := 1)
            w: int = 2
            del w
            class x: pass
    """
    found = symbols(source)
    assert {name for name in found if name.endswith((": local", ": imported"))} == {
        *("a: imported", "e: imported", "h: imported", "j: imported"),
        *(f"{name}: local" for name in "kmnopqrtuvwx"),
    }
    assert found["a: imported"] == ["3 alias.name"]
    assert found["e: imported"] == ["4 alias.asname"]
    assert found["j: imported"] == ["5 alias.asname"]
    assert found["p: local"] == ["9 ExceptHandler.name", "9"]
    assert found["q: local"] == ["11 MatchAs.name", "11 MatchAs.name"]
    assert found["r: local"] == ["11 MatchMapping.rest", "11 MatchStar.name"]
    assert found["t: local"] == ["12 MatchAs.name"]
    assert found["w: local"] == ["14", "15"]
    assert found["x: local"] == ["16 ClassDef.name"]


def test_closures_share_the_symbol():
    source = """
        def f(a):
            b = 1
            def g(c):
                nonlocal b
                b = a
                return lambda d: (a, b, c, d)
    """
    found = symbols(source)
    assert found["a: parameter"] == ["2", "6", "7"]
    assert found["b: local"] == ["3", "5 Nonlocal.names.0", "6", "7"]
    assert found["c: parameter"] == ["4", "7"]
    assert found["d: parameter"] == ["7", "7"]


def test_how_a_scope_sees_a_name():
    names = names_of("def f(a):\n    def g(b):\n        global c\n        return a, b, c, len\n")
    inner = names.scopes[-1]
    assert {name: inner.kind(name) for name in ("a", "b", "c", "len", "__class__")} == {
        "a": "closure",
        "b": "parameter",
        "c": "global",
        "len": "builtin",
        "__class__": "closure",
    }


def test_global_skips_the_functions_around():
    source = """
        def f(x):
            def g():
                global x
                x = 1
                def h():
                    return x
            return x
    """
    found = symbols(source)
    assert found["x: parameter"] == ["2", "8"]
    assert found["x: global"] == ["4 Global.names.0", "5", "7"]


def test_a_builtin_name_that_is_declared_global():
    assert "len: global" in symbols("def f():\n    global len\n    len = 1\n")


def test_comprehension_variables_are_their_own():
    source = """
        def f(x):
            y = [x for x in x if (z := x)]
            return x, z
    """
    found = symbols(source)
    assert found["x: local"] == ["3"] * 3
    assert found["x: parameter"] == ["2", "3", "4"]
    assert found["z: local"] == ["3", "4"]


def test_inner_iterables_see_outer_comprehension_variables():
    assert symbols("def f(x):\n    return {y for x in x for y in x}\n")["x: local"] == ["2", "2"]


def test_class_names_are_not_visible_in_methods():
    source = """
        def f(x):
            class A:
                x = 1
                y = x
                z = [x for _ in y]
                def m(self):
                    return x
    """
    found = symbols(source)
    assert found["x: local"] == ["4", "5"]
    assert found["x: parameter"] == ["2", "6", "8"]


def test_methods_see_their_class_only_in_the_definition():
    source = """
        x = 0
        class A:
            x = 1
            def m(self, a=x):
                return x, m
    """
    found = symbols(source)
    assert found["x: local"] == ["5"]
    assert found["x: global"] == ["6"]
    assert found["m: local"] == ["5 FunctionDef.name"]
    assert found["m: global"] == ["6"]


def test_dotted_names():
    source = """
        def f(self, a):
            self.x.y = self.x
            a().b.c
            def g():
                return self.x
    """
    found = symbols(source)
    assert found["self: parameter"] == ["2", "3", "3", "6"]
    assert found["self.x: parameter"] == ["3", "3", "6"]
    assert found["self.x.y: parameter"] == ["3"]
    assert not any(".b" in name for name in found)


def test_attribute_and_keyword_names_are_no_locals():
    assert symbols("def f(a):\n    b = 1\n    return a.b, g(b=a)\n")["b: local"] == ["2"]


def test_occurrences_are_in_source_order():
    names = names_of("def f(a, b=c):\n    return a if b else {a: b, **c}\n")
    shown = [getattr(anchor, "arg", getattr(anchor, "id", "f")) for anchor in names.anchors]
    assert shown == ["f", "a", "b", "c", "a", "b", "a", "b", "c"]


def test_lazy_annotations():
    assert ModuleScope.of(ast.parse("from __future__ import annotations")).lazy_annotations
    assert not ModuleScope.of(ast.parse("from __future__ import division")).lazy_annotations


def test_names_of_a_module():
    source = """
        import a.b, c as d
        from e import *
        f = [g for g in h]
        if (i := 1):
            def j(): k = 1
            class l: m = 1
        match i:
            case {"n": o, **p}: pass
        try: pass
        except E as q: pass
        lambda r: (s := 1)
    """
    module = ModuleScope.of(ast.parse(dedent(source)))
    assert dict(sorted(module.names.items())) == {
        **dict.fromkeys("ad*", "imported"),
        **dict.fromkeys("fijlopq", "global"),
    }


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters need Python 3.12")
def test_type_parameters():
    source = """
        def f[T: int, *Ts](x: T) -> T:
            type A[U] = list[U] | T
            class B[V](C[V]): pass
            return x
    """
    found = symbols(source)
    assert found["T: local"] == ["2 TypeVar.name", "2", "2", "3"]
    assert found["U: local"] == ["3 TypeVar.name", "3"]
    assert found["V: local"] == ["4 TypeVar.name", "4"]


TABLES = {
    ast.Lambda: "lambda",
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}


def disagreements(scope: Scope, table: symtable.SymbolTable) -> list[str]:
    """Names that a scope classifies otherwise than `symtable` does."""
    wrong = []
    for name in scope.symbols:
        private = name.startswith("__") and not name.endswith("__")  # the compiler renames these in classes
        if "." in name or name == "__class__" or private:
            continue
        symbol = table.lookup(name)
        kind = scope.kind(name)
        # class bodies and comprehensions run inside their function here, and beside it for the compiler
        inside = scope.role != "function" and symbol.is_free()
        agrees = {
            "parameter": symbol.is_parameter() or inside,
            "local": symbol.is_local() or inside,
            "imported": symbol.is_imported() or symbol.is_global() or inside,
            "closure": symbol.is_free(),
            "global": symbol.is_global(),
            "builtin": symbol.is_global(),
        }
        if not agrees[kind]:
            wrong.append(f"{table.get_name()}: {name} is {kind}, not {symbol}")
    return wrong


def tables_by_place(table: symtable.SymbolTable) -> dict[tuple[str, int], list[symtable.SymbolTable]]:
    found: dict[tuple[str, int], list[symtable.SymbolTable]] = {}
    pending = [table]
    while pending:
        table = pending.pop()
        found.setdefault((table.get_name(), table.get_lineno()), []).append(table)
        pending.extend(table.get_children())
    return found


def outermost(body: list[ast.stmt], scope: ModuleScope) -> Iterator[FunctionNames]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield resolve_names(statement, scope)
        elif isinstance(statement, ast.ClassDef):
            yield from outermost(statement.body, scope.inside(statement))


@pytest.mark.parametrize(
    "name", ["argparse", "ast", "dataclasses", "enum", "functools", "inspect", "symtable", "typing"]
)
def test_agrees_with_symtable(name: str):
    path = Path(ast.__file__).parent / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    tables = tables_by_place(symtable.symtable(source, str(path), "exec"))
    tree = ast.parse(source)
    checked = 0
    for names in outermost(tree.body, ModuleScope.of(tree)):
        for scope in names.scopes:
            node: Any = scope.node
            label = getattr(node, "name", None) or TABLES[type(node)]
            decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
            candidates = tables.get((label, node.lineno)) or tables[label, min(decorators)]
            assert min((disagreements(scope, table) for table in candidates), key=len) == []
            checked += 1
    assert checked > 10
