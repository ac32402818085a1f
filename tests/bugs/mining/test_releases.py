"""What comparing the releases of a package finds, and what it leaves out."""

import pytest
from tests.bugs.mining.local_index import make_sdist

from hyperheat.bugs.corpus.packages import PassingError, split_of
from hyperheat.bugs.mining import ReleaseReference
from hyperheat.bugs.mining import releases as module
from hyperheat.bugs.mining.fix_selection import take_distinct
from hyperheat.bugs.mining.releases import mine_package

F = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
G = "def g(one, two):\n    if one < two:\n        return one\n    return two\n"


def mine_texts(index, *texts, path="pack/a.py"):
    """The history of a package of one file, released with each text in turn."""
    for number, text in enumerate(texts, start=1):
        index.release("pack", f"{number}.0", {path: text})
    history = mine_package("pack", index.registry)
    assert history.problems == []
    for fix in history.fixes:
        ReleaseReference.of(fix)
    return history


def steps(history):
    return [(fix["before"], fix["after"], fix["before_text"], fix["after_text"]) for fix in history.fixes]


def test_a_fix_is_described(any_index):
    before, after = F + "\n\n" + G, F.replace("+", "-") + "\n\n" + G
    history = mine_texts(any_index, before, after)
    (fix,) = history.fixes
    assert len(fix.pop("sha256")) == 64
    assert len(fix.pop("pair")) == 2
    assert fix == {
        "package": "pack",
        "before": "1.0",
        "after": "2.0",
        "archive": "pack-1.0-py3-none-any.whl",
        "path": "pack/a.py",
        "function": "f",
        "start_line": 1,
        "end_line": 3,
        "kind": "binary-operator",
        "before_text": "+",
        "after_text": "-",
        "span": [2, 16, 2, 17],
        "role": "Assign.value",
        "releases_with_bug": 1,
        "functions_changed": 1,
    }
    assert (history.releases, history.counts["fixes"]) == (["1.0", "2.0"], 1)


def test_other_changes_of_the_file_do_not_matter(index):
    before = "import os\n\n" + F + "\n\n" + G + "\n\ndef old(): pass\n"
    after = (
        "import sys\nX = 1\n\n"
        + G.replace("two", "three")
        + "\n\n"
        + F.replace("+", "-")
        + "\n\ndef new(): pass\n"
    )
    (fix,) = mine_texts(index, before, after).fixes
    assert (fix["function"], fix["start_line"]) == ("f", 3)
    assert fix["functions_changed"] == 4, "expected f and g, the one that goes and the one that comes"


def test_only_code_counts_among_the_functions_that_changed(index):
    before = F + G + "def h(a):\n    return a\n"
    after = (
        F.replace("+", "-")
        + G.replace("one\n", "one  # the less\n")
        + 'def h(a: int) -> int:\n    """H."""\n    return a\n'
    )
    (fix,) = mine_texts(index, before, after).fixes
    assert fix["functions_changed"] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("both = ", "both: int = "),
        ("    both", "    both: int\n    both"),
        ("    both", '    """Say\n    more."""\n    both'),
        ("    both", "    # why\n    both"),
        ("left, right):", "left: int, right: 'str' = None) -> list[int]:"),
        ("left, right):\n", "left,\n    right,\n):\n\n"),
        ("    return both, left", "    return (\n        both,\n        left"),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_no_code_may_change_with_a_fix(index, old, new, backwards):
    if new.startswith("left: int"):
        source = F.replace("right):", "right=None):")
        other = source.replace("left, right=None):", new)
    else:
        source, other = F, F.replace(old, new)
    if "(\n" in new and "return" in new:
        other = other.rstrip() + "\n    )\n"
    assert other != source
    before, after = (other, source) if backwards else (source, other)
    assert steps(mine_texts(index, before, after.replace("+", "-"))) == [("1.0", "2.0", "+", "-")]


