"""Code frames: what is shown, marked, cut and counted."""

from dataclasses import replace

from tests.report.reports import MISUSE, edit

from hyperheat.report import Finding, Fix, SourceText
from hyperheat.report.listing import frame
from hyperheat.report.text import render_finding


def rows(finding: Finding, text: str) -> list[str]:
    return [
        "|".join(map(str, (line.number, line.before, line.marked, line.after)))
        for line in frame(finding, SourceText(text))
    ]


def at(line: int, column: int, end_line: int, end_column: int, *edits) -> Finding:
    return replace(
        MISUSE,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        fix=Fix(edits),
        alternatives=(),
    )


def test_first_line():
    assert rows(at(1, 1, 1, 2, edit(1, 1, 1, 2, "c")), "a\nb") == ["1||a|", "None||c|"]


def test_insertion_and_removal():
    assert rows(at(1, 4, 1, 5, edit(1, 4, 1, 4, "not ")), "if a:") == ["1|if |a|:", "None|if |not |a:"]
    assert rows(at(1, 4, 1, 9, edit(1, 4, 1, 8, "")), "if not a:") == ["1|if |not a|:", "None|if ||a:"]


def test_swap_over_several_lines():
    fix = (edit(2, 3, 2, 4, "b"), edit(3, 3, 3, 4, "a"))
    assert rows(at(1, 1, 3, 5, *fix), "f(\r\n  a,\r\n  b)\r\nc") == [
        *("1||f(|", "2|  |a,|", "3|  |b)|"),
        *("None|  |b,|", "None|  |a|)"),
    ]


def test_an_edit_may_bring_line_ends():
    assert rows(at(1, 1, 1, 2, edit(1, 1, 2, 2, "x\ny\nz")), "a\nb;c") == [
        *("1||a|",),
        *("None||x|", "None||y|", "None||z|;c"),
    ]


def test_many_lines_are_counted():
    text = "\n".join("abcdefghi")
    shown = rows(at(1, 1, 8, 2, edit(1, 1, 8, 2, "\n".join("ABCDEFG"))), text)
    assert shown[5:] == [
        *("6||f|", "7|… 2 more lines||"),
        *("None||A|", "None||B|", "None||C|", "None||D|", "None||E|", "None||F|", "None|… 1 more line||"),
    ]


def test_long_lines_are_cut_around_the_mark():
    text = "x" * 10_000 + "left" + "y" * 10_000
    found, repaired = frame(at(1, 10_001, 1, 10_005, edit(1, 10_001, 1, 10_005, "right")), SourceText(text))
    assert (found.before, found.marked, found.after) == (f"…{'x' * 70}", "left", f"{'y' * 66}…")
    assert (repaired.before, repaired.marked, repaired.after) == (f"…{'x' * 70}", "right", f"{'y' * 65}…")
    (found, _) = frame(at(1, 1, 1, 9_000, edit(1, 1, 1, 9_000, "")), SourceText(text))
    assert (found.before, found.marked, found.after) == ("", f"{'x' * 140}…", "")


def test_no_frame_without_the_line():
    assert frame(MISUSE, SourceText("a = 1\n")) == ()
    assert render_finding(replace(MISUSE, alternatives=()), None).splitlines() == [
        "HH101 variable-misuse: did you mean `right` instead of `left`?  [tier A, 1 alarm in 4,300 functions]",
        " --> src/billing/merge.py:4:30 in merge",
    ]


def test_carets_stand_under_wide_characters_and_tabs():
    shown = render_finding(at(1, 7, 1, 9, edit(1, 7, 1, 9, "値")), SourceText("\t商 = (名前)"))
    assert shown.splitlines()[3:] == [
        "1 |     商 = (名前)",
        "  |           ^^^^",
        "+ |     商 = (値)",
    ]
