"""Compare our resolution of calls with jedi's on calls of the running Python's standard library.

    python tools/compare_jedi.py [--calls 2000] [--seed 0] [--show]

A call counts as resolved by jedi if one of the signatures it offers fits the arguments, and as agreed if one of
them gives the same formal names as ours (leading underscores, which stubs use for positional-only parameters, do
not count). Exits with 1 if we resolve fewer calls than jedi or agree on less than 95 % of those that both resolve.
"""

import argparse
import ast
import bisect
import io
import random
import sys
import sysconfig
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from pathlib import Path
from typing import Any

import jedi

from hyperheat.pycode.calls.inference import Resolver
from hyperheat.pycode.calls.project import ProjectIndex, define_file
from hyperheat.pycode.calls.signatures import Signature, bind, call_relation

__all__ = ["Comparison", "compare", "library_files"]

STDLIB = Path(sysconfig.get_paths()["stdlib"])
_LEFT_OUT = {"test", "tests", "idle_test", "idlelib", "lib2to3", "turtledemo", "ensurepip", "site-packages"}
_PER_FILE = 20
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Comparison:
    """Counts of calls, and lines that show what differs."""

    calls: int = 0
    ours: int = 0
    jedi: int = 0
    both: int = 0
    agreed: int = 0
    only_jedi: list[str] = field(default_factory=list)
    disagreed: list[str] = field(default_factory=list)

    @property
    def agreement(self) -> float:
        return self.agreed / max(self.both, 1)

    def __str__(self) -> str:
        counts = f"{self.calls} calls: we resolve {self.ours}, jedi {self.jedi}, both {self.both}"
        return f"{counts}, of which {self.agreed} agree ({self.agreement:.1%})"


def library_files(seed: int) -> list[Path]:
    """The files of the standard library without its tests, in random order."""
    files = [p for p in STDLIB.rglob("*.py") if not _LEFT_OUT & set(p.relative_to(STDLIB).parts)]
    files.sort()
    random.Random(seed).shuffle(files)
    return files


def compare(
    files: Iterable[Path], count: int, seed: int, projects: Sequence[ProjectIndex | None]
) -> list[Comparison]:
    """Compare on random calls, at most 20 of a file, in each of the projects."""
    results = [Comparison() for _ in projects]
    chooser = random.Random(seed)
    for path in files:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        functions = _outermost(tree.body)
        places = [call for function in functions for call in _calls(function)]
        chosen = chooser.sample(places, min(_PER_FILE, len(places)))
        answers = _ask_jedi(source, path, chosen)
        for project, result in zip(projects, results, strict=True):
            ours = _ask_ourselves(tree, path, functions, project)
            for call, signatures in zip(chosen, answers, strict=True):
                _note(result, path, call, ours.get(call), signatures)
        if results[0].calls >= count:
            break
    return results


def _outermost(body: Iterable[ast.AST]) -> list[FunctionNode]:
    found: list[FunctionNode] = []
    for node in body:
        if isinstance(node, FunctionNode):
            found.append(node)
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
            found += _outermost(ast.iter_child_nodes(node))
    return found


def _calls(node: ast.AST) -> list[ast.Call]:
    """The calls below a node; those in f-strings have no certain place before Python 3.12."""
    found = [node] if isinstance(node, ast.Call) else []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            found += _calls(child)
    return found


def _ask_jedi(source: str, path: Path, calls: list[ast.Call]) -> list[list[Signature]]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    brackets = [token.start for token in tokens if token.string == "("]
    lines = source.splitlines(keepends=True)
    script = jedi.Script(source, path=path)
    answers = []
    for call in calls:
        line, column = call.func.end_lineno or 1, call.func.end_col_offset or 0
        column = len(lines[line - 1].encode()[:column].decode())
        line, column = brackets[bisect.bisect_left(brackets, (line, column))]
        try:
            found = script.get_signatures(line, column + 1)
        except Exception:  # jedi raises many kinds of errors on hard files
            found = []
        answers.append([_signature(signature.params) for signature in found])
    return answers


def _signature(parameters: list[Any]) -> Signature:
    def names(*kinds: object) -> tuple[str, ...]:
        return tuple(parameter.name.lstrip("*_") for parameter in parameters if parameter.kind in kinds)

    varargs, kwargs = names(Parameter.VAR_POSITIONAL), names(Parameter.VAR_KEYWORD)
    return Signature(
        positional=names(Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD),
        vararg=varargs[0] if varargs else None,
        keyword_only=names(Parameter.KEYWORD_ONLY),
        kwarg=kwargs[0] if kwargs else None,
    )


def _ask_ourselves(
    tree: ast.Module, path: Path, functions: list[FunctionNode], project: ProjectIndex | None
) -> dict[ast.Call, list[str]]:
    """The qualifiers of the arguments of each resolved call."""
    module = define_file(tree, path, project)
    resolver = Resolver(project)
    found: dict[ast.Call, list[str]] = {}
    for function in functions:
        for call, note in resolver.calls(function, module, None).items():
            relation, resolved = call_relation(call, resolver.candidates(call, note.callees))
            if resolved:
                arguments = len(call.args) + len(call.keywords)
                qualifiers = [qualifier for qualifier, _ in relation.incidences]
                found[call] = qualifiers[len(qualifiers) - arguments :]
    return found


def _note(
    result: Comparison, path: Path, call: ast.Call, ours: list[str] | None, signatures: list[Signature]
) -> None:
    bound = [bind(signature, call) for signature in signatures]
    theirs = [[_bare(name) for name, _ in incidences] for incidences in bound if incidences is not None]
    line = f"{path.name}:{call.lineno}: {ast.unparse(call)[:80]}  ours {ours}, jedi {theirs}"
    result.calls += 1
    result.ours += ours is not None
    result.jedi += bool(theirs)
    if ours is None:
        result.only_jedi += [line] if theirs else []
    elif theirs:
        result.both += 1
        if [_bare(name) for name in ours] in theirs:
            result.agreed += 1
        else:
            result.disagreed.append(line)


def _bare(name: str) -> str:
    return name if name in ("*args", "**kwargs") else name.lstrip("_")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="show the calls that differ")
    options = parser.parse_args()
    projects = {"no project": None, "the library as project": ProjectIndex.build(STDLIB)}
    results = compare(library_files(options.seed), options.calls, options.seed, list(projects.values()))
    for name, result in zip(projects, results, strict=True):
        sys.stdout.write(f"{name}: {result}\n")
        if options.show:
            sys.stdout.write("\n".join(["only jedi:", *result.only_jedi, "disagree:", *result.disagreed, ""]))
    sys.exit(any(result.ours < result.jedi or result.agreement < 0.95 for result in results))


if __name__ == "__main__":
    main()