@pytest.mark.parametrize(
    "after",
    [
        F.replace("right):", "right: int):"),
        F.replace("both = left + right", "both = (left + right)  # why"),
        F.replace("right):", "right=1):").replace("+", "-"),
        "@cache\n" + F.replace("+", "-"),
        F.replace("+", "-").replace("left, right\n", "right, left\n"),
        F.replace("+", "-").replace("def f", "def h"),
        F.replace("+", "-").replace("def f", "async def f"),
        F.replace("+", "- 17 +"),
    ],
)
def test_what_is_no_fix(index, after):
    assert mine_texts(index, F, after).fixes == []


def test_default_values_and_decorators_are_no_part_of_a_function(index):
    before = "import x\n@x.d(1)\ndef f(left, right=True, *, other=1):\n    return left + right\n"
    for after in (
        before.replace("True", "False"),
        before.replace("d(1)", "d(2)"),
        before.replace("=1)", "=2)"),
    ):
        assert mine_texts(index, before, after, path="pack/b.py").fixes == []


@pytest.mark.parametrize(
    ("before", "name", "line"),
    [
        ("class A:\n    @property\n    def p(self):\n        return self.x + self.y\n\n"
         "    @p.setter\n    def p(self, x):\n        y = self.y\n        self.x = x < y\n", "A.p", 6),
        ("class A:\n    class B:\n        def m(self, x):\n            y = 1\n            return x < y\n", "A.B.m", 3),
        ("def f(x):\n    def inner(y):\n        return x < y\n    return inner\n", "f", 1),
        ("async def f(x, y):\n    await x\n    return x < y\n", "f", 1),
        ("def f(x, y):\n\tif x:\n\t\treturn x < y\n\treturn y\n", "f", 1),
        ('def f(x, y):\n    z = """\nx = 1\n"""\n    return x < y + z\n', "f", 1),
        ("def f(x, y):\r\n    z = x\r\n    return z < y\r\n", "f", 1),
        ("# -*- coding: latin-1 -*-\ndef f(x, y):\n    return x < y\nNAME = 'caf\xe9'\n".encode("latin-1"), "f", 2),
        ("\ufeffimport os\ndef f(x, y):\n    return x < y\n", "f", 2),
        ("if True:\n    def f(x, y):\n        return x < y\nelse:\n    def f(x, y):\n        return x\n", "f", 2),
        ("def caf\xe9(x, \xfc):\n    return x < \xfc\n", "caf\xe9", 1),
    ],
)  # fmt: skip
def test_functions_of_all_sorts(index, before, name, line):
    text = before if isinstance(before, bytes) else before.encode()
    (fix,) = mine_texts(index, text, text.replace(b"<", b"<=")).fixes
    assert (fix["function"], fix["start_line"], fix["kind"]) == (name, line, "comparison-operator")


@pytest.mark.parametrize(
    "text",
    [
        b"def f(x, y):\n    print x\n    return x < y\n",
        b"def f(x, y):\n    '''caf\xe9'''\n    return x < y\n",
        b"# -*- coding: nonsense -*-\ndef f(x, y):\n    return x < y\n",
        b"def f(x, y):\n    return x < y +\n",
        b"x = (\ndef f(x, y):\n    return x < y\n",
        b"def f(x, y):\n    return " + b"(" * 300 + b"x < y" + b")" * 300 + b"\n",
    ],
)
def test_what_cannot_be_read_costs_nothing_else(index, text):
    for version, change in (("1.0", False), ("2.0", True)):
        files = {
            "pack/a.py": text.replace(b"<", b"<=") if change else text,
            "pack/z.py": F.replace("+", "-*"[change]),
        }
        index.release("pack", version, files)
    history = mine_package("pack", index.registry)
    assert [fix["path"] for fix in history.fixes] == ["pack/z.py"]
    assert history.counts["past the tokens"] == 2


