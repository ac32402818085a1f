"""The decision: is the second version of a file the first one with exactly one candidate rewrite done?

fix = find_fix(before, after, lambda: extract(before))
fix.repair.apply(fix.function.source)   # what the function became, comments and docstrings aside
"""

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hyperheat.bugs.mining.trees import FunctionNode, changed_functions, same
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract_function
from hyperheat.pycode.source import Source
from hyperheat.rewrites import Rewrite, candidates

__all__ = ["Fix", "NoFix", "find_fix"]


class NoFix(Exception):
    """Two versions that no candidate connects.

    `reason` is one of a few, to be counted; `function` the only one that changes, if it could be read.
    """

    def __init__(self, reason: str, function: FunctionGraph | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.function = function


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A function with a bug, and the candidate that repaired it."""

    function: FunctionGraph
    repair: Rewrite
    module: ModuleGraphs

    @property
    def repaired_source(self) -> str:
        """The text of the function after the repair."""
        return self.repair.apply(self.function.source)

    def repaired(self) -> FunctionGraph:
        """The function after the repair; raises SourceError where it cannot be read alone."""
        return extract_function(self.repaired_source, self.function, self.module.facts)


def find_fix(before: bytes, after: bytes, read: Callable[[], ModuleGraphs]) -> Fix:
    """The one candidate that leads from `before` to `after`; `read` extracts the graphs of `before` when needed."""
    old, new = _parse(before, "before"), _parse(after, "after")
    changed = changed_functions(old[1], new[1])
    if changed is None:
        raise NoFix("code outside of functions changes")
    if len(changed) != 1:
        raise NoFix("more than one function changes" if changed else "no code changes")
    node, target = changed[0]
    if not _same_signatures(node, target):
        raise NoFix("a default value, decorator or annotation changes")
    module = read()
    function = _function_at(module, node)
    lines = _differing_lines(old[0].text, new[0].text)
    for rewrite in candidates(function):
        if _touches(rewrite, function, lines) and same(_rewritten(rewrite, function), target):
            return Fix(function=function, repair=rewrite, module=module)
    raise NoFix("no candidate leads to the fixed function", function)


def _parse(contents: bytes, version: str) -> tuple[Source, ast.Module]:
    try:
        source = Source.read(contents)
        return source, source.parse()
    except SourceError as error:
        what = "not Python 3" if "Python 3" in error.problem else "too large or not text"
        raise NoFix(f"the file {version} is {what}") from None


def _same_signatures(one: FunctionNode, other: FunctionNode) -> bool:
    """Whether two functions differ only inside their bodies."""
    return all(
        same(getattr(one, field), getattr(other, field))
        for field in ("name", "args", "decorator_list", "returns")
    )


def _function_at(module: ModuleGraphs, node: FunctionNode) -> FunctionGraph:
    for function in module.functions:
        if function.syntax.function.lineno == node.lineno:
            return function
    raise NoFix("the function is too large to be read")


def _differing_lines(before: str, after: str) -> range:
    """The lines of a file, counted from 1, that differ in another version, with one more on either side."""
    old, new = before.split("\n"), after.split("\n")
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    return range(start, len(old) - end + 2)


def _touches(rewrite: Rewrite, function: FunctionGraph, lines: range) -> bool:
    first = function.span[0] + function.source.count("\n", 0, rewrite.edits[0].start)
    last = function.span[0] + function.source.count("\n", 0, rewrite.edits[-1].end)
    return first < lines.stop and last >= lines.start


def _rewritten(rewrite: Rewrite, function: FunctionGraph) -> FunctionNode:
    """The tree of a function after a rewrite."""
    text = Source.read_function(rewrite.apply(function.source), line=2).text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return next(_functions(ast.parse(text)))


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    return (node for node in ast.walk(tree) if isinstance(node, FunctionNode))
