"""The scanner against `tokenize`, and where it is meant to differ."""

import ast
import io
import json
import sys
import textwrap
import token as token_types
import tokenize
from pathlib import Path

import pytest

from hyperheat.pycode.syntax.tokens import DEDENT, INDENT, TokenStream, find_comments, scan

_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER}


def texts(source: str) -> list[str]:
    return scan(source, 0, len(source)).texts


def expected(source: str) -> list[str]:
    """What `tokenize` says, with `not in` and `is not` joined; for text without f-strings."""
    found: list[str] = []
    for item in tokenize.generate_tokens(io.StringIO(source).readline):
        if item.type in _LAYOUT:
            continue
        if [*found[-1:], item.string] in (["not", "in"], ["is", "not"]):
            found[-1] += f" {item.string}"
        else:
            found.append({tokenize.INDENT: INDENT, tokenize.DEDENT: DEDENT}.get(item.type, item.string))
    return found


def join_formatted(tokens: TokenStream, source: str) -> list[str]:
    """The texts, with every f-string as one token."""
    found, index = [], 0
    while index < len(tokens.texts):
        last = _closing_quote(tokens, index) if index in tokens.quotes else index
        found.append(
            source[tokens.starts[index] : tokens.ends[last]] if last > index else tokens.texts[index]
        )
        index = last + 1
    return found


def _closing_quote(tokens: TokenStream, index: int) -> int:
    index += 1
    while index not in tokens.quotes:
        index = tokens.fields[index].close + 1 if index in tokens.fields else index + 1
    return index


STDLIB = [ast, io, json, textwrap, tokenize, token_types]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tokenize takes f-strings apart since Python 3.12")
@pytest.mark.parametrize("module", STDLIB, ids=lambda module: module.__name__)
def test_agrees_with_tokenize(module):
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert join_formatted(scan(source, 0, len(source)), source) == expected(source)


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n",
        "if x:\n\ty\n\n# c\n\n\tz\nelse:\n        w\n",
        "if x:\n  if y:\n    z\nw\n",
        "if x:\n  if y:\n    z",
        "x = (1,\n  # c\n 2)\ny\n",
        "x = 1 + \\\n  2\n",
        "x = 0xFF_FF + 0b1 + 0o7 + 1_0.5e-3j + .5 + 1. + 1e5 + 5if y else 6\n",
        "x is not y, x not in y, not x in y, x is y\n",
        "x = (a is # c\n not b)\n",
        "x = a not \\\n in b\n",
        "x = b\"a\" rb'b' R\"\"\"c\"d\"\"\" u'''\\''''\n",
        'x = "a" if"b"in"abc" else\'c\'\n',
        "x: int = y @ z; x @= y; x //= 1; x **= 2; x >>= 3; x -> 4\n",
        "x = ...; y = z[..., ::2]; lambda *a, **k: (yield)\n",
        "\x0cdef f():\n\x0c    pass\n",
        "é = ñ_1\n",
    ],
)
def test_agrees_with_tokenize_on_snippets(source):
    assert texts(source) == expected(source)


def test_several_blocks_that_end_at_once_keep_their_dedents():
    assert texts("if x:\n if y:\n  z\nw\n") == [
        *["if", "x", ":", INDENT, "if", "y", ":", INDENT, "z", DEDENT, DEDENT, "w"],
    ]


def test_the_indentation_of_the_first_line_counts_as_none():
    assert texts("    def f():\n        x\n") == ["def", "f", "(", ")", ":", INDENT, "x", DEDENT]


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ('f"a{x}b"', ['f"', "a", "{", "x", "}", "b", '"']),
        ('f""', ['f"', '"']),
        ("rf'''{x!r}'''", ["rf'''", "{", "x", "!", "r", "}", "'''"]),
        ('f"{x = }"', ['f"', "{", "x", "=", "}", '"']),
        ('f"{x != y}"', ['f"', "{", "x", "!=", "y", "}", '"']),
        ('f"{x:>{w}.{p}}"', ['f"', "{", "x", ":", ">", "{", "w", "}", ".", "{", "p", "}", "}", '"']),
        ('f"{x:=5}"', ['f"', "{", "x", ":", "=5", "}", '"']),
        ('f"{(x:=5)}"', ['f"', "{", "(", "x", ":=", "5", ")", "}", '"']),
        ('f"{{a}}{x}"', ['f"', "{{a}}", "{", "x", "}", '"']),
        ('f"{ {1: 2}[1] }"', ['f"', "{", "{", "1", ":", "2", "}", "[", "1", "]", "}", '"']),
        ("f\"{f'{x}'}\"", ['f"', "{", "f'", "{", "x", "}", "'", "}", '"']),
        ('f"\\N{DASH}\\{x}"', ['f"', "\\N{DASH}\\", "{", "x", "}", '"']),
        ('rf"\\N{x}"', ['rf"', "\\N", "{", "x", "}", '"']),
        ('f"""a"b{\nx\n}"c"""', ['f"""', 'a"b', "{", "x", "}", '"c', '"""']),
        ('f"{x["a"]}" "b"', ['f"', "{", "x", "[", '"a"', "]", "}", '"', '"b"']),
    ],
)
def test_takes_formatted_strings_apart(source, parts):
    assert texts(source + "\n") == parts


def test_knows_letters_that_tokenize_does_not():
    assert texts("नमस्ते = x·y\n") == ["नमस्ते", "=", "x·y"]


def test_finds_comments_between_tokens():
    source = "def f():  # a\n    # b\n    return [1,  # c\n      f'#{x}#']  # d\n"
    tokens = scan(source, 0, len(source))
    comments = find_comments(source, tokens, len(source))
    assert [(tokens.texts[i] if i < len(tokens.texts) else None, source[a:b]) for i, a, b in comments] == [
        (INDENT, "# a"),
        (INDENT, "# b"),
        ("f'", "# c"),
        (None, "# d"),  # the blocks end with the last token
    ]
