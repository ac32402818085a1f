"""Syntax of newer versions of Python: named with its version, and never claimed of code that is just wrong."""

import ast
import sys

import pytest

from hyperheat.pycode import SourceError, extract
from hyperheat.pycode.syntax.newer_syntax import FEATURES, name_newer_syntax

NOW = sys.version_info[:2]
HERE = f"this is Python {NOW[0]}.{NOW[1]}"

NEWER = [
    ((3, 12), "type parameters", "def first[T](items: list[T]) -> T:\n    return items[0]\n"),
    ((3, 12), "type parameters", "class Box[T: (int, str), *Ts, **P]:\n    pass\n"),
    ((3, 12), "the type statement", "type Pair[T] = tuple[T, T]\n"),
    ((3, 12), "quotes, backslashes or comments inside of f-strings", 'x = f"{names["a"]}"\n'),
    ((3, 12), "quotes, backslashes or comments inside of f-strings", "x = f'{chr(10).join(a)}{'b'}'\n"),
    ((3, 12), "quotes, backslashes or comments inside of f-strings", "x = f\"{'\\n'.join(a)}\"\n"),
    ((3, 14), "t-strings", 'def page(name):\n    return t"<b>{name}</b>"\n'),
    ((3, 14), "t-strings", "x = rt'{a}'\n"),
    (
        (3, 14),
        "several exceptions without parentheses",
        "try:\n    f()\nexcept ValueError, os.error:\n    pass\n",
    ),
    ((3, 15), "lazy imports", "lazy import json\nlazy from os import path\n"),
    ((3, 15), "unpacking in comprehensions", "x = [*row for row in rows]\ny = {**d for d in ds}\n"),
]


def sentence(text: str) -> str:
    with pytest.raises(SourceError) as error:
        extract(text)
    return error.value.problem


@pytest.mark.parametrize(("version", "name", "text"), NEWER, ids=lambda value: str(value)[:30])
def test_a_newer_feature_is_named_with_its_version(version, name, text):
    if version <= NOW:
        extract(text)
        return
    assert sentence(text) == f"uses syntax of Python {version[0]}.{version[1]} ({name}); {HERE}"


@pytest.mark.skipif(NOW >= (3, 12), reason="Python knows the first of the two")
def test_the_newest_of_several_features_counts():
    text = "type A = int\nx = t'{a}'\nlazy import json\n"
    assert (
        sentence(text) == f"uses syntax of Python 3.15 (the type statement, t-strings, lazy imports); {HERE}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "print 'x'\n",
        "def f(:\n    pass\n",
        "x = f'{a b}'\n",
        "def first[T](items:\n",
        "# def first[T](): t'x'\nx = = 1\n",
        "try:\n    print 1\nexcept ValueError, e:\n    pass\n",
        "lazy = 1\nif\n",
        "return [\n",
    ],
)
def test_what_is_just_wrong_is_not_called_newer(text):
    assert sentence(text).startswith("not valid Python 3: ")


def test_what_only_the_compiler_refuses_is_not_called_newer():
    assert sentence("# t'x'\nbreak\n") == "not valid Python 3: 'break' outside loop"


def test_features_of_this_python_are_not_looked_for():
    with pytest.raises(SyntaxError) as error:
        ast.parse("x = = t'x'")
    assert name_newer_syntax("x = = t'x'", error.value, running=(9, 9)) is None
    assert {feature.version for feature in FEATURES} == {(3, 12), (3, 14), (3, 15)}
