"""Which findings a report shows, and what it says of the others."""

from pathlib import Path

import numpy as np
import pytest
from tests.check.scores import CALIBRATION, scores_of

from hyperheat.check.analysis import analyse_text
from hyperheat.check.baseline import make_baseline
from hyperheat.check.changes import Changes
from hyperheat.check.discovery import FoundFile
from hyperheat.check.filters import make_report
from hyperheat.check.scanned_files import ScannedFile, Sources, read_record
from hyperheat.check.settings import Settings, override_settings
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import Model, ScanError

DETECTOR = Detector(Path("nowhere"), "none", "0", CALIBRATION, "key")
SOURCE = """def sure(a):
    return not a

def unsure(a, b):
    return a

def guess(a, b, c, d, e):
    return a  # hyperheat: ignore[HH401]
"""


def scan(text: str = SOURCE) -> ScannedFile:
    """In each function the first candidate has all but a tenth: 0.9 alone, otherwise shared by all of its place."""
    record = analyse_text(
        text, (), lambda sample: scores_of(sample, _weights(len(sample.candidates))), CALIBRATION
    )
    return read_record(record, FoundFile("a.py", Path("/a.py")), CALIBRATION, source=text)


def _weights(count: int) -> np.ndarray:
    return np.full(count, 9.0 / count)


def shown(report) -> list[tuple[str, str, float]]:
    return [(finding.function, finding.tier, finding.confidence) for finding in report.findings]


def options(**values: object) -> Settings:
    return override_settings(
        Settings(), {name.replace("_", "-"): v for name, v in values.items()}, folder=Path("/")
    )


def test_the_best_tier_is_shown_and_the_others_are_counted():
    report = make_report([scan()], Settings(), DETECTOR)
    assert shown(report) == [("sure", "A", 0.9)]
    assert report.summary.hidden == {"B": 1, "C": 1}
    assert (report.summary.files, report.summary.functions) == (1, 3)
    assert [heat.function for heat in report.heat] == ["sure", "unsure", "guess"]
    assert (report.model, report.errors) == (Model(name="none", sha256="0"), ())


@pytest.mark.parametrize(
    ("settings", "functions"),
    [
        (options(tier="B"), ["sure", "unsure"]),
        (options(tier="C"), ["sure", "unsure", "guess"]),
        (options(min_confidence=0.6), ["sure"]),
        (options(min_confidence=0.1), ["sure", "unsure", "guess"]),
        (options(min_precision=0.6), ["sure", "unsure"]),
        (options(tier="C", ignore=["HH1"]), ["sure"]),
        (options(tier="C", select=["HH201"]), []),
    ],
    ids=str,
)
def test_tiers_thresholds_and_rules(settings, functions):
    assert [name for name, _, _ in shown(make_report([scan()], settings, DETECTOR))] == functions


def test_a_threshold_from_a_precision_says_what_was_measured_and_on_what():
    report = make_report([scan()], options(min_precision=0.9), DETECTOR)
    assert report.summary.notes[0] == (
        "Showing findings with a confidence of at least 0.5: 90% of them were right (at least 80%, with 97.5 % certainty) "
        "on held-out packages with planted bugs, if 5.0% of functions have one."
    )
    with pytest.raises(ValueError, match=r"the best that was measured is 0\.90"):
        make_report([scan()], options(min_precision=0.95), DETECTOR)


def test_comments_keep_findings_quiet_and_those_without_use_are_told():
    report = make_report([scan(SOURCE.replace("not a", "not a  # hyperheat: ignore"))], Settings(), DETECTOR)
    assert (shown(report), report.summary.suppressed) == ([], 1)
    assert report.summary.notes == ("a.py:8:15: unused suppression: no HH401 here.",)


def test_known_findings_are_not_shown_and_lost_ones_are_counted():
    file = scan()
    everything = make_report([file], Settings(), DETECTOR, show_all=True)
    assert len(everything.findings) == 3
    baseline = make_baseline(everything.findings, Sources([file]))
    report = make_report([file], Settings(), DETECTOR, baseline=baseline, show_all=True)
    assert (shown(report), report.summary.known) == ([], 3)
    less = make_report([scan("def other(): ...\n")], Settings(), DETECTOR, baseline=baseline)
    assert less.summary.notes == ("3 baseline entries no longer match a finding.",)


def test_only_functions_that_changed_are_looked_at():
    changes = Changes({Path("/a.py"): (range(5, 6),)}, frozenset())
    report = make_report([scan()], Settings(), DETECTOR, changes=changes, show_all=True)
    assert [name for name, _, _ in shown(report)] == ["unsure"]
    assert report.summary.functions == 1


def test_a_finding_less_sure_than_any_function_before_looking_is_none():
    names = ", ".join(f"a{i}" for i in range(30))
    file = scan(f"def f({names}):\n    return a0\n")
    assert file.functions[0].suspects[0].finding.confidence < CALIBRATION.bug_rate
    assert make_report([file], Settings(), DETECTOR, show_all=True).findings == ()


def test_errors_of_the_search_and_of_the_scan_are_all_told():
    error = ScanError(path="b.py", rule="HH901", reason="too large")
    report = make_report([scan("def f(:\n")], Settings(), DETECTOR, errors=[error])
    assert [(e.path, e.rule) for e in report.errors] == [("a.py", "HH900"), ("b.py", "HH901")]
