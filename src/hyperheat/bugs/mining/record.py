"""What is said of a fix, whatever history it was found in."""

import hashlib
from textwrap import dedent
from typing import Any

from hyperheat.bugs.mining.fix import Fix
from hyperheat.rewrites import Span, place

__all__ = ["describe_fix"]


def describe_fix(fix: Fix) -> dict[str, Any]:
    """The function, the rewrite and its place; `pair` are hashes of the function's text before and after."""
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
        "pair": [_hash(function.source), _hash(fix.repaired_source)],
    }


def _hash(source: str) -> str:
    return hashlib.blake2b(dedent(source).encode(), digest_size=8).hexdigest()
