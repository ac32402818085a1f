"""The data of a report: what it refuses, its order, its rules and the names of findings."""

from dataclasses import replace

import pytest
from tests.report.reports import ASSIGNMENT, MISUSE, REPORT, SOURCES, SWAP, edit

from hyperheat.report import (
    RULE_OF_KIND,
    RULES,
    Alternative,
    Fix,
    FunctionHeat,
    HeatSpan,
    ScanError,
    SourceText,
    fingerprints,
)
from hyperheat.report.finding import Finding
from hyperheat.rewrites import KINDS


def test_every_kind_of_rewrite_has_a_rule():
    assert set(RULE_OF_KIND) == set(KINDS)
    assert [rule for rule in RULES if not RULES[rule].kinds] == ["HH900", "HH901"]


def test_a_report_is_in_order_of_places():
    assert REPORT.findings[1:] == (MISUSE, SWAP, ASSIGNMENT)
    assert replace(REPORT, findings=REPORT.findings[::-1], errors=REPORT.errors[::-1]) == REPORT


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(MISUSE, column=0), "from 1 .* got 4:0 to 4:34"),
        (lambda: replace(MISUSE, end_column=29), "not before the start, got 4:30 to 4:29"),
        (lambda: replace(MISUSE, confidence=1.5), "confidence from 0 to 1, got 1.5"),
        (lambda: replace(MISUSE, confidence=float("nan")), "confidence from 0 to 1, got nan"),
        (lambda: replace(MISUSE, tier="E"), "tier of A, B, C, D; got 'E'"),
        (lambda: replace(MISUSE, alarm_rate=0.0), "above 0 and at most 1, got 0.0"),
        (lambda: replace(MISUSE, alarm_rate=2.0), "above 0 and at most 1, got 2.0"),
        (lambda: replace(MISUSE, rule="HH201"), "HH101 variable-misuse, .*; got HH201 variable-misuse"),
        (lambda: replace(MISUSE, kind="typo"), "got HH101 typo"),
        (lambda: edit(2, 1, 1, 9, ""), "got 2:1 to 1:9"),
        (lambda: Fix(()), "edits in order"),
        (lambda: Fix((edit(1, 1, 1, 4, ""), edit(1, 3, 1, 5, ""))), "without overlap"),
        (lambda: Fix((edit(2, 1, 2, 1, ""), edit(1, 1, 1, 1, ""))), "edits in order"),
        (lambda: ScanError(path="a.py", rule="HH101", reason=""), "HH900, HH901; got 'HH101'"),
        (lambda: ScanError(path="a.py", rule="HH900", reason="", line=0), "got 0:1 to 0:1"),
        (lambda: Alternative(kind="literal", message="", confidence=-1, fix=MISUSE.fix), "got -1"),
        (lambda: HeatSpan(line=1, column=1, end_line=1, end_column=2, suspicion=2), "suspicion .* got 2"),
        (lambda: FunctionHeat(path="a.py", function="f", line=2, end_line=1, heats=()), "got 2:1 to 1:1"),
    ],
)
def test_wrong_data_is_refused(make, message: str):
    with pytest.raises(ValueError, match=message):
        make()


def names_of(text: str, *findings: Finding) -> tuple[str, ...]:
    return fingerprints(findings, {MISUSE.path: SourceText(text)})


def test_fingerprints_survive_moves_and_tell_findings_apart():
    text = SOURCES[MISUSE.path].text
    lower = replace(MISUSE, line=6, end_line=6)
    again = replace(MISUSE, column=33, end_column=34)
    name, second = names_of(text, MISUSE, again)
    assert name != second
    assert len(name) == 32
    assert names_of(f"\n\n{text}".replace(" == ", "  ==\t"), lower) == (name,)
    assert names_of(text.replace("if left", "if right"), MISUSE) != (name,)
    assert names_of(text, replace(MISUSE, function="other")) != (name,)
    assert names_of(text, replace(MISUSE, rule="HH301", kind="boolean-operator")) != (name,)
    assert fingerprints([replace(MISUSE, path="b\udcff.py")], {}) != (name,)
