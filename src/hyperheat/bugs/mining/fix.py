"""The decision: is the second version of a file the first one with exactly one candidate rewrite done?

fix = find_fix(before, after, lambda: extract(before))
fix.repair.apply(fix.function.source)   # what the function became, comments and docstrings aside
"""

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hyperheat.bugs.mining.prefilter import code_tokens, tokens
from hyperheat.bugs.mining.trees import FunctionNode, changed_functions, same
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract, extract_function
from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.rewrites import Rewrite, candidates

__all__ = ["Fix", "NoFix", "find_fix", "find_function_fix", "has_candidate", "parse_version"]


_MAX_FUNCTION_BYTES = 200_000
_MAX_CANDIDATES = 20_000


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
    old, new = parse_version(before, "before"), parse_version(after, "after")
    changed = changed_functions(old[1], new[1])
    if changed is None:
        raise NoFix("code outside of functions changes")
    if len(changed) != 1:
        raise NoFix("more than one function changes" if changed else "no code changes")
    node, target = changed[0]
    module = read()
    return find_function_fix(module, _function_at(module, node), target, new[0])


def find_function_fix(
    module: ModuleGraphs, function: FunctionGraph, target: FunctionNode, source: PythonSource
) -> Fix:
    """The one candidate that makes a function what it is in the other version of its file, whose text is `source`."""
    if not _same_signatures(function.syntax.function, target):
        raise NoFix("a default value or decorator changes")
    for rewrite in fitting(candidates(function), function.source, _text(target, source)):
        if same(_rewritten(rewrite, function), target):
            return Fix(function=function, repair=rewrite, module=module)
    raise NoFix("no candidate leads to the fixed function", function)


def has_candidate(before: bytes, after: bytes) -> bool:
    """Whether some candidate of a function, read without its file, gives the tokens of its next version.

    Much cheaper than to read whole files. Raises NoFix or SourceError where the function cannot be read alone.
    """
    if max(len(before), len(after)) > _MAX_FUNCTION_BYTES:
        raise NoFix("the function is too large to be read")
    module = extract(b"if 1:\n" + before if before[:1] in b" \t" else before)
    if len(module.functions) != 1:
        raise NoFix("the function cannot be read alone")
    (function,) = module.functions
    rewrites = candidates(function, most=_MAX_CANDIDATES)
    return any(fitting(rewrites, function.source, after.decode(errors="replace")))


def fitting(rewrites: Iterable[Rewrite], before: str, after: str) -> Iterator[Rewrite]:
    """The rewrites of a function's text that give the tokens of another one, comments, brackets and layout aside."""
    old, new = code_tokens(before.encode()), code_tokens(after.encode())
    counts = Counter(old), Counter(new)
    wanted = counts[0] - counts[1], counts[1] - counts[0]
    lines = _differing_lines(before, after)
    for rewrite in rewrites:
        if (
            _touches(rewrite, before, lines)
            and _exchanged(rewrite, before) == wanted
            and code_tokens(rewrite.apply(before).encode()) == new
        ):
            yield rewrite


def _exchanged(rewrite: Rewrite, source: str) -> tuple[Counter[bytes], Counter[bytes]]:
    """The tokens that a rewrite takes away, and those that it brings."""
    old = Counter(tokens(" ".join(source[edit.start : edit.end] for edit in rewrite.edits).encode()))
    new = Counter(tokens(" ".join(edit.text for edit in rewrite.edits).encode()))
    return old - new, new - old


def _text(node: FunctionNode, source: PythonSource) -> str:
    """The whole lines of a function, decorators included."""
    start = source.function_start(node)
    end = source.text.find("\n", source.offset(node.end_lineno or 0, node.end_col_offset or 0))
    return source.text[start : len(source.text) if end < 0 else end + 1]


def parse_version(contents: bytes, version: str) -> tuple[PythonSource, ast.Module]:
    """The text and tree of one version of a file; raises NoFix where it cannot be read."""
    try:
        source = PythonSource.read(contents)
        return source, source.parse()
    except SourceError as error:
        what = "not Python 3" if "Python 3" in error.problem else "too large or not text"
        raise NoFix(f"the file {version} is {what}") from None


def _same_signatures(one: FunctionNode, other: FunctionNode) -> bool:
    """Whether two functions differ only inside their bodies."""
    return all(
        same(getattr(one, field), getattr(other, field)) for field in ("name", "args", "decorator_list")
    )


def _function_at(module: ModuleGraphs, node: FunctionNode) -> FunctionGraph:
    for function in module.functions:
        if function.syntax.function.lineno == node.lineno:
            return function
    raise NoFix("the function is too large to be read")


def _differing_lines(before: str, after: str) -> range:
    """The lines of a text, counted from 1, that differ in another version, with one more on either side."""
    old, new = before.split("\n"), after.split("\n")
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    return range(start, len(old) - end + 2)


def _touches(rewrite: Rewrite, source: str, lines: range) -> bool:
    first = 1 + source.count("\n", 0, rewrite.edits[0].start)
    last = 1 + source.count("\n", 0, rewrite.edits[-1].end)
    return first < lines.stop and last >= lines.start


def _rewritten(rewrite: Rewrite, function: FunctionGraph) -> FunctionNode:
    """The tree of a function after a rewrite."""
    text = PythonSource.read_function(rewrite.apply(function.source), line=2).text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return next(_functions(ast.parse(text)))


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    return (node for node in ast.walk(tree) if isinstance(node, FunctionNode))
