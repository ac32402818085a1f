"""Patterns of `match`: the tests they make in order, and the names they bind once they match as a whole."""

import ast

from hyperheat.pycode.flow.block_builder import Builder
from hyperheat.pycode.flow.blocks import Block
from hyperheat.pycode.flow.order import evaluate

__all__ = ["capture", "match_pattern"]


def match_pattern(b: Builder, node: ast.pattern, failure: Block) -> None:
    """Test a pattern: go on in the current block, or leave for `failure`."""
    match node:
        case ast.MatchAs(pattern=pattern):
            if pattern is not None:
                match_pattern(b, pattern, failure)
        case ast.MatchStar():
            pass
        case ast.MatchOr(patterns=patterns):
            matched = b.new()
            for pattern in patterns[:-1]:
                following = b.new()
                match_pattern(b, pattern, following)
                b.link(matched)
                b.start(following)
            match_pattern(b, patterns[-1], failure)
            b.link(matched)
            b.start(matched)
        case _:
            _test_shape(b, node, failure)


def _test_shape(b: Builder, node: ast.pattern, failure: Block) -> None:
    """Test a pattern that can fail by itb, then the patterns inside it."""
    expressions: list[ast.expr] = []
    parts: list[ast.pattern] = []
    match node:
        case ast.MatchValue(value=value):
            expressions = [value]
        case ast.MatchSequence(patterns=patterns):
            parts = patterns
        case ast.MatchMapping(keys=keys, patterns=patterns):
            expressions, parts = keys, patterns
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=by_keyword):
            expressions, parts = [cls], patterns + by_keyword
    for expression in expressions:
        evaluate(b, expression)
    b.run_risky(node)
    b.fork(failure)
    for part in parts:
        match_pattern(b, part, failure)


def capture(b: Builder, node: ast.pattern) -> None:
    """Bind the names of a pattern that has matched as a whole."""
    match node:
        case ast.MatchOr(patterns=patterns):
            chosen, joined = b.block, b.new()
            for pattern in patterns:
                b.start(chosen)
                b.proceed()
                capture(b, pattern)
                b.link(joined)
            b.start(joined)
        case ast.MatchAs(pattern=pattern, name=name):
            if pattern is not None:
                capture(b, pattern)
            if name is not None:
                b.write((node, "name"))
        case ast.MatchStar(name=str()):
            b.write((node, "name"))
        case ast.MatchSequence(patterns=patterns):
            _capture_all(b, patterns)
        case ast.MatchMapping(patterns=patterns, rest=rest):
            _capture_all(b, patterns)
            if rest is not None:
                b.write((node, "rest"))
        case ast.MatchClass(patterns=patterns, kwd_patterns=by_keyword):
            _capture_all(b, patterns + by_keyword)


def _capture_all(b: Builder, patterns: list[ast.pattern]) -> None:
    for pattern in patterns:
        capture(b, pattern)
