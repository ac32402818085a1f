"""Functions and places that are found again, whatever they look like."""

import pytest

from hyperheat.check.identity import Spots, describe_rewrite, identify
from hyperheat.check.records import IdentityRecord
from hyperheat.check.rises import is_same_code
from hyperheat.pycode import FunctionGraph, extract
from hyperheat.rewrites import Rewrite, candidates

BASE = '''
def pick(self, items, default=None):
    """Find one."""
    for item in items:  # all of them
        if item.size > 3 and self.limit:
            return check(item, default, key="a")
    return default
'''


def read(text: str) -> FunctionGraph:
    (function,) = extract(text).functions
    return function


def identity(text: str) -> IdentityRecord:
    return identify(read(text))


SAME = {
    "comments and docstring": BASE.replace('    """Find one."""\n', "").replace("  # all of them", "\n\n"),
    "layout": BASE.replace("check(item, default", "check(\n item,\n (default)\n").replace(
        'key="a"', "key='a',"
    ),
    "annotations": BASE.replace("items, default=None):", "items: list[int], default: int = None) -> int:"),
    "the function": BASE.replace("pick", "choose"),
    "a variable": BASE.replace("item.", "thing.").replace("for item", "for thing").replace("(item", "(thing"),
    "a parameter": BASE.replace("default", "otherwise"),
    "another function": BASE.replace("check", "examine"),
    "an attribute": BASE.replace(".limit", ".bound"),
    "in a class": "class A:\n" + BASE.strip("\n").replace("\n", "\n    ").join(["    ", "\n"]),
}
DIFFERENT = {
    "another variable": BASE.replace("return default", "return items"),
    "swapped arguments": BASE.replace("item, default, key", "default, item, key"),
    "an operator": BASE.replace(">", ">="),
    "a literal": BASE.replace("3", "4"),
    "a text": BASE.replace('"a"', '"b"'),
    "no comprehension": BASE.replace("for item in items", "for item in list(items)"),
    "swapped attributes": BASE.replace(".size", ".x").replace(".limit", ".size").replace(".x", ".limit"),
    "a default": BASE.replace("default=None", "default=()"),
    "a variable that is now another": BASE.replace("item.size", "items.size"),
    "an import": BASE.replace("    for", "    import check\n    for", 1),
}


@pytest.mark.parametrize("name", SAME)
def test_layout_and_names_do_not_matter(name):
    assert SAME[name] != BASE
    assert is_same_code(identity(BASE), identity(SAME[name]))


@pytest.mark.parametrize("name", DIFFERENT)
def test_everything_else_matters(name):
    assert DIFFERENT[name] != BASE
    assert not is_same_code(identity(BASE), identity(DIFFERENT[name]))


def test_a_variable_may_have_the_name_of_an_attribute():
    text = "def f(self, x, y):\n    self.x = x\n    return g(x=y)\n"
    assert is_same_code(
        identity(text), identity(text.replace("x, y", "z, y").replace("= x", "= z").replace("z=", "x="))
    )


def test_names_outside_that_change_places_are_not_renamed():
    one, other = "def f():\n    return g(A, B)\n", "def f():\n    return g(B, A)\n"
    assert identity(one).shape == identity(other).shape
    assert not is_same_code(identity(one), identity(other))
    assert is_same_code(identity(one), identity("def f():\n    return g(A, C)\n"))


def test_what_is_not_known_is_not_the_same():
    assert not is_same_code(None, None)
    assert not is_same_code(identity(BASE), None)


def spot(text: str, original: str, *, number: int = 0) -> str:
    """The place of one of the rewrites of a text."""
    function = read(text)
    found = [rewrite for rewrite in candidates(function) if rewrite.original == original]
    places = sorted({rewrite.location: rewrite for rewrite in found}.items())
    return Spots(function).find(places[number][1])


def test_a_place_stays_when_other_statements_and_names_change():
    here = spot(BASE, ">")
    edited = BASE.replace("for item in items", "found = 0\n    for thing in items").replace("item.", "thing.")
    assert spot(edited.replace("(item", "(thing"), ">") == here
    assert spot(BASE.replace("self.limit:", "self.limit:\n            log()"), ">") == here
    assert spot(BASE.replace("self.limit", "self.bound"), ">") != here
    assert spot(BASE.replace("3", "4"), ">") != here


def test_places_of_one_statement_differ():
    text = "def f(a, b):\n    return a < b < a + b + 1\n"
    places = [
        spot(text, "<"),
        spot(text, "<", number=1),
        spot(text, "+"),
        spot(text, "+", number=1),
        *(spot(text, "a", number=n) for n in range(2)),
        spot(text, "1"),
    ]
    assert len(set(places)) == len(places)


def test_blocks_are_not_part_of_their_statement():
    text = "def f(a, b):\n    if a < b:\n        return a\n"
    assert spot(text, "<") == spot(text.replace("return a", "return b"), "<")
    assert spot(text, "a", number=1) == spot(text.replace("if a < b", "if b > a"), "a", number=1)


def test_rewrites_are_told_apart():
    function = read("def f(a, b, c):\n    return g(a, b, c)\n")
    rewrites = candidates(function)
    told = {describe_rewrite(rewrite, function.source) for rewrite in rewrites}
    assert len(told) == len(rewrites)


@pytest.mark.parametrize(
    "text",
    [
        f"def f(a, b):\n    return {'a + ' * 150}b\n",
        f"def f(a, b):\n    return {'[' * 90}a{']' * 90}\n",
        f"def f(a, b):\n    return a + 0x{'f' * 10_000}\n",
        "def f(a, *, b: int = 3, **c):\n    global d\n    try:\n        import x.y as z, q\n    except E as e:\n"
        "        d = lambda a: (a, e)\n    match a:\n        case {'k': v, **rest}:\n            return [w for w in v]\n"
        "    async def g(a): return f'{a!r:>{b}}'\n",
        "def f(a):\n    return '\\ud800' + \"\U0001f600\" + a\n",
    ],
    ids=["long", "deep", "large number", "all kinds", "surrogates"],
)
def test_any_function_has_an_identity_and_places(text):
    function = read(text)
    assert len(identify(function).shape) == 16
    spots = Spots(function)
    for rewrite in candidates(function)[:200]:
        assert isinstance(rewrite, Rewrite)
        assert len(spots.find(rewrite)) == 16
