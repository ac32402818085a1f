"""Findings after an edit: they move with functions that did not change, and are not in others."""

from pathlib import Path

import pytest
from tests.check.scores import CALIBRATION, pseudo_scores

from hyperheat.check.analysis import analyse_text
from hyperheat.check.settings import Settings
from hyperheat.detector.detector import Detector
from hyperheat.lsp.results import CheckedText, check_record, move_findings
from hyperheat.lsp.work import DocumentSettings
from hyperheat.report.source import SourceText

DETECTOR = Detector(Path(), "fake", "0" * 64, CALIBRATION, "key")
FIRST = "def f(a, b):\n    return g(a, b)\n"
SECOND = "class C:\n    @cache\n    def h(self, c, d):\n        return self.g(c, d, 1)\n"
TEXT = f"{FIRST}\n\n{SECOND}"


def check(text: str) -> CheckedText:
    record = analyse_text(text, (), pseudo_scores, CALIBRATION)
    settings = DocumentSettings(settings=Settings(tier="C"), shown="a.py")
    return check_record(record, text, settings, None, DETECTOR)


def repaired(checked_findings: tuple, text: str) -> list[str]:
    """The lines that repairs make of a text, each alone."""
    source = SourceText(text)
    return [SourceText(source.edited(p.finding.fix.edits)).line(p.finding.line) for p in checked_findings]


def test_findings_know_the_lines_of_their_functions():
    checked = check(TEXT)
    assert {(placed.first, placed.last) for placed in checked.findings} == {(1, 2), (6, 8)}
    assert len(checked.guesses) == 2
    assert move_findings(checked, TEXT) is checked.findings


@pytest.mark.parametrize(
    "edited",
    [
        f"import os\n\n{TEXT}",
        f"{TEXT}\n\ndef",
        f"x = (\n{TEXT}",
        TEXT.replace("\n\n\n", "\n"),
        f"{SECOND}\n{FIRST}",
    ],
    ids=["lines above", "broken below", "broken above", "fewer lines", "other order"],
)
def test_findings_move_with_their_functions(edited):
    checked = check(TEXT)
    moved = move_findings(checked, edited)
    assert len(moved) == len(checked.findings)
    assert repaired(moved, edited) == repaired(checked.findings, TEXT)
    for placed, before in zip(moved, checked.findings, strict=True):
        lines = SourceText(edited).lines(placed.first, placed.last)
        assert lines == SourceText(TEXT).lines(before.first, before.last)


def test_findings_in_changed_functions_are_left_out():
    checked = check(TEXT)
    moved = move_findings(checked, TEXT.replace("return g(a, b)", "return g(a, b, 2)"))
    assert {placed.first for placed in moved} == {6}
    assert move_findings(checked, "") == ()


def test_of_equal_functions_the_nearest_is_meant():
    checked = check(FIRST)
    twice = f"{FIRST}\n{'#' * 9}\n{FIRST}"
    assert {placed.first for placed in move_findings(checked, f"\n{twice}")} == {2}


def test_a_function_inside_of_another_line_is_not_meant():
    checked = check(FIRST)
    assert move_findings(checked, f"async {FIRST}") == ()
