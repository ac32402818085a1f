"""What is said of a fix, whatever history it was found in."""

import ast
import hashlib
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from hyperheat.bugs.mining.fix import Fix
from hyperheat.rewrites import Span, place

__all__ = ["describe_fix"]


def describe_fix(fix: Fix) -> dict[str, Any]:
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


def _role(fix: Fix, span: Span) -> str:
    """The type and field of the parent of the innermost node around a span."""
    source, start = fix.module.facts.source, fix.function.syntax.start_of_lines
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
