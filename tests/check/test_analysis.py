"""One file: where its findings lie, what they say and repair, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.check.scores import CALIBRATION, pseudo_scores, scores_of

from hyperheat.check import analysis as limits
from hyperheat.check.analysis import analyse, analyse_edited, analyse_text
from hyperheat.check.discovery import FoundFile
from hyperheat.check.records import ErrorRecord, FileRecord, join_parts, key_of_lines
from hyperheat.check.scanned_files import ScannedFile, read_record
from hyperheat.detector import SampleScores
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.sample import Candidates, Sample
from hyperheat.report.finding import Finding
from hyperheat.report.source import SourceText
from hyperheat.rewrites import KINDS

Weigh = Callable[[Candidates], np.ndarray]


def scan(text: str, weigh: Weigh | None = None, calibration: Calibration = CALIBRATION) -> ScannedFile:
    """Scan a text with scores from weights of the candidates."""

    def score(sample: Sample) -> SampleScores:
        return pseudo_scores(sample) if weigh is None else scores_of(sample, weigh(sample.candidates))

    record = analyse_text(text, (), score, calibration)
    return read_record(record, FoundFile("a.py", Path("a.py")), calibration, source=text)


def favour(place: int, weight: float = 9.0) -> Weigh:
    """Weights that are small but for one candidate."""
    return lambda candidates: np.where(np.arange(len(candidates)) == place, weight, 1e-4)


def favour_kind(name: str) -> Weigh:
    """Weights that are small but for the candidates of one kind."""
    return lambda candidates: np.where(candidates.kind == list(KINDS).index(name), 9.0, 1e-4)


def best(file: ScannedFile) -> Finding:
    (function,) = file.functions
    return function.suspects[0].finding


# Its candidates: a -> b, b -> a, the arguments swapped, and `not` before the call.
CALL = "def f(a, b):\n    return g(a, b)\n"


@pytest.mark.parametrize(
    ("place", "rule", "span", "message", "line"),
    [
        (0, "HH101", (2, 14, 2, 15), "did you mean `b` instead of `a`?", "    return g(b, b)"),
        (1, "HH101", (2, 17, 2, 18), "did you mean `a` instead of `b`?", "    return g(a, a)"),
        (2, "HH201", (2, 12, 2, 19), "arguments look swapped: did you mean `g(b, a)`?", "    return g(b, a)"),
    ],
)
def test_a_finding_says_where_what_and_how_to_repair_it(place, rule, span, message, line):
    file = scan(CALL, favour(place))
    finding = best(file)
    assert (finding.rule, finding.message, finding.function) == (rule, message, "f")
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == span
    text = file.text()
    assert text is not None
    assert text.edited(finding.fix.edits) == f"def f(a, b):\n{line}\n"
    assert (finding.confidence, finding.tier) == (0.9, "A")
    assert file.functions[0].no_bug == 0.1


def test_places_are_those_of_the_file_wherever_the_function_stands():
    above = "import os\n\n\nclass A:\n    'Text.'\n\n"
    method = "    @property\n    def f(self, a, b):\n        return g(a, b)\n"
    file = scan(above + method, favour(0))
    (function,) = file.functions
    assert (function.name, function.line, function.end_line) == ("A.f", 7, 9)
    assert (best(file).line, best(file).column) == (9, 18)
    assert (function.heat.line, function.heat.end_line) == (7, 9)
    assert [(h.line, h.column, h.suspicion) for h in function.heat.heats] == [(9, 18, 0.9)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_move_with_arguments_as_they_are(end):
    text = "\ufeffdef f(a, b):\n    return g(a, (b,\n        1))\n".replace("\n", end)
    swapped = "\ufeffdef f(a, b):\n    return g((b,\n        1), a)\n".replace("\n", end)
    file = scan(text, favour_kind("argument-swap"))
    assert best(file).kind == "argument-swap"
    text = file.text()
    assert text is not None
    assert text.edited(best(file).fix.edits) == swapped


def test_other_repairs_of_the_place_are_told_the_likeliest_first():
    text = "def f(a, b, c, d, e, h):\n    return a\n"
    file = scan(text, lambda _: np.array([1.0, 8.0, 3.0, 2.0, 5.0, 1e-4]))
    finding = best(file)
    assert finding.message == "did you mean `c` instead of `a`?"
    assert [(a.message.split()[3], a.confidence) for a in finding.alternatives] == [
        ("`h`", 0.25),
        ("`d`", 0.15),
        ("`e`", 0.1),
    ]


def test_other_places_are_told_if_they_are_surer_than_any_function_is_before_looking():
    def weights(other: float) -> Weigh:
        return lambda _: np.array([9.0, other, 1e-4, 1e-4])

    for other, places in ((1.0, 2), (0.1, 1)):
        (function,) = scan(CALL, weights(other)).functions
        assert [suspect.finding.column for suspect in function.suspects] == [14, 17][:places]
    (function,) = scan(CALL, favour(0, 0.001)).functions
    assert [suspect.probability for suspect in function.suspects] == [0.001]  # the surest is always there


def test_a_function_without_candidates_is_not_judged():
    assert_not_judged(scan("def f(): ...\n", lambda _: pytest.fail("it was scored")))


def test_a_function_with_fewer_candidates_than_any_that_was_measured_is_not_judged():
    assert scan(CALL, favour(0), replace(CALIBRATION, min_candidates=4)).functions[0].suspects
    few = replace(CALIBRATION, min_candidates=5)
    assert_not_judged(scan(CALL, lambda _: pytest.fail("it was scored"), few))


def assert_not_judged(file: ScannedFile) -> None:
    (function,) = file.functions
    assert (function.name, function.no_bug, function.suspects, function.heat.heats) == ("f", None, (), ())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"def f(:\n", ["HH900", "not valid Python 3: invalid syntax", 1]),
        (b"\n\n\xff\n", ["HH900", "cannot decode the file as utf-8: the byte 0xff (invalid start byte)", 3]),
        (b"# coding: no-such\n", ["HH900", "cannot decode the file: unknown encoding: no-such", 1]),
        (
            b"x = '" + b"y" * 20_000 + b"'\n",
            ["HH901", "expected lines of at most 20000 characters, got 20006", None],
        ),
        (b"def f(): 1\n" * 2_001, ["HH901", "expected `def` at most 2000 times, got it 2001 times", None]),
    ],
    ids=["syntax", "bytes", "encoding", "line", "functions"],
)
def test_what_is_refused_says_why(data, error):
    record = analyse(data, (), pseudo_scores, CALIBRATION)
    assert record == FileRecord(errors=(ErrorRecord(*error),))


def test_a_function_that_is_too_large_leaves_the_others_alone(monkeypatch):
    monkeypatch.setattr(limits, "MAX_NODES", 60)
    monkeypatch.setattr(limits, "MAX_CANDIDATES", 5)
    many = "def many(a, b, c):\n    return a, b, c\n"
    large = f"def large(a):\n    return {' + '.join(['a'] * 30)}\n"
    file = scan(f"{CALL}{many}{large}")
    assert [function.name for function in file.functions] == ["f"]
    assert [(error.rule, error.line, error.reason) for error in file.errors] == [
        ("HH901", 3, "the function many: expected at most 5 candidates, got more"),
        ("HH901", 5, "the function large: expected at most 60 nodes, got 101"),
    ]


TWO = "def f(a, b):\n    return g(a, b)\n\n\ndef h(c, d):\n    return f(c, d)\n"


def edited(before: str, after: str) -> tuple[FileRecord, FileRecord, int]:
    """The record before an edit, that after it by guessing, and how many functions were scored for it."""
    old = analyse_text(before, (), pseudo_scores, CALIBRATION)
    source = SourceText(before)
    guesses = {
        key_of_lines(name, source.lines(line, line + len(old.known[digest].lines) - 1)): digest
        for name, line, digest in old.functions
    }
    scored = []

    def score(sample: Sample) -> SampleScores:
        scored.append(sample)
        return pseudo_scores(sample)

    known = old.known.keys()
    new = join_parts(analyse_edited(after, guesses, known, score, CALIBRATION), known)
    return old, new, len(scored)


def test_after_an_edit_only_changed_functions_are_scored_and_others_may_move():
    after = "import os\n\n" + TWO.replace("f(c, d)", "f(d, c)")
    old, new, scored = edited(TWO, after)
    assert scored == 1
    assert new.functions[0].digest == old.functions[0].digest
    assert [function.line for function in new.functions] == [3, 7]
    assert analyse_text(after, (), pseudo_scores, CALIBRATION).known == {
        new.functions[0].digest: old.known[new.functions[0].digest],
        **new.known,
    }


def test_what_an_edit_changes_elsewhere_is_a_guess_until_the_whole_text_is_read():
    after = TWO.replace("def f(a, b)", "def f(x, a, b)")  # the call in h is bound to other parameters
    old, new, scored = edited(TWO, after)
    whole = analyse_text(after, (), pseudo_scores, CALIBRATION)
    assert scored == 1
    assert new.functions[0] == whole.functions[0]
    assert new.functions[1].digest == old.functions[1].digest != whole.functions[1].digest


def test_an_edited_text_that_cannot_be_read_is_an_error():
    _, new, scored = edited(TWO, TWO + "def")
    assert (new.functions, scored) == ((), 0)
    assert [error.rule for error in new.errors] == ["HH900"]
