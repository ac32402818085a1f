"""What appears beside a finding, as Markdown that code cannot break, or as plain text."""

from hyperheat.lsp.hover import describe_finding
from hyperheat.report.finding import Alternative, FileEdit, Finding, Fix
from hyperheat.report.finding_causes import CodeCause, CodePlace, FindingCauses

PLACE = {"line": 3, "column": 16, "end_line": 3, "end_column": 21}


def finding(message: str = "did you mean `item` instead of `items`?", **more) -> Finding:
    fix = Fix((FileEdit(**PLACE, text="item"),))
    return Finding(
        **PLACE,
        path="a.py",
        rule="HH101",
        kind="variable-misuse",
        function="f",
        message=message,
        confidence=0.9,
        tier="A",
        alarm_rate=1 / 4000,
        fix=fix,
        **more,
    )


def cause(text: str, confidence: float) -> CodeCause:
    place = CodePlace(line=2, column=1, end_line=2, end_column=2)
    return CodeCause(kind="token", text=text, meaning="", places=(place,), confidence=confidence)


def test_a_finding_without_an_explanation():
    assert describe_finding(finding(), markdown=True) == (
        "**HH101 variable\\-misuse**: did you mean `item` instead of `items`?\n\n"
        "Tier A, 1 alarm in 4,000 functions.\n"
    )


def test_causes_and_other_repairs_are_listed():
    fix = Fix((FileEdit(**PLACE, text="other"),))
    other = Alternative(kind="variable-misuse", message="did you mean `other`?", confidence=0.02, fix=fix)
    why = FindingCauses(
        confidence=0.9, causes=(cause("item", 0.3),), against=(cause("for", 0.95),), tried=12, left_out=3
    )
    text = describe_finding(finding(alternatives=(other,), why=why), markdown=False)
    assert text == (
        "HH101 variable-misuse: did you mean `item` instead of `items`?\n\n"
        "Tier A, 1 alarm in 4,000 functions.\n\n"
        "Other repairs:\n\n"
        "- did you mean `other`?\n\n\n"
        "Without one of these, the confidence of 0.900 falls to\n\n"
        "- 0.300 `item` (line 2)\n\n"
        "Against it: without one of these, the confidence of 0.900 rises to\n\n"
        "- 0.950 `for` (line 2)\n\n"
        "12 parts were tried; 3 others, farther from the place, were not.\n"
    )


def test_code_cannot_become_markup():
    hostile = "<img src=x> [a](command:evil) `x` ``` **b** \x1b[31m \u202e"
    text = describe_finding(finding(hostile), markdown=True)
    assert r"\<img src\=x\>" in text or r"\<img src=x\>" in text
    assert r"\[a\]\(command:evil\)" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "```" not in text.replace("\\`", "")
