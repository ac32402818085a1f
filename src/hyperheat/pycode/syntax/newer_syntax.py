"""Syntax that is newer than the running Python, named so that nobody looks for a mistake in valid code.

Each feature is rewritten as older syntax that means nothing else to the parser. If the text can be parsed then, that feature
was what could not be read.
"""

import ast
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["FEATURES", "SyntaxFeature", "name_newer_syntax"]

_PARAMETERS = r"\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*\]"
_SAME_QUOTES = re.compile(
    r"""\b[rR]?[fF][rR]?(["'])(?:(?!\1)[^{\n]|\{(?:(?!\1)[^{}\n])*+\})*+\{(?:(?!\1)[^}\n])*+\1"""
)


@dataclass(frozen=True, slots=True)
class SyntaxFeature:
    """A feature: the version of Python that it came with, its name, and the text without it."""

    version: tuple[int, int]
    name: str
    without: Callable[[str], str]


def _sub(pattern: str, replacement: str) -> Callable[[str], str]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.sub(replacement, text)


FEATURES = (
    SyntaxFeature((3, 12), "type parameters", _sub(rf"\b((?:def|class)[ \t]+\w+)[ \t]*{_PARAMETERS}", r"\1")),
    SyntaxFeature(
        (3, 12),
        "the type statement",
        _sub(rf"^([ \t]*)type[ \t]+(\w+)[ \t]*(?:{_PARAMETERS})?[ \t]*=", r"\1\2 ="),
    ),
    SyntaxFeature((3, 14), "t-strings", _sub(r"""\b(?:[tT][rR]?|[rR][tT])(?=["'])""", "f")),
    SyntaxFeature(
        (3, 14),
        "several exceptions without parentheses",
        _sub(r"^([ \t]*except\*?[ \t]+)([\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*:", r"\1(\2):"),
    ),
    SyntaxFeature((3, 15), "lazy imports", _sub(r"^([ \t]*)lazy[ \t]+(?=(?:import|from)\b)", r"\1")),
    SyntaxFeature(
        (3, 15), "unpacking in comprehensions", _sub(r"([\[({])[ \t]*\*{1,2}(?=[^\[\](){}\n]*\bfor\b)", r"\1")
    ),
)
"""The features of newer versions that can be told from the text."""


def name_newer_syntax(
    text: str, error: SyntaxError, *, running: tuple[int, int] = sys.version_info[:2]
) -> str | None:
    """The feature that a text has and Python does not know, as a sentence; None if the text is just wrong."""
    newer = [feature for feature in FEATURES if feature.version > running]
    found = [feature for feature in newer if feature.without(text) != text]
    alone = (feature for feature in found if _is_parsed(feature.without(text)))
    if first := next(alone, None):
        return _sentence(first.version, [first.name], running)
    joined = text
    for feature in found:
        joined = feature.without(joined)
    if len(found) > 1 and _is_parsed(joined):
        return _sentence(max(f.version for f in found), [f.name for f in found], running)
    if running < (3, 12) and _is_nested(text, error):
        return _sentence((3, 12), ["quotes, backslashes or comments inside of f-strings"], running)
    return None


def _sentence(version: tuple[int, int], names: list[str], running: tuple[int, int]) -> str:
    needed, have = (f"{major}.{minor}" for major, minor in (version, running))
    return f"uses syntax of Python {needed} ({', '.join(names)}); this is Python {have}"


def _is_nested(text: str, error: SyntaxError) -> bool:
    """Whether an f-string holds what only Python 3.12 and later take: its own quotes, a backslash or a comment."""
    if "f-string expression part cannot include" in error.msg:
        return True
    lines = text.split("\n")
    line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
    return _SAME_QUOTES.search(line) is not None


def _is_parsed(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
