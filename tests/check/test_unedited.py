"""Alarms in released code: what is looked at, what is kept, and the command that makes tiers of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.check.scores import CALIBRATION, scores_of
from tests.detector.samples import SOURCE

from hyperheat.check import unedited
from hyperheat.check.analysis import analyse, make_question, read_module
from hyperheat.check.scan_work import load_scorer
from hyperheat.check.unedited import SeenPackage, look_at_package
from hyperheat.cli.calibrate_detector import calibrate_detector
from hyperheat.detector.calibration import Calibration, add_calibration
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.rewrites import KINDS

SMALL = "def f():\n    pass\n"
SOURCES = {
    "one.py": SOURCE.encode(),
    "two.py": SOURCE.replace("clamp", "two").encode(),
    "small.py": SMALL.encode(),
    "broken.py": b"def f(:\n",
}


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


def look(
    detector: Detector, sources: dict[str, bytes] = SOURCES, *, functions: int = 100, jobs: int = 1
) -> SeenPackage:
    return look_at_package(sources, detector, functions=functions, seed=0, jobs=jobs)


def test_what_is_counted_is_what_a_scan_reports(detector: Detector):
    seen = look(detector, {"one.py": SOURCE.encode()})
    scorer = load_scorer(detector)
    record = analyse(
        SOURCE.encode(), (), lambda sample: scorer.score_batch([sample])[0], detector.calibration
    )
    sure = detector.calibration.confidence
    reported = sorted(
        place.repairs[0].confidence for function in record.known.values() for place in function.places
    )
    counted = sorted(sure(p) for findings in seen.functions for p in findings)
    least = detector.calibration.bug_rate  # places after the first are not reported below it
    assert [c for c in counted if c >= least] == [c for c in reported if c >= least]
    assert len(seen.functions) == len(record.known)


def test_functions_that_are_not_judged_and_files_that_cannot_be_read_are_counted(detector: Detector):
    seen = look(detector)
    assert (seen.unread, seen.not_judged) == (1, 1)
    assert len(seen.functions) == 2 * len(look(detector, {"one.py": SOURCE.encode()}).functions)


def test_enough_is_enough_and_the_number_of_processes_does_not_matter(detector: Detector):
    one = look(detector, functions=1)
    assert one.functions
    assert len(one.functions) < len(look(detector).functions)
    assert look(detector, functions=1, jobs=2) == one
    assert look(detector, dict(reversed(SOURCES.items())), functions=1) == one


def test_what_is_kept_is_read_again(detector: Detector):
    seen = look(detector)
    assert SeenPackage.from_plain(json.loads(json.dumps(seen.to_plain()))) == seen


def test_sure_findings_have_a_place_and_a_message():
    (function, *_) = read_module(f"# a comment\n\n{SOURCE}").functions
    question = make_question(function, None)
    weights = np.full(len(question.rewrites), 1e-3)
    weights[3] = 20.0
    seen = unedited._seen(question, scores_of(question.sample, weights, no_bug=0.1), "one.py")
    (finding,) = seen.sure
    rewrite = question.rewrites[3]
    before = function.source[: rewrite.location.start]
    assert (finding.path, finding.function, finding.kind) == ("one.py", function.name, rewrite.kind)
    assert finding.line == function.span[0] + before.count("\n")
    assert finding.message == KINDS[rewrite.kind].describe(rewrite, function.source)
    assert finding.log_probability == seen.functions[0][0] > np.log(0.9)


@pytest.fixture
def model(exported_detector: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for path in exported_detector.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    for name in ("alpha", "beta"):
        (folder / name).mkdir(parents=True)
        (folder / name / "code.py").write_text(SOURCE.replace("clamp", name))
    return folder


def test_the_command_adds_alarms_and_keeps_the_rest(
    model: Path, packages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    calibrate_detector(model=model, unedited=packages, workspace=tmp_path / "work", json=True)
    content = json.loads(capsys.readouterr().out)
    written = Calibration.parse((model / "calibration.json").read_bytes())
    assert written.alarms is not None
    assert written.alarms.packages == 2
    assert written.alarms.functions == 2 * len(
        look(load_detector(model), {"a.py": SOURCE.encode()}).functions
    )
    assert written.curves == CALIBRATION.curves
    assert content["calibration"]["alarms"]["functions"] == written.alarms.functions
    assert set(content["empty"]) == {"safe", "A", "B", "C"}
    assert "too few to promise" in content["empty"]["A"]  # of so few functions nothing can be promised
    assert (content["tiers"], written.tiers) == ({}, {})
    assert "## What was measured" in (model / "MODEL_CARD.md").read_text()


def test_the_command_goes_on_where_it_was_stopped(
    model: Path,
    packages: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    looked: list[int] = []
    look_once = unedited.look_at_package

    def counting(sources: dict[str, bytes], *rest: object, **options: object) -> SeenPackage:
        if len(looked) == 1:
            looked.append(0)
            raise KeyboardInterrupt
        looked.append(len(sources))
        return look_once(sources, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(unedited, "look_at_package", counting)
    options: dict[str, Any] = {"model": model, "unedited": packages, "workspace": tmp_path / "work"}
    with pytest.raises(KeyboardInterrupt):
        calibrate_detector(**options)
    calibrate_detector(**options)
    assert len(looked) == 3  # the first package was not looked at again
    first = (model / "calibration.json").read_bytes()
    calibrate_detector(**options)
    assert len(looked) == 3
    assert (model / "calibration.json").read_bytes() == first
    assert "unedited packages: " in capsys.readouterr().out


def test_another_model_is_looked_at_anew(model: Path, packages: Path, tmp_path: Path):
    options: dict[str, Any] = {"unedited": packages, "workspace": tmp_path / "work"}
    calibrate_detector(model=model, **options)
    add_calibration(model, CALIBRATION)  # the map does not matter
    calibrate_detector(model=model, **options)
    assert len(list((tmp_path / "work").glob("seen-*"))) == 1
    calibrate_detector(model=model, functions=7, **options)
    assert len(list((tmp_path / "work").glob("seen-*"))) == 2
