"""The comment that ignores a finding: where it goes, and where there is no room for it."""

import ast
from typing import Any

import pytest

from hyperheat.check.suppressions import find_suppressions
from hyperheat.lsp.actions import ignoring_edit
from hyperheat.lsp.results import PlacedFinding, shift_finding
from hyperheat.report.finding import FileEdit, Finding, Fix
from hyperheat.report.source import SourceText


def find(text: str, part: str, *, rule: str = "HH101", kind: str = "variable-misuse") -> PlacedFinding:
    """A finding at a part of a function that takes the whole text."""
    before = text[: text.index(part)]
    line, column = 1 + before.count("\n"), len(before) - before.rfind("\n")
    last = part.splitlines()[-1]
    end = (line + part.count("\n"), column + len(part) if "\n" not in part else 1 + len(last))
    place: Any = {"line": line, "column": column, "end_line": end[0], "end_column": end[1]}
    finding = Finding(
        **place,
        path="a.py",
        rule=rule,
        kind=kind,
        function="f",
        message="did you mean `b`?",
        confidence=0.5,
        tier="A",
        fix=Fix((FileEdit(**place, text="b"),)),
    )
    return PlacedFinding(finding, 1, text.count("\n"))


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("def f(a):\n    return a\n", " a\n"[:2], "    return a  # hyperheat: ignore[HH101]"),
        ("def f(a):\n    return a  # why\n", " a "[:2], "    return a  # why  # hyperheat: ignore[HH101]"),
        (
            "def f(a):\n    return a  # hyperheat: ignore[HH201]\n",
            " a "[:2],
            "    return a  # hyperheat: ignore[HH201, HH101]",
        ),
        (
            "def f(a):\n    return g(\n        a, 1\n    )\n",
            "a, 1",
            "        a, 1  # hyperheat: ignore[HH101]",
        ),
        (
            "def f(a):\n    return g(a, '''\n    text''')\n",
            "g(a, '''\n    text''')",
            "    text''')  # hyperheat: ignore[HH101]",
        ),
        (
            "def f(a):\n    return a + \\\n        1\n",
            "return a",
            "        1  # hyperheat: ignore[HH101]",
        ),
        (
            "def f(a):\n    s = '#'; return a \n",
            "return a",
            "    s = '#'; return a  # hyperheat: ignore[HH101] ",
        ),
    ],
    ids=["bare", "comment", "own comment", "brackets", "string", "continued", "blank at the end"],
)
def test_a_comment_covers_the_finding_and_changes_no_code(text, part, expected):
    placed = find(text, part)
    edit = ignoring_edit(placed, SourceText(text))
    assert edit is not None
    after = SourceText(text).edited([edit])
    assert expected in after.split("\n")
    assert any(comment.covers(placed.finding) for comment in find_suppressions(SourceText(after)))
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))


def test_there_may_be_no_room_for_a_comment():
    text = (
        "def f(aa):\n    return g(1, \\\n        -aa, \\\n        2)\n"  # only the last line could have one
    )
    assert ignoring_edit(find(text, "-aa"), SourceText(text)) is None


def test_lines_count_in_the_file():
    above, function = "x = 1\n\n\nclass C:\n", "    def f(a):\n        return a\n"
    local = find(function, "return a")
    placed = PlacedFinding(shift_finding(local.finding, 4), local.first + 4, local.last + 4)
    source = SourceText(above + function)
    edit = ignoring_edit(placed, source)
    assert edit is not None
    after = function.replace("return a", "return a  # hyperheat: ignore[HH101]")
    assert source.edited([edit]) == above + after
