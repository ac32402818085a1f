"""Check the candidate rewrites of random functions of the running Python's standard library.

    python tools/check_rewrites.py [--functions 5000] [--inverses 4] [--seed 0]

Every candidate is applied, compiled and undone. Up to 25 of a function are compared with it: nothing but the
rewritten place may differ. Of some, at least one of each kind, the result is read again and must have the inverse
among its candidates.
Prints counts and times, then what is wrong; exits with 1 if anything is.
"""

import argparse
import ast
import random
import statistics
import sys
import sysconfig
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperheat.pycode import FunctionGraph, SourceError, extract, extract_function
from hyperheat.pycode.extraction import ModuleFacts
from hyperheat.rewrites import KINDS, Rewrite, candidates, place

__all__ = ["Report", "check", "check_function", "check_inverse", "library_functions"]

STDLIB = Path(sysconfig.get_paths()["stdlib"])
_LEFT_OUT = {"site-packages", "lib2to3"}  # the latter holds Python 2 for its tests
_PER_FILE = 25
_COMPARED = 25


@dataclass(slots=True)
class Report:
    """What was counted, and a line for everything that is wrong."""

    functions: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    per_function: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    inverses: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = max(self.kinds.total(), 1)
        kinds = [f"  {name:22}{n:9} {n / total:7.1%}" for name, n in self.kinds.most_common()]
        counts = f"median {statistics.median(self.per_function):.0f}, mean {statistics.mean(self.per_function):.0f}"
        times = f"median {statistics.median(self.milliseconds):.2f} ms, mean {statistics.mean(self.milliseconds):.2f} ms"
        return "\n".join(
            [
                f"{self.functions} functions, {total} candidates ({counts} a function; {times})",
                *kinds,
                f"  {self.inverses} inverses looked up among the candidates of the results",
                f"  {len(self.problems)} problems",
            ]
        )


def library_functions(seed: int) -> Iterator[tuple[Path, FunctionGraph, ModuleFacts]]:
    """Random functions of the standard library, at most 25 of a file."""
    files = sorted(p for p in STDLIB.rglob("*.py") if not _LEFT_OUT & set(p.relative_to(STDLIB).parts))
    chooser = random.Random(seed)
    chooser.shuffle(files)
    for path in files:
        try:
            module = extract(path.read_bytes(), path)
        except SourceError:
            continue  # the tests of the library hold broken files on purpose
        for function in chooser.sample(module.functions, min(_PER_FILE, len(module.functions))):
            if _error(function.source) is None:  # `nonlocal __class__` compiles inside a class only
                yield path, function, module.facts


def check(
    functions: Iterable[tuple[Path, FunctionGraph, ModuleFacts]], count: int, inverses: int, seed: int
) -> Report:
    """Check functions, and `inverses` results of each in depth."""
    report = Report()
    chooser = random.Random(seed)
    for (path, function, facts), _ in zip(functions, range(count), strict=False):
        start = time.perf_counter()
        found = candidates(function)
        report.milliseconds.append(1000 * (time.perf_counter() - start))
        report.functions += 1
        report.per_function.append(len(found))
        report.kinds.update(rewrite.kind for rewrite in found)
        problems = check_function(function, found, set(_some(found, _COMPARED, chooser)))
        for rewrite in _some(found, inverses, chooser):
            problems += check_inverse(rewrite, function, facts)
            report.inverses += 1
        report.problems += [f"{path}:{function.span[0]}: {problem}" for problem in problems]
    return report


def _some(found: tuple[Rewrite, ...], count: int, chooser: random.Random) -> list[Rewrite]:
    """Random rewrites: one of each kind, then any others."""
    mixed = chooser.sample(found, len(found))
    first = list({rewrite.kind: rewrite for rewrite in mixed}.values())
    return [*first, *(rewrite for rewrite in mixed if rewrite not in first)][:count]


def check_function(function: FunctionGraph, found: tuple[Rewrite, ...], compared: set[Rewrite]) -> list[str]:
    """What is wrong with the candidates of a function, some of which are compared with it."""
    source = function.source
    shape = _shape(source)
    nodes = set(map(tuple, function.graph.span.tolist())) if function.graph.span is not None else set()
    problems = []
    for rewrite in found:
        result = rewrite.apply(source)
        error = _error(result)
        if error:
            problems.append(f"does not compile ({error}): {rewrite}")
        elif result == source:
            problems.append(f"nothing changes: {rewrite}")
        elif rewrite in compared and _shape(result) != shape:
            problems.append(f"more than the place changes: {rewrite}")
        if rewrite.inverse(source).apply(result) != source:
            problems.append(f"is not undone: {rewrite}")
        spans = (rewrite.location, *(rewrite.arguments or ()), rewrite.variable)
        if not all(place(function, span) in nodes for span in spans if span is not None):
            problems.append(f"has a place that is no node: {rewrite}")
        if not KINDS[rewrite.kind].describe(rewrite, source):
            problems.append(f"has no description: {rewrite}")
    if not len(found) == len(set(found)) == len({rewrite.apply(source) for rewrite in found}):
        problems.append("some candidates are equal")
    return problems


def check_inverse(rewrite: Rewrite, function: FunctionGraph, facts: ModuleFacts) -> list[str]:
    """What is wrong with the candidates of the result of a rewrite."""
    try:
        result = extract_function(rewrite.apply(function.source), function, facts)
    except SourceError as error:
        return [f"the result is refused ({error.problem}): {rewrite}"]
    inverse = rewrite.inverse(function.source)
    equal = [candidate for candidate in candidates(result) if candidate == inverse]
    if len(equal) != 1:
        return [f"expected 1 candidate of the result that is the inverse, got {len(equal)}: {rewrite}"]
    before, after = (ast.dump(_parse(text)) for text in (function.source, equal[0].apply(result.source)))
    return [] if before == after else [f"the inverse gives another function: {rewrite}"]


def _parse(source: str, flags: int = ast.PyCF_ONLY_AST) -> Any:
    block = f"if 1:\n{source}" if source[:1].isspace() else source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(block, "<function>", "exec", flags, dont_inherit=True)


def _error(source: str) -> str | None:
    """Why Python refuses to compile a function."""
    try:
        _parse(source, flags=0)
    except SyntaxError as error:
        return error.msg
    return None


def _shape(source: str) -> str:
    """The syntax tree without what rewrites change: names, operators, small numbers, `not`, order of arguments."""
    return ast.dump(_Plain().visit(_parse(source)))


class _Plain(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return ast.BinOp(self.visit(node.left), ast.Add(), self.visit(node.right))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return ast.Compare(node.left, [ast.Eq() for _ in node.ops], node.comparators)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        operands: list[Any] = []
        for value in node.values:
            operands += value.values if isinstance(value, ast.BoolOp) else [value]
        return ast.BoolOp(ast.And(), operands)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        operand = self.visit(node.operand)
        is_number = isinstance(operand, ast.Constant) and type(operand.value) is int
        if isinstance(node.op, ast.Not) or (isinstance(node.op, ast.USub) and is_number):
            return operand
        return ast.UnaryOp(node.op, operand)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and -2 <= node.value <= 2:
            return ast.Constant(0)
        return ast.Constant(True) if type(node.value) is bool else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(node.func, sorted(node.args, key=ast.dump), node.keywords)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--functions", type=int, default=5000)
    parser.add_argument("--inverses", type=int, default=4, help="results read again, of each function")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report = check(library_functions(options.seed), options.functions, options.inverses, options.seed)
    sys.stdout.write("\n".join([str(report), *report.problems, ""]))
    sys.exit(bool(report.problems))


if __name__ == "__main__":
    main()
