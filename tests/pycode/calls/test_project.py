"""Imports followed inside a project."""

import ast
import gc
import weakref
from pathlib import Path

import pytest
from tests.pycode.calls.meaning import project_calls, write_files

from hyperheat.pycode import extract
from hyperheat.pycode.calls.project import ProjectIndex, define_file
from hyperheat.pycode.calls.standard_library import stdlib_module

PACKAGE = {
    "pkg/__init__.py": """
        from .core import Engine as Motor, start
        from .tools import *
        from . import core
    """,
    "pkg/core.py": """
        from __future__ import annotations
        from .tools import Hammer
        def start(speed, gear=1) -> Engine: ...
        def _hidden(x): ...
        class Engine:
            def __init__(self, power):
                self.hammer = Hammer(power)
            def run(self, distance): ...
    """,
    "pkg/tools/__init__.py": """
        __all__ = ["Hammer"]
        from .hammer import Hammer
        from pkg import core as back
    """,
    "pkg/tools/hammer.py": """
        class Hammer:
            def __init__(self, weight): ...
            def hit(self, nail): ...
    """,
}


@pytest.mark.parametrize(
    ("imports", "call", "expected"),
    [
        ("import pkg", "pkg.start(1)", "start(speed: 1)"),
        ("import pkg.core", "pkg.core.start(1)", "start(speed: 1)"),
        ("import pkg.core as c", "c.start(1)", "start(speed: 1)"),
        ("from pkg import core", "core.start(1)", "start(speed: 1)"),
        ("from pkg.core import start", "start(1)", "start(speed: 1)"),
        ("from pkg.core import start as go", "go(1)", "start(speed: 1)"),
        ("from pkg import Motor", "Motor(1)", "Engine(power: 1)"),
        ("from pkg import Hammer", "Hammer(1)", "Hammer(weight: 1)"),
        ("from pkg.core import *", "start(1)", "start(speed: 1)"),
        ("from pkg.core import *", "_hidden(1)", "_hidden(arg1: 1)"),
        ("from pkg.tools import back", "back.start(1)", "start(speed: 1)"),
        ("from pkg import start", "start(1).run(2)", "run(self: start(1), distance: 2)"),
        ("from pkg import Motor", "Motor(1).hammer.hit(2)", "hit(self: Motor(1).hammer, nail: 2)"),
        ("import pkg", "pkg.missing(1)", "missing(self: pkg, arg1: 1)"),
        ("from elsewhere import start", "start(1)", "start(arg1: 1)"),
    ],
)
def test_absolute_imports(tmp_path: Path, imports: str, call: str, expected: str):
    project = write_files(tmp_path, {**PACKAGE, "main.py": f"{imports}\ndef f():\n    {call}\n"})
    assert project_calls(project, "main.py")[0] == expected


@pytest.mark.parametrize(
    ("imports", "call", "expected"),
    [
        ("from . import core", "core.start(1)", "start(speed: 1)"),
        ("from .core import Engine", "Engine(1)", "Engine(power: 1)"),
        ("from .tools.hammer import Hammer", "Hammer(1)", "Hammer(weight: 1)"),
        ("from .. import core", "core.start(1)", "start(self: core, arg1: 1)"),
    ],
)
def test_relative_imports(tmp_path: Path, imports: str, call: str, expected: str):
    project = write_files(tmp_path, {**PACKAGE, "pkg/main.py": f"{imports}\ndef f():\n    {call}\n"})
    assert project_calls(project, "pkg/main.py") == [expected]


def test_relative_imports_from_a_deeper_module(tmp_path: Path):
    deeper = "from ..core import start\nfrom .hammer import Hammer\ndef f():\n    start(1)\n    Hammer(2)\n"
    project = write_files(tmp_path, {**PACKAGE, "pkg/tools/main.py": deeper})
    assert project_calls(project, "pkg/tools/main.py") == ["start(speed: 1)", "Hammer(weight: 2)"]


def test_imports_inside_a_function(tmp_path: Path):
    main = "def f():\n    from pkg.core import start\n    start(1)\n"
    project = write_files(tmp_path, {**PACKAGE, "main.py": main})
    assert project_calls(project, "main.py") == ["start(speed: 1)"]


def test_a_source_folder_is_not_part_of_the_name(tmp_path: Path):
    files = {f"src/{path}": source for path, source in PACKAGE.items()}
    main = "from pkg.core import start\ndef f():\n    start(1)\n"
    project = write_files(tmp_path, {**files, "tests/test_core.py": main})
    assert project_calls(project, "tests/test_core.py") == ["start(speed: 1)"]
    assert project.names[tmp_path.resolve() / "src/pkg/tools/hammer.py"] == "pkg.tools.hammer"


def test_packages_without_init(tmp_path: Path):
    files = {
        "space/one.py": "def foo(a): ...",
        "main.py": "import space.one\ndef f():\n    space.one.foo(1)\n",
    }
    assert project_calls(write_files(tmp_path, files), "main.py") == ["foo(a: 1)"]


