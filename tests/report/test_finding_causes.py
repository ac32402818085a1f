"""Explanations as people see them: causes underlined and numbered, and listed."""

from dataclasses import replace

import pytest
from tests.report.reports import ASSIGNMENT, EMPTY, HOSTILE, MISUSE, SOURCES, SWAP

from hyperheat.report import SourceText, text
from hyperheat.report.cause_marks import describe_cause, mark_lines, render_why
from hyperheat.report.cause_markup import why_lines
from hyperheat.report.finding import Finding
from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses
from hyperheat.report.formats import FORMATS


def cause(name: str, confidence: float, *places: tuple[int, int, int], kind: str = "token") -> CodeCause:
    """A cause at places, each a line, a first column and an end."""
    at = (CodePlace(line=line, column=start, end_line=line, end_column=end) for line, start, end in places)
    return CodeCause(kind=kind, text=name, meaning="", places=tuple(at), confidence=confidence)


RELATION = CodeCause(
    kind="relation", text="MayWrite", meaning="which assignments reach it", places=(), confidence=0.6
)
LEFT = cause("left", 0.5, (1, 11, 15), (2, 26, 30), (4, 30, 34), (5, 16, 20), kind="variable")
WHY = FindingCauses(
    confidence=0.9412,
    causes=(cause("right", 0.03, (3, 27, 32)), LEFT, RELATION),
    against=(cause("==", 0.99, (4, 17, 19)),),
    tried=40,
    left_out=0,
)
EXPLAINED = replace(MISUSE, why=WHY)
MERGE = SOURCES[MISUSE.path]


def test_the_picture_underlines_and_numbers_each_cause() -> None:
    assert render_why(MISUSE, WHY, MERGE, colour=False) == (
        "1 | def merge(left, right):\n"
        "  |           2~~~\n"
        "2 |     left_key = normalise(left.key)\n"
        "  |                          2~~~\n"
        "3 |     right_key = normalise(right.key)\n"
        "  |                           1~~~~\n"
        "4 |     if left_key == normalise(left.key):\n"
        "  |                 4~           ^^^^\n"
        "  |                              2~~~\n"
        "5 |         return left\n"
        "  |                2~~~\n"
        "\n"
        "Why: without one of these, the confidence of 0.941 falls to\n"
        "  1  0.030  `right` (line 3)\n"
        "  2  0.500  `left` (variable, lines 1, 2, 4, 5)\n"
        "  3  0.600  MayWrite at the place: which assignments reach it\n"
        "Against it: without one of these, the confidence of 0.941 rises to\n"
        "  4  0.990  `==` (line 4)\n"
        "40 parts were tried.\n"
    )


def test_lines_without_a_cause_are_left_out() -> None:
    why = replace(WHY, causes=(cause("merge", 0.3, (1, 5, 10)),), against=(), left_out=7)
    assert render_why(MISUSE, why, MERGE, colour=False) == (
        "1 | def merge(left, right):\n"
        "  |     1~~~~\n"
        "...\n"
        "4 |     if left_key == normalise(left.key):\n"
        "  |                              ^^^^\n"
        "\n"
        "Why: without one of these, the confidence of 0.941 falls to\n"
        "  1  0.300  `merge` (line 1)\n"
        "40 parts were tried; 7 others, farther from the place, were not.\n"
    )


def test_wide_characters_and_tabs_are_underlined_where_they_stand() -> None:
    why = replace(WHY, causes=(cause("商品", 0.1, (3, 10, 12), (4, 10, 12)),), against=(), tried=1)
    assert render_why(ASSIGNMENT, why, SOURCES["src/shop.py"], colour=False).splitlines()[:4] == [
        "3 |         for i, 商品 in enumerate(items):",
        "  |                1~~~",
        "4 |             sum = 商品.price",
        "  |                 ^ 1~~~",
    ]


def test_without_causes_it_says_so() -> None:
    why = replace(WHY, causes=(), against=(), tried=1)
    assert render_why(MISUSE, why, MERGE, colour=False) == (
        "Why: no single part decides it; without any of them the confidence stays near 0.941.\n1 part was tried.\n"
    )


def test_with_nothing_but_what_speaks_against_it_only_that_is_listed() -> None:
    rows = render_why(MISUSE, replace(WHY, causes=()), MERGE, colour=False).splitlines()
    assert rows[-4:-1] == [
        "",
        "Against it: without one of these, the confidence of 0.941 rises to",
        "  1  0.990  `==` (line 4)",
    ]


def test_places_over_several_lines() -> None:
    why = replace(WHY, causes=(RELATION,), against=())
    rows = render_why(SWAP, why, MERGE, colour=False).splitlines()
    assert rows[:8] == [
        "6 |     return resize(",
        "  |            ^^^^^^^",
        "7 |         right.height,",
        "  |         ^^^^^^^^^^^^^",
        "8 |         right.width,",
        "  |         ^^^^^^^^^^^^",
        "9 |     )",
        "  |     ^",
    ]
    long_string = CodePlace(line=7, column=9, end_line=8, end_column=5)
    why = replace(why, causes=(replace(RELATION, kind="token", text='"""a', places=(long_string,)),))
    assert [line.number for line in mark_lines(MISUSE, why, MERGE)] == [4, 7]  # only its first line


def test_many_lines_are_shortened_in_the_list() -> None:
    many = cause("x", 0.1, *((line, 1, 2) for line in range(1, 9)), kind="variable")
    assert describe_cause(many) == "`x` (variable, lines 1, 2, 3, 4, 5, ...)"


def test_text_html_and_json_have_the_explanation() -> None:
    report = replace(EMPTY, findings=(EXPLAINED,))
    assert text.render(report, SOURCES).endswith(render_why(MISUSE, WHY, MERGE, colour=False))
    page = FORMATS["html"](report, SOURCES)
    assert page.count("<h4>Why</h4>") == 1
    assert '"why"' in FORMATS["json"](report, SOURCES)
    assert '"why"' in FORMATS["jsonl"](report, SOURCES)
    plain = replace(EMPTY, findings=(MISUSE,))
    assert not any("Why" in FORMATS[name](plain, SOURCES) for name in FORMATS)
    assert '"why"' not in FORMATS["json"](plain, SOURCES)


def test_the_page_marks_causes_with_their_numbers() -> None:
    rows = list(why_lines(EXPLAINED, MERGE))
    assert (
        '<div class="line"><span class="number">4</span><code>    if left_key <span class="cause">==</span><sup>4</sup> '
        'normalise(<mark><span class="cause">left</span></mark><sup>2</sup>.key):</code></div>'
    ) in rows
    assert "<li>`right` (line 3): to 0.030</li>" in rows
    assert '<ol class="causes" start="4">' in rows


@pytest.mark.parametrize("render", [render_why, lambda *args, **_: "".join(why_lines(hostile(), args[2]))])
def test_hostile_code_and_texts_are_harmless(render) -> None:
    finding = hostile()
    shown = render(finding, finding.why, SourceText(HOSTILE), colour=False)
    assert shown.replace("\n", "").isprintable()
    assert "<script>" not in shown or "<h4>" not in shown
    assert "##vso[" not in shown


def hostile() -> Finding:
    bad = cause("'\x1b[31m \u202e <script>", 0.1, (2, 5, 48), (3, 5, 14))
    why = replace(WHY, causes=(bad, replace(RELATION, meaning="\x1b[2J##vso[x]")), against=())
    return replace(MISUSE, line=2, column=20, end_line=2, end_column=30, why=why)
