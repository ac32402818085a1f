"""Relations of calls and operators as short lines: `foo(a: 1, b: x)`.

Snippets are modules; the relations are those of the function `f` (or of a named one). Anchors are shown as source
text, the operators of a chained comparison as `<1`, `<2`.
"""

import ast
from pathlib import Path
from textwrap import dedent

from hyperheat.pycode.anchors import Anchor, Relation
from hyperheat.pycode.calls.definitions import define
from hyperheat.pycode.calls.function_calls import CallCounts, FunctionCalls, analyse_calls
from hyperheat.pycode.calls.project import ProjectIndex

__all__ = ["calls", "counts", "project_calls", "sugar", "write_files"]

_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.In: "in", ast.Is: "is"}


def calls(source: str, name: str = "f") -> list[str]:
    """The relations of the calls in a function, `rval` left out, in source order."""
    found, _ = _analyse(source, name)
    return [_line(r.name, r.incidences[1:]) for r in found if _is_call(r)]


def sugar(statement: str) -> list[str]:
    """The relations of a statement that are not calls, `rval` included."""
    body = "\n".join(f"    {line}" for line in dedent(statement).strip().splitlines())
    found, _ = _analyse(f"async def f():\n{body}\n", "f")
    return [_line(r.name, r.incidences) for r in found if not _is_call(r)]


def counts(source: str, name: str = "f") -> CallCounts:
    return _analyse(source, name)[1]


def write_files(folder: Path, files: dict[str, str]) -> ProjectIndex:
    """A project with the given files."""
    for path, source in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(dedent(source))
    return ProjectIndex.build(folder)


def project_calls(project: ProjectIndex, path: str, name: str = "f") -> list[str]:
    """The relations of the calls in a function of a file of a project."""
    file = project.root / path
    tree = ast.parse(file.read_text())
    found, _ = analyse_calls(_function(tree, name), project.define(tree, file), project)
    return [_line(r.name, r.incidences[1:]) for r in found if _is_call(r)]


def _analyse(source: str, name: str) -> FunctionCalls:
    tree = ast.parse(dedent(source))
    return analyse_calls(_function(tree, name), define(tree), None)


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    raise LookupError(f"expected a function named {name}")


def _is_call(relation: Relation) -> bool:
    qualifier, anchor = relation.incidences[0]
    return qualifier == "rval" and isinstance(anchor, ast.Call) and not relation.name.startswith("__iter")


def _line(name: str, incidences: tuple[tuple[str, Anchor], ...]) -> str:
    return f"{name}({', '.join(f'{qualifier}: {_text(anchor)}' for qualifier, anchor in incidences)})"


def _text(anchor: Anchor) -> str:
    match anchor:
        case (ast.Compare(ops=ops), "ops", int(number)):
            return f"{_SIGNS[type(ops[number])]}{number + 1}"
        case (node, str(field)):
            return str(getattr(node, field))
        case ast.Slice():
            return ast.unparse(ast.Subscript(ast.Name(""), anchor)).removeprefix("[").removesuffix("]")
        case ast.FormattedValue():
            return ast.unparse(ast.JoinedStr([anchor]))[2:-1]
        case ast.AST():
            return ast.unparse(anchor)
    raise TypeError(f"expected an anchor, got {anchor!r}")
