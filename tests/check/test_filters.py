"""Which findings a report shows, and what it says of the others."""

from dataclasses import replace
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
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import Finding, Model, ScanError
from hyperheat.report.text import summarise

DETECTOR = Detector(Path("nowhere"), "none", "0", CALIBRATION, "key")
SOURCE = """def sure(a):
    return not a

def unsure(a, b):
    return a

def guess(a, b, c, d, e):
    return a  # hyperheat: ignore[HH401]
"""


def scan(text: str = SOURCE, calibration: Calibration = CALIBRATION) -> ScannedFile:
    """In each function the first candidate has all but a tenth: 0.9 alone, otherwise shared by all of its place."""
    record = analyse_text(
        text, (), lambda sample: scores_of(sample, _weights(len(sample.candidates))), calibration
    )
    return read_record(record, FoundFile("a.py", Path("/a.py")), calibration, source=text)


def _weights(count: int) -> np.ndarray:
    return np.full(count, 9.0 / count)


def shown(report) -> list[tuple[str, str, float]]:
    return [(finding.function, finding.tier, finding.confidence) for finding in report.findings]


def options(**values: object) -> Settings:
    return override_settings(
        Settings(), {name.replace("_", "-"): v for name, v in values.items()}, folder=Path("/")
    )


WIDE = """def wide(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t):
    return a
"""


def _not_asked_for() -> Finding:
    raise AssertionError("the finding of a place that is only counted was made")


def test_places_of_the_last_tier_are_counted_without_making_their_findings():
    file = scan(WIDE)
    (function,) = file.functions
    lazy = tuple(replace(suspect, make=_not_asked_for) for suspect in function.suspects)
    file = replace(file, functions=(replace(function, suspects=lazy),))
    assert make_report([file], Settings(), DETECTOR).summary.hidden == {"D": len(lazy)}
    assert make_report([file], options(ignore=(lazy[0].rule,)), DETECTOR).summary.hidden == {}
    nothing_changed = Changes({}, frozenset())
    assert make_report([file], Settings(), DETECTOR, changes=nothing_changed).summary.hidden == {}
    with pytest.raises(AssertionError, match="only counted"):
        make_report([file], Settings(), DETECTOR, show_all=True)


def test_a_comment_that_quiets_a_place_of_the_last_tier_is_not_called_unused():
    report = make_report(
        [scan(WIDE.replace("return a", "return a  # hyperheat: ignore"))], Settings(), DETECTOR
    )
    assert (report.summary.notes, report.summary.hidden) == ((), {})


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
        (options(max_alarms=2.5), ["sure", "unsure"]),
        (options(max_alarms=0.3), ["sure"]),
        (options(tier="C", ignore=["HH1"]), ["sure"]),
        (options(tier="C", select=["HH201"]), []),
    ],
    ids=str,
)
def test_tiers_thresholds_and_rules(settings, functions):
    assert [name for name, _, _ in shown(make_report([scan()], settings, DETECTOR))] == functions


def test_fewer_alarms_than_were_measured_are_refused():
    with pytest.raises(ValueError, match=r"at least 0\.025 per 1,000 functions, got 0\.01"):
        make_report([scan()], options(max_alarms=0.01), DETECTOR)


def test_an_empty_tier_a_is_told_and_so_are_functions_that_were_not_judged():
    detector = replace(DETECTOR, calibration=replace(CALIBRATION, alarms=None, min_candidates=2))
    report = make_report([scan(calibration=detector.calibration)], Settings(tier="C"), detector)
    assert shown(report) == []
    note, *_ = report.summary.notes
    assert note.startswith("Tier A is empty: the alarms of this model on unedited code were not measured")
    assert (report.summary.functions, report.summary.too_small) == (3, 1)
    assert not any("Tier A" in note for note in make_report([scan()], Settings(), DETECTOR).summary.notes)


def test_a_finding_carries_the_rate_of_its_level_and_whether_its_repair_is_safe():
    findings = make_report([scan()], Settings(), DETECTOR, show_all=True).findings
    assert [(f.confidence, f.alarm_rate, f.safe) for f in findings if f.function == "sure"] == [
        (0.9, 250 / 1_000_000, False)
    ]
    assert findings[0].worth == "tier A, 1 alarm in 4,000 functions"


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


def test_show_all_shows_even_what_has_no_tier_but_does_not_count_it_otherwise():
    names = ", ".join(f"a{i}" for i in range(30))
    file = scan(f"def f({names}):\n    return a0\n")
    (suspect,) = file.functions[0].suspects
    assert suspect.finding.tier == "D"
    assert make_report([file], Settings(), DETECTOR, show_all=True).findings == (suspect.finding,)
    quiet = make_report([file], Settings(tier="C"), DETECTOR)
    assert (quiet.findings, quiet.heat) == ((), ())
    assert "Hidden" not in summarise(quiet)


def test_errors_of_the_search_and_of_the_scan_are_all_told():
    error = ScanError(path="b.py", rule="HH901", reason="too large")
    report = make_report([scan("def f(:\n")], Settings(), DETECTOR, errors=[error])
    assert [(e.path, e.rule) for e in report.errors] == [("a.py", "HH900"), ("b.py", "HH901")]
