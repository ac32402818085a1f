"""`hyperheat graph`: show the hypergraph of Python functions."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from hyperheat.cli.refusal import fail
from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.draw import to_dot, to_svg, to_text
from hyperheat.hypergraph.hif import to_hif
from hyperheat.hypergraph.jsonl import to_record
from hyperheat.hypergraph.transforms import drop_relations
from hyperheat.pycode import FunctionGraph, SourceError, extract
from hyperheat.pycode.calls.project import ProjectIndex
from hyperheat.spelling import did_you_mean

__all__ = ["graph"]


def graph(
    target: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    format: Literal["text", "dot", "svg", "json", "hif"] = "text",
    relation: list[str] | None = None,
    project: Path | None = None,
    comments: bool = False,
) -> None:
    """Show the hypergraph of the functions of a Python file.

    Parameters
    ----------
    target
        FILE or FILE:FUNCTION; FUNCTION is a name such as Class.method or method. Use - to read standard input.
    format
        text and json show all functions of the file; dot, svg and hif show one function.
    relation
        Show only this relation, such as CtrlF; nodes keep their numbers. Repeat the option to show several.
    project
        Project folder, to find the functions that the file imports.
    comments
        Include comments as tokens.
    """
    path, name = _split(target)
    try:
        source = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        index = ProjectIndex.build(project) if project is not None else None
        module = extract(source, path, index, comments=comments)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    except SourceError as error:
        fail(str(error))
    for refusal in module.refused:
        sys.stderr.write(f"{refusal}\n")
    chosen = _choose(module.functions, path, name)
    if format in _ONE_GRAPH and len({function.name for function in chosen}) > 1:
        names = _listed([function.name for function in chosen])
        fail(f"{path}: {format} shows one function, so choose one as FILE:FUNCTION ({names})")
    graphs = _only(relation, [function.graph for function in chosen], path)
    shown = list(zip(chosen, graphs, strict=True))
    if format in _ONE_GRAPH:
        shown = shown[-1:]  # of several definitions with one name, the last is in effect
    show = _FORMATS[format]
    sys.stdout.write("\n".join(show(function, graph) for function, graph in shown).rstrip("\n") + "\n")


def _split(target: str) -> tuple[str, str | None]:
    """The file and, behind a colon, the function."""
    path, colon, name = target.rpartition(":")
    if not colon or Path(target).exists():
        return target, None
    return path, name


def _choose(functions: tuple[FunctionGraph, ...], path: str, name: str | None) -> list[FunctionGraph]:
    if not functions:
        fail(f"{path}: no functions in this file")
    if name is None:
        return list(functions)
    exact = [function for function in functions if function.name == name]
    by_last_part = [function for function in functions if function.name.rpartition(".")[2] == name]
    if exact or by_last_part:
        return exact or by_last_part
    known = sorted({function.name for function in functions})
    return fail(f"{path}: no function named {name!r}; {_suggest(name, known)}")


def _only(wanted: list[str] | None, graphs: list[Hypergraph], path: str) -> list[Hypergraph]:
    """The graphs with the wanted relations alone; all nodes stay, so that they keep their numbers."""
    if not wanted:
        return graphs
    present = sorted({name for graph in graphs for name in graph.relations})
    for name in wanted:
        if name not in present:
            fail(f"{path}: no relation named {name!r}; {_suggest(name, present)}")
    return [drop_relations(graph, sorted(set(graph.relations) - set(wanted))) for graph in graphs]


def _suggest(name: str, known: list[str]) -> str:
    return did_you_mean(name, known, most=3, otherwise=f"there is {_listed(known)}")


def _listed(names: list[str]) -> str:
    return ", ".join([*names[:4], *(["..."] if len(names) > 4 else [])])


def _text(function: FunctionGraph, graph: Hypergraph) -> str:
    first, _, last, _ = function.span
    return f"{function.name} (lines {first}-{last})\n\n{to_text(graph, isolated=False)}\n"


def _json(function: FunctionGraph, graph: Hypergraph) -> str:
    return json.dumps({"name": function.name, "span": function.span, **to_record(graph)})


_FORMATS: dict[str, Callable[[FunctionGraph, Hypergraph], str]] = {
    "text": _text,
    "json": _json,
    "dot": lambda function, graph: to_dot(graph, isolated=False),
    "svg": lambda function, graph: to_svg(graph, isolated=False),
    "hif": lambda function, graph: json.dumps(to_hif(graph)),
}
_ONE_GRAPH = ("dot", "svg", "hif")
