"""Which pairs of versions are one candidate rewrite, and what is said of the others."""

import pytest

from hyperheat.bugs.mining.bug_fix import NoFix, find_fix
from hyperheat.bugs.mining.prefilter import may_be_rewrite
from hyperheat.pycode import extract

BODY = """import os

class A:
    def f(self, left, right):
        total = 0
        if left and right:
            total = os.path.join(left, right)
        total += left - 1
        if left < right:
            return True
        return total
"""
KINDS = {
    "variable-misuse": ("total += left - 1", "total += right - 1"),
    "argument-swap": ("(left, right)\n        total", "(right, left)\n        total"),
    "comparison-operator": ("left < right", "left <= right"),
    "boolean-operator": ("left and right", "left or right"),
    "binary-operator": ("left - 1", "left + 1"),
    "augmented-assignment": ("total += ", "total -= "),
    "literal": ("True", "False"),
}


def find(before: str | bytes, after: str | bytes):
    old, new = (text.encode() if isinstance(text, str) else text for text in (before, after))
    return find_fix(old, new, lambda: extract(old))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_found(kind):
    old, new = KINDS[kind]
    after = BODY.replace(old, new)
    assert after != BODY
    assert may_be_rewrite(BODY.encode(), after.encode())
    fix = find(BODY, after)
    assert fix.repair.kind == kind
    assert fix.function.name == "A.f"
    assert fix.repaired_source == "".join(after.splitlines(keepends=True)[3:])
    assert fix.repaired().source == fix.repaired_source


def test_a_not_that_comes_or_goes():
    with_not = BODY.replace("if left and", "if not left and")
    assert find(BODY, with_not).repair.replacement == "not ..."
    assert find(with_not, BODY).repair.replacement == "..."
    assert may_be_rewrite(BODY.encode(), with_not.encode())


def test_comments_layout_and_docstrings_do_not_count():
    after = BODY.replace("left - 1", "left  +  1  # up").replace("total = 0", '"""Say."""\n        total = 0')
    assert find(BODY, after).repair.kind == "binary-operator"


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_other_line_ends_and_a_byte_order_mark(line_end):
    before, after = (
        b"\xef\xbb\xbf" + text.replace("\n", line_end).encode() for text in (BODY, BODY.replace("<", ">"))
    )
    fix = find(before, after)
    assert fix.repair.kind == "comparison-operator"
    assert "\r" not in fix.function.source


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (BODY, "no code changes"),
        (BODY.replace("import os", "import sys"), "code outside of functions changes"),
        (
            BODY.replace("left, right):", "left, right=1):"),
            "a default value or decorator changes",
        ),
        (BODY.replace("- 1", "+ 1").replace("<", ">"), "no candidate leads to the fixed function"),
        (BODY.replace("os.path.join", "os.path.split"), "no candidate leads to the fixed function"),
        (BODY + "    def g(self): pass\n", "code outside of functions changes"),
        (BODY.replace("return total", "print total"), "the file after is not Python 3"),
        (b"\xff\xfe", "the file after is too large or not text"),
    ],
)
def test_what_is_no_fix_has_a_reason(after, reason):
    with pytest.raises(NoFix) as caught:
        find(BODY, after)
    assert caught.value.reason == reason


def test_two_functions_that_change():
    two = "def f(a): return a + 1\ndef g(a): return a + 1\n"
    with pytest.raises(NoFix, match="more than one function"):
        find(two, two.replace("+", "-"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"f(a)\n", b"f(a)\n"),
        (b"f(a)\n", b"f(a)  # why\n"),
        (b"f(a)\n", b"f(new)\n"),  # a name that the file does not have
        (b"f('a')\n", b"f('b')\n"),
        (b"f(1)\n", b"f(17)\n"),
        (b"a\nb\n", b"a = 1 + 2 + b\nb\n"),
        (b"a\n", b"a\n" + b"b\n" * 20),
        (b"", b""),
    ],
)
def test_the_cheap_look_sorts_out(before, after):
    assert not may_be_rewrite(before, after)