def test_of_scripts_with_one_name_the_one_beside_the_importer_counts(tmp_path: Path):
    user = "from helper import foo\ndef f():\n    foo(1)\n"
    files = {
        "a/helper.py": "def foo(a): ...",
        "b/helper.py": "def foo(b): ...",
        "b/user.py": user,
        "c/other.py": user,
    }
    project = write_files(tmp_path, files)
    assert project_calls(project, "b/user.py") == ["foo(b: 1)"]
    assert project_calls(project, "c/other.py") == ["foo(arg1: 1)"]


def test_bases_in_other_files(tmp_path: Path):
    main = """
        from pkg.core import Engine
        class Turbo(Engine):
            def f(self):
                self.run(1)
                self.hammer.hit(2)
                Turbo(3)
    """
    project = write_files(tmp_path, {**PACKAGE, "main.py": main})
    assert project_calls(project, "main.py") == [
        "run(self: self, distance: 1)",
        "hit(self: self.hammer, nail: 2)",
        "Turbo(power: 3)",
    ]


@pytest.mark.parametrize(
    "broken",
    [
        b"def broken(:",
        b"x = '\0'",
        b"\xff\xfe\xfa",
        b"# coding: no-such-codec\n",
        b"(" * 5000,
        b"x" * 5_000_000,
    ],
    ids=["syntax", "nul", "encoding", "codec", "nesting", "size"],
)
def test_a_broken_file_is_a_module_about_which_nothing_is_known(tmp_path: Path, broken: bytes):
    files = {"main.py": "from broken import foo\nimport good\ndef f():\n    foo(1)\n    good.foo(2)\n"}
    (tmp_path / "broken.py").write_bytes(broken)
    project = write_files(tmp_path, {**files, "good.py": "def foo(a): ..."})
    assert project_calls(project, "main.py") == ["foo(arg1: 1)", "foo(a: 2)"]


def test_imports_in_a_circle(tmp_path: Path):
    files = {
        "a.py": "from b import foo, bar\ndef baz(x): ...\ndef f():\n    foo(1)\n    bar(2)\n",
        "b.py": "from a import foo, baz\nfrom a import baz as bar\n",
    }
    assert project_calls(write_files(tmp_path, files), "a.py") == ["foo(arg1: 1)", "baz(x: 2)"]


def test_the_index_leaves_out_hidden_and_installed_files(tmp_path: Path):
    names = [".git/x.py", "venv/x.py", "lib/site-packages/x.py", "__pycache__/x.py", "kept.py"]
    assert list(write_files(tmp_path, dict.fromkeys(names, "")).files) == ["kept"]


def test_building_the_index_parses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_files(tmp_path, PACKAGE)
    monkeypatch.setattr(ast, "parse", lambda *_: pytest.fail("parsed"))
    assert set(ProjectIndex.build(tmp_path).files) == {"pkg", "pkg.core", "pkg.tools", "pkg.tools.hammer"}


def test_a_project_module_wins_over_the_standard_library(tmp_path: Path):
    main = "import queue\ndef f():\n    queue.Queue(1)\n"
    files = {"queue.py": "class Queue:\n    def __init__(self, own): ...\n", "main.py": main}
    assert project_calls(write_files(tmp_path, files), "main.py") == ["Queue(own: 1)"]


def test_without_a_project_the_place_of_a_file_still_tells_its_package(tmp_path: Path):
    write_files(tmp_path, PACKAGE)
    module = define_file(ast.parse(""), tmp_path / "pkg/tools/hammer.py", None)
    assert (module.name, module.is_package) == ("pkg.tools.hammer", False)
    package = define_file(ast.parse(""), tmp_path / "pkg/tools/__init__.py", None)
    assert (package.name, package.is_package) == ("pkg.tools", True)


def test_the_library_does_not_remember_projects(tmp_path: Path):
    main = "import argparse\ndef f():\n    argparse.ArgumentParser().parse_args(1)\n"
    project = write_files(tmp_path, {"main.py": main, "os.py": "def unrelated(): ..."})
    assert project_calls(project, "main.py")[0].startswith(
        "parse_args(self: argparse.ArgumentParser(), args: 1"
    )
    library = stdlib_module("argparse")
    assert library is not None
    assert list(library.memo) == [None]


def test_an_index_is_forgotten_with_its_project(tmp_path: Path):
    """What is remembered of the standard library, for the life of the process, holds no project."""
    (tmp_path / "a.py").write_text(
        "from importlib import import_module\n\ndef f(x):\n    return import_module(x).y\n"
    )
    project = ProjectIndex.build(tmp_path)
    watched = weakref.ref(project)
    extract((tmp_path / "a.py").read_bytes(), tmp_path / "a.py", project)
    del project
    gc.collect()
    assert watched() is None
