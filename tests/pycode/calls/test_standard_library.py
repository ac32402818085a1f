"""The table of signatures of the builtins and the standard library."""

import ast
import builtins
import inspect
import json
import subprocess
import sys
from importlib.resources import files

import pytest

from hyperheat.pycode.calls.definitions import Class, Function
from hyperheat.pycode.calls.signatures import signature_of
from hyperheat.pycode.calls.standard_library import TABLE, sections, stdlib_module


def test_the_table_is_small():
    assert len(files("hyperheat.pycode.calls").joinpath(TABLE).read_bytes()) < 400_000


def test_every_section_parses():
    for name, text in sections().items():
        assert ast.parse(text).body or not text.strip(), name


def test_unknown_modules_are_none():
    assert stdlib_module("no_such_module") is None


@pytest.mark.parametrize("name", ["os", "os.walk", "json.decoder", "collections", "email.message", "_thread"])
def test_modules_of_the_standard_library_are_there(name: str):
    assert (stdlib_module(name) is None) == (name == "os.walk")


def _function(module: str, path: str) -> Function:
    definitions = stdlib_module(module)
    assert definitions is not None
    bindings = definitions.bindings
    *classes, name = path.split(".")
    for cls in classes:
        found = bindings[cls][0]
        assert isinstance(found, Class)
        bindings = found.members
    found = bindings[name][0]
    assert isinstance(found, Function)
    return found


@pytest.mark.parametrize(
    ("module", "path", "positional", "returns"),
    [
        ("builtins", "len", ("obj",), "int"),
        ("builtins", "str.join", ("self", "iterable"), "str"),
        ("builtins", "dict.get", ("self", "key", "default"), "Value"),
        ("builtins", "list.pop", ("self", "index"), "Item"),
        ("posixpath", "join", ("a",), "str"),
        ("re", "Pattern.sub", ("self", "repl", "string", "count"), "str"),
        ("time", "sleep", ("seconds",), None),
        ("shutil", "rmtree", ("path", "ignore_errors", "onerror"), None),
    ],
)
def test_known_signatures(module: str, path: str, positional: tuple[str, ...], returns: str | None):
    function = _function(module, path)
    assert function.signature.positional == positional
    assert isinstance(function.node, ast.FunctionDef)
    declared = function.node.returns
    assert (None if declared is None else ast.unparse(declared)) == returns


def test_builtin_functions_have_the_formals_that_python_reports():
    renamed = {"print"}  # reported as `*args`, known to everyone as `*values`
    compared = 0
    for name, value in vars(builtins).items():
        if not inspect.isbuiltin(value) or name.startswith("_") or name in renamed:
            continue
        try:
            expected = list(inspect.signature(value).parameters)
        except ValueError:
            continue
        signature = _function("builtins", name).signature
        names = [*signature.positional, signature.vararg, *signature.keyword_only, signature.kwarg]
        assert [found for found in names if found] == expected, name
        compared += 1
    assert compared > 25


def test_formals_written_in_a_definition():
    arguments = ast.parse("def f(a, /, b, c=1, *d, e, g=2, **h): ...").body[0].args  # type: ignore[attr-defined]
    signature = signature_of(arguments)
    assert signature.positional == ("a", "b", "c")
    assert (signature.positional_only, signature.required) == (1, 2)
    assert (signature.vararg, signature.keyword_only, signature.kwarg) == ("d", ("e", "g"), "h")
    assert signature.without_first().positional == ("b", "c")


def test_looking_up_signatures_imports_nothing():
    script = """
import json, sys
from hyperheat.pycode.calls.standard_library import stdlib_module
before = set(sys.modules)
for name in ("sqlite3", "tkinter", "asyncio.events", "xmlrpc.client"):
    assert stdlib_module(name).bindings
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"sqlite3", "tkinter", "asyncio", "xmlrpc"} & set(json.loads(run.stdout))
