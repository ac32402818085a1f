"""Comments that keep findings quiet: where they are read, what they cover, and when they are not needed."""

import pytest
from tests.check.findings import make_finding

from hyperheat.check.settings import SELECTABLE
from hyperheat.check.suppressions import find_suppressions, suppress
from hyperheat.report import Finding, SourceText


def quiet(text: str, *findings: Finding) -> list[tuple[int, str]]:
    result = suppress(findings, find_suppressions(SourceText(text)), rules=SELECTABLE)
    assert len(result.shown) + len(result.quiet) == len(findings)
    return [(found.line, found.rule) for found in result.quiet]


def unused(text: str, *findings: Finding, rules=SELECTABLE) -> list[tuple[int, int, str]]:
    places = suppress(findings, find_suppressions(SourceText(text)), rules=rules).unused
    return [(place.line, place.column, place.reason) for place in places]


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        ("# hyperheat: ignore", ["HH101", "HH201"]),
        ("#hyperheat:ignore because", ["HH101", "HH201"]),
        ("# hyperheat: ignore[HH101]", ["HH101"]),
        ("# hyperheat: ignore[HH201, HH101] both", ["HH101", "HH201"]),
        ("# hyperheat: ignore[hh201]", ["HH201"]),
        ("# type: ignore[x]  # hyperheat: ignore[HH101]", ["HH101"]),
        ("# hyperheat: ignore[HH101, nonsense]", ["HH101"]),
        ("# hyperheat: ignore[nonsense]", []),
        ("# hyperheat: ignore[]", []),
        ("# hyperheat: ignroe", []),
        ("# hyperheat is great: ignore", []),
        ("# noqa", ["HH101", "HH201"]),
        ("# NOQA : hh101", ["HH101"]),
        ("# noqa: E501,HH101 F401", ["HH101"]),
        ("# noqa: E501", []),
        ("# noqa: E501  # noqa: HH201", ["HH201"]),
        ("# noqanda", []),
        ("# flake8: noqa", []),
        ("# pylint: disable=all", []),
    ],
)
def test_what_a_comment_is_for(comment, rules):
    found = quiet(f"x = 1  {comment}\n", make_finding(1), make_finding(1, "HH201"))
    assert found == [(1, rule) for rule in rules]


def test_comments_in_texts_are_none():
    assert (
        quiet('x = "# noqa"\ny = """\n# hyperheat: ignore-file\n"""\n', make_finding(1), make_finding(3))
        == []
    )
    assert quiet("x = f'{y} # noqa'\n", make_finding(1)) == []


def test_a_comment_covers_its_line_and_the_first_of_its_statement():
    text = "x = f(\n    a,\n    b,  # noqa\n    c,\n)\ny = 1\n"
    assert quiet(text, *map(make_finding, range(1, 7))) == [(1, "HH101"), (3, "HH101")]
    assert quiet(text, make_finding(2, end_line=4)) == [(2, "HH101")]
    after = "if x:\n    y = '''\n    a\n    '''  # noqa\n"
    assert quiet(after, *map(make_finding, range(1, 5))) == [(2, "HH101"), (4, "HH101")]


def test_a_line_of_its_own_covers_nothing_else():
    text = "x = 1\n# hyperheat: ignore\ny = 2\n"
    assert quiet(text, make_finding(1), make_finding(3)) == []
    assert unused(text, make_finding(1), make_finding(3)) == [(2, 1, "no finding here")]


def test_whole_files():
    text = "x = 1\n\ny = 2\n# hyperheat: ignore-file[HH401]\n"
    assert quiet(text, make_finding(1), make_finding(1, "HH401"), make_finding(3, "HH401")) == [
        (1, "HH401"),
        (3, "HH401"),
    ]
    assert quiet("# hyperheat: ignore-file\nx = 1\n", make_finding(2)) == [(2, "HH101")]


def test_what_is_not_needed_is_told_with_its_place():
    text = "x = 1  # hyperheat: ignore[HH101, HH201]\ny = 2  # noqa: E501, HH401\nz = 3  # noqa\n"
    assert unused(text, make_finding(1)) == [
        (1, 8, "no HH201 here"),
        (2, 8, "no HH401 here"),
    ]
    assert unused(text, make_finding(1), rules=["HH101", "HH401"]) == [(2, 8, "no HH401 here")]
    assert unused("x = 1  # hyperheat: ignore[HH7]\n") == [(1, 8, "expected rules such as HH101, got 'HH7'")]
    assert unused("x = 1  # hyperheat: ignore[HH101,]\n", make_finding(1)) == []
    assert unused("x = 1  # hyperheat: ignore[HH101, HH1]\n", make_finding(1)) == [
        (1, 8, "expected rules such as HH101, got 'HH1'")
    ]
    assert unused("x = 1  # hyperheat: ignore\n", rules=["HH101"]) == []
    assert unused("# hyperheat: of\n") == [
        (1, 1, "expected `hyperheat: ignore` or `hyperheat: ignore-file`, got 'of'")
    ]


def test_two_comments_for_one_finding_are_both_used():
    assert unused("# hyperheat: ignore-file\nx = 1  # hyperheat: ignore\n", make_finding(2)) == []


def test_lines_are_counted_as_in_reports():
    assert quiet("\ufeffx = 1  # noqa\ry = 2\r\nz = 3 \x0c # noqa\n", *map(make_finding, (1, 2, 3))) == [
        (1, "HH101"),
        (3, "HH101"),
    ]


@pytest.mark.parametrize("rest", ["x = (\n", "'''", "  x\n y\n", "\0", "(" * 3000, "\\"])
def test_of_broken_files_the_readable_start_counts(rest):
    assert quiet(f"x = 1  # noqa\n\n{rest}", make_finding(1)) == [(1, "HH101")]
