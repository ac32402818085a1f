"""The manual page of the rewrites, made from the docstrings and cases of the kinds."""

from pathlib import Path

from hyperheat.rewrites import KINDS, Case, Kind

__all__ = ["PAGE", "make_page"]

PAGE = Path(__file__).parents[2] / "docs" / "rewrites.md"

_INTRODUCTION = """\
# Rewrites: the bugs that are made, looked for and repaired

A rewrite is a set of text edits of one function. `hyperheat.rewrites.candidates(function)` lists all rewrites of an
outermost function, as plain data: the kind, the location, the edits, and the places of the nodes that matter. The
same list serves to make bugs for training, to look for bugs, and to repair them.

What holds for every candidate, by construction and by test:

- The result compiles, and its syntax differs from the original at the rewritten place only.
- All other characters stay: comments, blanks, line ends.
- `rewrite.inverse(source)` leads back, character by character, and an equal rewrite is among the candidates of the
  result. Equal rewrites mean the same change; they may spell it with other blanks and parentheses.
- No two candidates are equal, and no two have the same result.

Signatures, decorators, annotations, patterns and fields of f-strings that print their own text (`{x=}`) are left as
they are.

Each section below shows what becomes of a line, and cases that have no rewrite of the kind. The page is made from
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
