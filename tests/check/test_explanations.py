"""Explanations of findings: the place that is meant, what is not explained, and the same in every worker."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.check.notebooks import code, markdown, notebook
from tests.check.scores import CALIBRATION, pseudo_scores

from hyperheat.check import explanations
from hyperheat.check.discovery import FoundFile, Selection, discover
from hyperheat.check.explanations import Target, explain_findings, explain_place, explain_targets
from hyperheat.check.filters import make_report
from hyperheat.check.scan import scan_data, scan_files
from hyperheat.check.scan_work import LIMITS
from hyperheat.check.scanned_files import ScannedFile
from hyperheat.check.settings import Settings
from hyperheat.cli.explain import explain
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.report.finding import Finding, Report
from hyperheat.report.finding_causes import METHOD

SOURCE = """\
import os

class Stock:
    def take(self, item, count):
        if count > self.left[item]:
            raise ValueError(item)
        self.left[item] -= count
        return pick(item,
                    count)
"""
LINES = SOURCE.splitlines()
CELL = (
    "def first_or(items, default=None):\n    for item in items:\n        return items\n    return default\n"
)
EXAMPLE = Path(explanations.__file__).parent / "example" / "planted.py"


def place_at(target: Target, source: str = SOURCE) -> tuple[str, str] | None:
    """The text and the first repair of the place that is explained."""
    (found,) = explain_targets(source, [target], pseudo_scores, CALIBRATION)
    if found is None:
        return None
    (place,) = found.record.places
    start = source.replace("\r\n", "\n").index("    def take")
    return source.replace("\r\n", "\n")[start + place.start : start + place.end], place.repairs[0].kind


def places_of_function() -> list[Finding]:
    """All places of the function that are listed, as findings."""
    file = FoundFile("a.py", Path("a.py"))
    detector = Detector(Path(), "fake", "", CALIBRATION, "")
    from hyperheat.check.analysis import analyse_text
    from hyperheat.check.scanned_files import read_record

    scanned = read_record(analyse_text(SOURCE, (), pseudo_scores, detector.calibration), file, CALIBRATION)
    return [suspect.finding for suspect in scanned.functions[0].suspects]


@pytest.mark.parametrize(
    "finding", places_of_function(), ids=lambda finding: f"{finding.line}:{finding.column}"
)
def test_a_place_with_its_end_is_found_exactly(finding: Finding) -> None:
    target = Target(finding.line, finding.column, finding.end_line, finding.end_column)
    (found,) = explain_targets(SOURCE, [target], pseudo_scores, CALIBRATION)
    assert found is not None
    assert (found.function.name, found.function.line) == ("Stock.take", 4)
    (place,) = found.record.places
    assert (place.repairs[0].kind, place.repairs[0].message) == (finding.kind, finding.message)
    assert place.repairs[0].confidence == finding.confidence
    assert found.why.probability == place.probability


def test_a_column_means_the_likeliest_place_around_it() -> None:
    column = LINES[4].index("count") + 1
    found = place_at(Target(5, column + 2))
    assert found is not None
    assert "count" in found[0]
    assert place_at(Target(5, LINES[4].index("if") + 1)) is None


def test_a_line_means_the_likeliest_place_on_it() -> None:
    (best, *_) = places_of_function()
    found = place_at(Target(best.line))
    assert found is not None
    assert found[1] == best.kind
    on_last_line = place_at(Target(9))  # of a call over two lines
    assert on_last_line is not None
    assert "count" in on_last_line[0]


@pytest.mark.parametrize("line", [1, 2, 100])
def test_nothing_outside_functions_is_explained(line: int) -> None:
    assert place_at(Target(line)) is None


def test_functions_that_are_not_judged_are_not_explained() -> None:
    calibration = replace(CALIBRATION, min_candidates=1_000)
    assert list(explain_targets(SOURCE, [Target(5)], pseudo_scores, calibration)) == [None]


def test_line_ends_do_not_matter() -> None:
    target = Target(7, LINES[6].index("-=") + 1)
    assert place_at(target, SOURCE.replace("\n", "\r\n")) == place_at(target)


# In workers, with a detector whose weights are random.


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


@pytest.fixture
def scanned(tmp_path: Path, detector: Detector) -> list[ScannedFile]:
    (tmp_path / "stock.py").write_text(SOURCE)
    (tmp_path / "shop.py").write_text("def add(a, b, c):\n    return plus(a, b) - c * a\n")
    found = discover(["."], root=tmp_path, selection=Selection())
    return list(scan_files(found.files, detector, jobs=1))


@pytest.fixture(scope="module")
def bugs() -> tuple[Report, list[ScannedFile], Detector]:
    """The report on the example, explained with the model of the package, whatever that is."""
    detector = load_detector()
    found = discover([str(EXAMPLE)], root=EXAMPLE.parent, selection=Selection())
    files = list(scan_files(found.files, detector, jobs=1))
    return explain_findings(report_on(files, detector), files, detector, jobs=1), files, detector


def report_on(files: list[ScannedFile], detector: Detector) -> Report:
    return make_report(files, Settings(), detector, show_all=True)


def test_a_report_is_explained_the_same_in_any_number_of_workers(
    scanned: list[ScannedFile], detector: Detector
) -> None:
    report = report_on(scanned, detector)
    done: list[None] = []
    one = explain_findings(report, scanned, detector, jobs=1, progress=lambda: done.append(None))
    assert one == explain_findings(report, scanned, detector, jobs=2)
    assert len(done) == len(report.findings) > 1
    assert [replace(finding, why=None) for finding in one.findings] == list(report.findings)
    assert one.summary.notes == (*report.summary.notes, METHOD)


def test_causes_lower_the_confidence_and_what_is_against_raises_it(bugs) -> None:
    report, _, _ = bugs
    for finding in report.findings:
        assert finding.why.confidence == finding.confidence
        assert all(cause.confidence < finding.confidence for cause in finding.why.causes)
        assert all(cause.confidence > finding.confidence for cause in finding.why.against)
        assert [cause.confidence for cause in finding.why.causes] == sorted(
            cause.confidence for cause in finding.why.causes
        )
    assert any(finding.why.causes for finding in report.findings)


def test_causes_stand_where_their_text_is(bugs) -> None:
    report, files, _ = bugs
    texts = {file.path: file.text() for file in files}
    kinds = set()
    for finding in report.findings:
        for cause in (*finding.why.causes, *finding.why.against):
            assert (cause.kind == "relation") == (not cause.places) == bool(cause.meaning)
            kinds.add(cause.kind)
            for place in cause.places:
                line = texts[finding.path].line(place.line)
                assert line[place.column - 1 : place.end_column - 1] == cause.text
    assert kinds == {"variable", "token", "relation"}


def test_findings_that_cannot_be_explained_are_counted(
    scanned: list[ScannedFile], detector: Detector
) -> None:
    report = report_on(scanned, detector)
    scanned[0].file.path.write_text("changed = True\n")
    explained = explain_findings(report, scanned, detector, jobs=1)
    lost = [finding for finding in explained.findings if finding.why is None]
    assert {finding.path for finding in lost} == {scanned[0].path}
    assert explained.summary.notes[-1] == (
        f"{len(lost)} of {len(report.findings)} findings could not be explained."
    )


def test_an_interruption_leaves_the_findings(scanned: list[ScannedFile], detector: Detector) -> None:
    report = report_on(scanned, detector)

    def interrupt() -> None:
        raise KeyboardInterrupt

    explained = explain_findings(report, scanned, detector, jobs=1, progress=interrupt)
    assert [replace(finding, why=None) for finding in explained.findings] == list(report.findings)
    done = sum(finding.why is not None for finding in explained.findings)
    assert 0 < done < len(report.findings)
    left = len(report.findings) - done
    assert explained.summary.notes[-1] == f"{left} of {len(report.findings)} findings could not be explained."


def test_one_place_agrees_with_the_scan(detector: Detector) -> None:
    file = FoundFile("a.py", Path("a.py"))
    (function,) = scan_data(SOURCE.encode(), file, detector).functions
    first = function.suspects[0].finding
    found = explain_place(SOURCE.encode(), Target(first.line, first.column), file, detector)
    assert found is not None
    assert replace(found, why=None) == first


def test_a_place_that_takes_too_long_says_so(detector: Detector) -> None:
    file = FoundFile("a.py", Path("a.py"))
    limits = replace(LIMITS, seconds=1e-9)
    with pytest.raises(ValueError, match=r"a\.py:5: not explained: "):
        explain_place(SOURCE.encode(), Target(5), file, detector, limits=limits)


NOTEBOOK = notebook(
    markdown("# Shop"),
    code("import re\n%matplotlib inline\n"),
    code(f"from __future__ import annotations\n{CELL}"),
    code("def shell(a, b):\n    !ls $a\n    return a + b - a * b\n"),
)


@pytest.fixture
def notebook_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.ipynb").write_bytes(NOTEBOOK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_findings_in_notebooks_are_explained_by_places_in_their_cell(notebook_folder: Path) -> None:
    detector = load_detector()
    found = discover(["."], root=notebook_folder, selection=Selection())
    files = list(scan_files(found.files, detector, jobs=1))
    report = explain_findings(report_on(files, detector), files, detector, jobs=1)
    (finding,) = [finding for finding in report.findings if finding.line == 4]
    assert finding.cell == 3
    assert finding.why is not None
    lines = ["", "from __future__ import annotations", *CELL.splitlines()]
    places = [(cause, place) for cause in finding.why.causes for place in cause.places]
    assert places
    for cause, place in places:
        assert lines[place.line][place.column - 1 : place.end_column - 1] == cause.text


def test_a_place_in_a_notebook_can_be_explained(
    notebook_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explain("shop.ipynb:cell 3:4:16")
    out = capsys.readouterr().out
    assert out.startswith("shop.ipynb:cell 3:4:16 in first_or, lines 2 to 5\n")
    assert "--> shop.ipynb:cell 3:4:16 in first_or\n" in out
    assert "4 |         return items\n" in out
    explain("shop.ipynb:cell 4:3")
    assert "Not scored: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            "shop.ipynb:4",
            "shop.ipynb: a place in a notebook needs its cell, as in 'shop.ipynb:cell 1:4'",
        ),
        ("shop.ipynb:cell 9:4", "shop.ipynb:cell 9:4: there is no such line of code"),
        ("shop.ipynb:cell 3:99", "shop.ipynb:cell 3:99: there is no such line of code"),
        (
            "shop.ipynb:cell 2:1",
            "shop.ipynb:cell 2:1: only functions are checked, and this line is not in one; "
            "the nearest is first_or in cell 3, line 2",
        ),
    ],
)
def test_places_that_a_notebook_does_not_have(
    notebook_folder: Path, capsys: pytest.CaptureFixture[str], target: str, sentence: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        explain(target)
    assert capsys.readouterr().err == f"{sentence}\n"
