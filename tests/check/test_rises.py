"""Which findings rose between two versions of a file, by scores that believe what the code says."""

from pathlib import Path

import pytest
from tests.check.believing_scores import believe
from tests.check.scores import CALIBRATION

from hyperheat.check.analysis import Detail, analyse_edited, analyse_text
from hyperheat.check.discovery import FoundFile
from hyperheat.check.records import MARGIN, FileRecord, join_parts
from hyperheat.check.rises import compare_function
from hyperheat.check.scanned_files import ScannedFile, read_record

BASE = """
def area(wrong90, b, c):
    x = b + c
    for y in b:
        show(wrong90, b)
    return y

def other(a, b):
    return a + b
"""


def scan(text: str) -> ScannedFile:
    record = analyse_text(text, (), believe, CALIBRATION)
    return read_record(record, FoundFile("a.py", Path("/a.py")), CALIBRATION, source=text)


def old_version(text: str, known: frozenset[str] = frozenset()) -> FileRecord:
    parts = analyse_edited(text, {}, known, believe, CALIBRATION, detail=Detail(compared=True))
    return join_parts(parts, known)


def risen(before: str, after: str, *elsewhere: str) -> list[tuple[str, int, float | None]]:
    """The function, line and previous confidence of the findings of one version that rose since another."""
    now = scan(after)
    own = old_version(before, frozenset(function.digest for function in now.functions))
    others = [old_version(text) for text in elsewhere]
    return [
        (function.name, suspect.finding.line, rise.previous)
        for function in now.functions
        for suspect, rise in zip(
            function.suspects, compare_function(function, own, others, CALIBRATION), strict=True
        )
        if suspect.finding.confidence >= CALIBRATION.bug_rate and rise.rose
    ]


def test_there_is_something_to_find():
    found = [s.finding for f in scan(BASE).functions for s in f.suspects if s.finding.confidence > 0.5]
    assert [(finding.line, finding.confidence) for finding in found] == [(5, 0.9)]
    assert risen("", BASE) == [("area", 5, None)]


UNCHANGED = {
    "nothing": BASE,
    "comments": BASE.replace("    return", "    # done\n    return"),
    "layout": BASE.replace("x = b + c", "x = (\n        b +\n        c)"),
    "a docstring": BASE.replace("    x = ", '    """Text."""\n    x = '),
    "order": "\ndef other(a, b):\n    return a + b\n" + BASE.replace("other", "another"),
    "the function": BASE.replace("area", "surface"),
    "other variables": BASE.replace("b", "w").replace("for y", "for v").replace("return y", "return v"),
    "line ends": BASE.replace("\n", "\r\n"),
    "what is called": BASE.replace("show", "print"),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_means_the_same_raises_nothing(name):
    assert risen(BASE, UNCHANGED[name]) == []


def test_a_renamed_variable_raises_nothing_even_if_its_new_name_is_suspicious():
    assert risen(BASE.replace("wrong90", "a"), BASE) == []


EDITED = {
    "elsewhere": BASE.replace("x = b + c", "x = b - c"),
    "the same statement": BASE.replace("show(wrong90, b)", "show(wrong90, b, c)"),
    "a block around it": BASE.replace("    show(", "    if c:\n            show("),
    "moved inside": BASE.replace("        show(wrong90, b)\n", "")
    .replace("    for", "    show(wrong90, b)\n    for")
    .replace("for y in b:", "for y in b: pass"),
}


@pytest.mark.parametrize("name", EDITED)
def test_an_old_alarm_in_an_edited_function_is_not_repeated(name):
    assert EDITED[name] != BASE
    assert risen(BASE, EDITED[name]) == []


def test_a_bug_that_is_made_is_reported():
    good = BASE.replace("show(wrong90, b)", "show(b, b)")
    assert risen(good, BASE) == [("area", 5, None)]


def test_a_second_place_is_reported_beside_an_old_one():
    more = BASE.replace("x = b + c", "x = wrong90 + c")
    assert [line for _, line, _ in risen(BASE, more)] == [3]


def test_a_place_that_became_twice_as_likely_is_reported_with_what_it_was():
    weak = BASE.replace("wrong90", "wrong20").replace("b + c", "b - c")
    ((name, line, before),) = risen(weak, BASE)
    assert (name, line) == ("area", 5)
    assert before == pytest.approx(0.2, abs=0.01)
    assert risen(BASE.replace("wrong90", "wrong87").replace("b + c", "b - c"), BASE) == []
    assert pytest.approx(0.693, abs=0.001) == MARGIN


def test_a_place_that_gains_because_another_is_repaired_is_not_reported():
    two = """
def f(wrong70, wrong20, c):
    show(wrong70)
    return wrong20 + c
"""
    now = two.replace("show(wrong70)", "show(c)")
    (function,) = scan(now).functions
    before = [s.finding.confidence for s in scan(two).functions[0].suspects if s.finding.line == 4]
    (after,) = [s.finding.confidence for s in function.suspects if s.finding.line == 4]
    assert after >= before[0]
    assert risen(two, now) == []


def test_code_that_moves_to_another_function_raises_nothing():
    moved = BASE.replace("        show(wrong90, b)\n", "        pass\n").replace(
        "def other(a, b):\n", "def other(wrong90, b):\n    show(wrong90, b)\n"
    )
    moved = moved.replace("return a + b", "return b")
    assert [f.name for f in scan(moved).functions if f.suspects[0].finding.confidence > 0.5] == ["other"]
    assert risen(BASE, moved) == []
    assert risen(BASE.replace("show(wrong90, b)", "pass"), moved) == [("other", 9, None)]


def test_a_function_from_another_file_is_compared_with_itself():
    (area, _, rest) = BASE.partition("\ndef other")
    assert risen("", area, BASE) == []
    assert risen(f"def other{rest}", area, BASE) == []
    edited = area.replace("b + c", "b * c")
    assert risen("", edited, BASE) == [], "by its name"
    assert risen("", edited.replace("area", "surface"), BASE) == [("surface", 5, None)], (
        "neither name nor code"
    )
    renamed = area.replace("area", "surface").replace("y", "z")
    assert risen("", renamed, BASE) == []


def test_several_functions_of_one_name():
    pair = (
        "class A:\n    @property\n    def x(self): return self.y\n"
        "    @x.setter\n    def x(self, wrong90, b):\n        show(wrong90)\n        self.y = b\n"
    )
    assert risen(pair, pair.replace("= b", "= b + 1")) == []
    assert len(risen(pair.replace("show(wrong90)", "show(b)"), pair)) == 1


def test_a_function_that_was_not_read_is_new():
    assert old_version("what?").errors != ()
    assert risen("what?", BASE) == [("area", 5, None)]
