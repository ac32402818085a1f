"""The decision: is the second version of a file the first one with exactly one candidate rewrite applied?

    fix = find_fix(before, after, lambda: extract(before))
    fix.repair.apply(fix.function.source)   # what the function became, comments and docstrings aside

Syntax trees are compared without comments, layout and docstrings; inside functions, annotations are ignored too.
"""

import ast
import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from hyperheat.bugs.mining.prefilter import code_tokens, tokens
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract, extract_function
from hyperheat.pycode.anchors import FunctionNode
from hyperheat.pycode.extraction import ModuleFacts
from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.rewrites import Rewrite, Span, candidates, place

__all__ = [
    "BugFix",
    "NoFix",
    "changed_functions",
    "describe_fix",
    "find_fix",
    "find_function_fix",
    "has_candidate",
    "parse_version",
    "same",
]

_UNIMPORTANT = frozenset({"kind", "type_comment", "type_ignores"})
_ANNOTATIONS = frozenset({"annotation", "returns"})


def changed_functions(
    before: ast.Module, after: ast.Module
) -> list[tuple[FunctionNode, FunctionNode]] | None:
    """The outermost functions that differ; None if anything else does."""
    changed = []

    def compare(first: Any, second: Any) -> bool:
        if not isinstance(first, FunctionNode):
            return False
        if not same(first, second):
            changed.append((first, second))
        return True

    return changed if _walk(before, after, compare, _UNIMPORTANT, _without_strings) else None


def same(first: Any, second: Any) -> bool:
    """Whether two parts of functions mean the same code; strings that stand as statements and annotations do not count."""
    return _walk(first, second, lambda *_: False, _UNIMPORTANT | _ANNOTATIONS, _bare_code)


def _walk(
    first: Any,
    second: Any,
    settle: Callable[[Any, Any], bool],
    ignored: Set[str],
    code: Callable[[list[Any]], list[Any]],
) -> bool:
    """Compare two trees in step; pairs of nodes of one type that `settle` takes are not looked into."""
    stack = [(first, second)]
    while stack:
        one, other = stack.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            if not settle(one, other):
                fields = [field for field in one._fields if field not in ignored]
                stack += [(getattr(one, field, None), getattr(other, field, None)) for field in fields]
        elif isinstance(one, list):
            left, right = code(one), code(other)
            if len(left) != len(right):
                return False
            stack += zip(left, right, strict=True)
        elif one != other:
            return False
    return True


def _without_strings(items: list[Any]) -> list[Any]:
    return [item for item in items if not _is_string_statement(item)]


def _bare_code(items: list[Any]) -> list[Any]:
    """Statements without strings and annotations: `x: int = 1` as `x = 1`, and `x: int` not at all."""
    kept = []
    for item in _without_strings(items):
        if not isinstance(item, ast.AnnAssign):
            kept.append(item)
        elif item.value is not None:
            kept.append(ast.Assign(targets=[item.target], value=item.value))
    return kept


def _is_string_statement(item: Any) -> bool:
    return (
        isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, str)
    )


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
class BugFix:
    """A function with a bug, and the candidate that repaired it."""

    function: FunctionGraph
    repair: Rewrite
    facts: ModuleFacts
    """Of the module that the function is in."""

    @property
    def repaired_source(self) -> str:
        """The text of the function after the repair."""
        return self.repair.apply(self.function.source)

    def repaired(self) -> FunctionGraph:
        """The function after the repair; raises SourceError where it cannot be read alone."""
        return extract_function(self.repaired_source, self.function, self.facts)


def find_fix(before: bytes, after: bytes, read: Callable[[], ModuleGraphs]) -> BugFix:
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
) -> BugFix:
    """The one candidate that makes a function what it is in the other version of its file, whose text is `source`."""
    if not _same_signatures(function.syntax.function, target):
        raise NoFix("a default value or decorator changes")
    for rewrite in fitting(candidates(function), function.source, _text(target, source)):
        if same(_rewritten(rewrite, function), target):
            return BugFix(function=function, repair=rewrite, facts=module.facts)
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


def describe_fix(fix: BugFix) -> dict[str, Any]:
    """The function, the rewrite and its place.

    `role` is what the rewritten expression is to the syntax around it, such as `keyword.value` or `If.test`; `pair`
    are hashes of the function's text before and after.
    """
    function, repair = fix.function, fix.repair
    span = Span(repair.edits[0].start, repair.edits[-1].end)
    growth = len(fix.repaired_source) - len(function.source)
    return {
        "function": function.name,
        "start_line": function.span[0],
        "end_line": function.span[2],
        "kind": repair.kind,
        "before_text": function.source[span.start : span.end],
        "after_text": fix.repaired_source[span.start : span.end + growth],
        "span": list(place(function, span)),
        "role": _role(fix, span),
        "pair": [_hash(function.source), _hash(fix.repaired_source)],
    }


def _role(fix: BugFix, span: Span) -> str:
    """The type and field of the parent of the innermost node around a span."""
    source, start = fix.facts.source, fix.function.syntax.start_of_lines
    node: ast.AST = fix.function.syntax.function
    role = ""
    while True:
        for field, child in _children(node):
            first = source.offset(child.lineno, child.col_offset) - start
            last = source.offset(child.end_lineno or 0, child.end_col_offset or 0) - start
            if first <= span.start and span.end <= last:
                role, node = f"{type(node).__name__}.{field}", child
                break
        else:
            return role


def _children(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """The parts of a node that have a place, with the names of their fields."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if hasattr(child, "lineno"):
                yield field, child
            elif isinstance(child, ast.AST):  # such as the clauses of a comprehension
                yield from _children(child)


def _hash(source: str) -> str:
    return hashlib.blake2b(dedent(source).encode(), digest_size=8).hexdigest()
