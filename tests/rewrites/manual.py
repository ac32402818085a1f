"""The manual page of the rewrites, made from the docstrings and cases of the kinds."""

from pathlib import Path

from hyperheat.rewrites import KINDS, Case, Kind

__all__ = ["PAGE", "make_page"]

PAGE = Path(__file__).parents[2] / "docs" / "rewrites.md"

_INTRODUCTION = """\
# Rewrites: the bugs that are planted, found and repaired

A rewrite is a set of text edits to one function. `hyperheat.rewrites.candidates(function)` lists all rewrites of an
outermost function as plain data: the kind, the location, the edits, and the positions of the nodes involved. The
same list is used to plant bugs for training, to look for bugs, and to repair them.

Every candidate has these properties, by construction and by test:

- The result compiles, and its syntax differs from the original only at the rewritten place.
- All other characters stay the same: comments, white space, line endings.
- `rewrite.inverse(source)` restores the source character by character, and an equal rewrite is among the candidates of
  the result. Equal rewrites make the same change; their white space and parentheses may differ.
- No two candidates are equal, and no two have the same result.

Signatures, decorators, annotations, patterns and f-string fields that print their own text (`{x=}`) are never
rewritten.

Each section below shows what a line turns into, and cases that have no rewrite of that kind. The page is generated from
the cases that the tests check (`pytest tests/rewrites --update-golden`).
"""


def make_page() -> str:
    """The text of the page."""
    return "\n".join([_INTRODUCTION, *map(_section, KINDS.values())])


def _section(kind: Kind) -> str:
    messages = "; ".join(f'"{message}"' for message in (kind.message, *kind.messages.values()))
    head = f"## `{kind.name}`\n\n{kind.manual.strip()}\n\nMessage: {messages}.\n"
    return "\n".join([head, *map(_rewritten, kind.valid), *map(_untouched, kind.invalid)])


def _rewritten(case: Case) -> str:
    becomes = "\n".join(case.results)
    return f"Rewritten: {case.why}.\n\n```python\n{case.source}\n```\n\n```\n{becomes}\n```\n"


def _untouched(case: Case) -> str:
    return f"Not rewritten: {case.why}.\n\n```python\n{case.source}\n```\n"