def test_a_later_version_in_another_encoding_costs_nothing_else(index):
    """The text of the function alone does not say its encoding."""
    before = b"def f(x, y):\n    return x < y\n"
    after = b"# -*- coding: latin-1 -*-\ndef f(x, y):\n    return x <= y  # caf\xe9\n"
    (fix,) = mine_texts(index, before, after).fixes
    assert fix["after_text"] == "<="


def test_a_function_that_is_too_large_costs_nothing_else(index, monkeypatch):
    monkeypatch.setattr("hyperheat.bugs.mining.bug_fix._MAX_FUNCTION_BYTES", 10)
    assert mine_texts(index, F, F.replace("+", "-")).counts["the function is too large to be read"] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f'{left} and #{left}'", "f'{left} and #{right}'"),
        ('f"{left + right:>{left}}"', 'f"{left - right:>{left}}"'),
        ("g(\n        left,\n        right,\n    )", "g(\n        right,\n        left,\n    )"),
    ],
)
def test_code_in_strings_and_arguments_on_lines_of_their_own(index, old, new):
    before = f"def f(left, right):\n    both = {old}\n    return both, left, right\n"
    assert len(mine_texts(index, before, before.replace(old, new)).fixes) == 1


def test_how_many_releases_had_the_bug(index):
    other = "\n\nX = {}\n"
    texts = [G, G + F, G + F, G + F + other.format(1), G + F + other.format(2), G + F.replace("+", "-")]
    (fix,) = mine_texts(index, *texts).fixes
    assert (fix["before"], fix["after"], fix["releases_with_bug"]) == ("5.0", "6.0", 4)


def test_a_function_that_was_away_began_anew(index):
    for version, files in enumerate(
        ({"a.py": F}, {"b.py": G}, {"a.py": F}, {"a.py": F.replace("+", "-")}), start=1
    ):
        index.release("pack", f"{version}.0", files)
    (fix,) = mine_package("pack", index.registry).fixes
    assert fix["releases_with_bug"] == 1


def test_a_layout_with_src_and_archives_of_both_forms(index):
    index.release_source("pack", "1.0", {"src/pack/a.py": F, "src/pack/b.py": G, "setup.py": "import os\n"})
    index.release_source("pack", "1.1", {"pack/a.py": F, "pack/b.py": G.replace("<", "<="), "setup.py": ""})
    index.release("pack", "1.2", {"pack/a.py": F.replace("+", "-"), "pack/b.py": G.replace("<", "<=")})
    history = mine_package("pack", index.registry)
    assert [(f["path"], f["before"], f["releases_with_bug"]) for f in history.fixes] == [
        ("pack/b.py", "1.0", 1),
        ("pack/a.py", "1.1", 2),
    ]


def test_files_that_are_no_product_are_not_compared(index):
    paths = ["tests/a.py", "docs/a.py", "pack/_vendor/a.py", "pack/x_pb2.py"]
    index.release("pack", "1.0", dict.fromkeys(paths, F))
    index.release("pack", "1.1", {path: F.replace("+", "-") for path in paths})
    history = mine_package("pack", index.registry)
    assert (history.fixes, history.counts) == ([], {})


def test_the_two_forms_of_an_index_give_the_same(index):
    for version, sign in (("1.0", "+"), ("1.1", "-"), ("1.2", "*")):
        index.release("pack", version, {"a.py": F.replace("+", sign)})
    found = []
    for form in ("html", "json"):
        index.form = form
        found.append(mine_package("pack", index.registry).to_json() | {"seconds": 0})
    assert found[0] == found[1]
    assert len(found[0]["fixes"]) == 2


def test_releases_that_cannot_be_read_are_told_of_and_skipped(index):
    index.release("pack", "1.0", {"a.py": F})
    index.add("pack", "pack-1.1-py3-none-any.whl", b"broken")
    index.release("pack", "1.2", {"a.py": F}, sha256="0" * 64)
    index.add("pack", "pack-1.3.tar.gz", make_sdist({"../../a.py": F}, ""))
    index.release("pack", "1.4", {"a.py": F})
    index.release("pack", "1.5", {"a.py": F.replace("+", "-")})
    index.answers["/files/pack/pack-1.4-py3-none-any.whl"] = [404]
    history = mine_package("pack", index.registry)
    assert steps(history) == [("1.0", "1.5", "+", "-")]
    assert history.left_out["releases: not readable"] == 4
    assert [problem.split(":")[0] for problem in history.problems] == ["1.1", "1.2", "1.3", "1.4"]


def test_an_index_that_fails_in_between_is_no_result(index, naps):
    index.release("pack", "1.0", {"a.py": F})
    index.release("pack", "1.1", {"a.py": F.replace("+", "-")})
    index.answers["/files/pack/pack-1.1-py3-none-any.whl"] = [500] * 4
    with pytest.raises(PassingError):
        mine_package("pack", index.registry)


def test_one_release_gives_nothing_to_compare(index):
    index.release("pack", "1.0", {"a.py": F})
    history = mine_package("pack", index.registry)
    assert history.problems == ["nothing to compare: 1 of its releases can be read"]


def test_only_the_newest_releases_and_only_for_some_time(index):
    for number, sign in enumerate("+-*/"):
        index.release("pack", f"1.{number}", {"a.py": F.replace("+", sign)})
    assert steps(mine_package("pack", index.registry, most=2)) == [("1.2", "1.3", "*", "/")]
    history = mine_package("pack", index.registry, seconds=-1.0)
    assert history.left_out == {"releases: no time left": 4}
    assert history.problems[0] == "stopped after -1 s of work, before the 4 newest releases"


def distinct(*histories):
    counts = module.Counter()
    return take_distinct([history.fixes for history in histories], counts), counts


def test_a_change_that_is_taken_back_counts_not_at_all(index):
    minus = F.replace("+", "-")
    found, counts = distinct(mine_texts(index, F, minus, F))
    assert (found, counts["the same change was taken back"]) == ([], 2)


def test_a_change_that_is_made_again_counts_once(index):
    minus = F.replace("+", "-")
    found, counts = distinct(mine_texts(index, F, minus, F, minus))
    assert [fix["after"] for fix in found] == ["4.0"]
    assert counts == {"the same change was taken back": 1, "the same change again": 1}


def test_a_backport_looks_like_a_change_that_is_made_again(index):
    """Release 1.1.1 is younger than 2.0 and stands before it, because releases are compared in the order of versions."""
    minus = F.replace("+", "-")
    for version, text in (("1.1", F), ("2.0", F), ("2.0.1", minus), ("1.1.1", minus)):
        index.release("pack", version, {"a.py": text})
    history = mine_package("pack", index.registry)
    assert history.releases == ["1.1", "1.1.1", "2.0", "2.0.1"]
    found, counts = distinct(history)
    assert [fix["before"] for fix in found] == ["2.0"]
    assert counts == {"the same change was taken back": 1, "the same change again": 1}


def test_copies_in_two_packages_count_once(index):
    minus = F.replace("+", "-")
    for package, first, second in (("a", F, minus), ("b", "\n" + F, "\n" + minus), ("c", minus, F)):
        index.release(package, "1.0", {"a.py": first})
        index.release(package, "1.1", {"a.py": second})
    found, counts = distinct(*(mine_package(name, index.registry) for name in "abc"))
    assert [fix["package"] for fix in found] == ["a"]
    assert counts == {"the same change again": 1, "the same change was taken back": 1}


def test_the_split_is_that_of_the_package_in_all_data_sets(index):
    (fix,), _ = distinct(mine_texts(index, F, F.replace("+", "-")))
    assert fix["split"] == split_of("Pack", 0)
    assert 0 < fix["weight"] <= 1
    commit = {**fix, "repo": "owner/other", "released_as": "pack", "pair": ["1", "2"]}
    del commit["package"]
    (also,) = take_distinct([[commit]])
    assert also["split"] == fix["split"]
