"""Bugs planted in someone's own code: what is asked, what is told, and when nothing can be said."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.detector.samples import SOURCE
from tests.detector.tiny_detector import CALIBRATION

from hyperheat.check.discovery import FoundFile
from hyperheat.check.planted_bugs import Planted, measure_planted, plant_bugs
from hyperheat.cli.calibrate import calibrate
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.detector.measurement import Outcome
from hyperheat.detector.sample import CLEAN


@pytest.fixture(scope="module")
def detector(exported_detector: Path) -> Detector:
    return load_detector(exported_detector)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.py").write_text(SOURCE.replace("clamp", name))
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "small.py").write_text("def f(x):\n    return x\n")
    return folder


def files(folder: Path) -> list[FoundFile]:
    return [FoundFile(path.name, path) for path in sorted(folder.glob("*.py"))]


def test_every_function_comes_as_it_is_and_with_a_bug(code: Path, detector: Detector):
    planted = plant_bugs(files(code), detector, samples=100, seed=0, jobs=1)
    assert (planted.functions, planted.files, planted.unread) == (6, 3, 1)
    assert [outcome.kind == CLEAN for outcome in planted.outcomes] == [True, False] * 6
    assert {outcome.group for outcome in planted.outcomes} == {"one.py", "two.py", "three.py"}


def test_the_seed_decides_and_the_number_of_processes_does_not(code: Path, detector: Detector):
    one = plant_bugs(files(code), detector, samples=3, seed=0, jobs=1)
    assert one.functions == 3
    assert plant_bugs(reversed(files(code)), detector, samples=3, seed=0, jobs=3) == one
    assert plant_bugs(files(code), detector, samples=3, seed=1, jobs=1) != one


def outcomes(*, right: int, missed: int, alarms: int, quiet: int) -> Planted:
    """Functions by what is found with a confidence of 0.9."""
    sure, unsure = float(np.log(0.9)), float(np.log(0.005))
    rows = [
        *[(sure, True, "literal")] * right,
        *[(unsure, True, "argument-swap")] * missed,
        *[(sure, False, CLEAN)] * alarms,
        *[(unsure, False, CLEAN)] * quiet,
    ]
    made = tuple(
        Outcome(log_probability=p, right=is_right, kind=kind, found="literal", group=str(number % 7))
        for number, (p, is_right, kind) in enumerate(rows)
    )
    return Planted(outcomes=made, files=7, unread=0)


def test_every_tier_has_its_recall_and_its_alarms():
    own = measure_planted(outcomes(right=500, missed=500, alarms=1, quiet=999), CALIBRATION)
    assert list(own) == ["A", "B", "C"]  # what is safe to repair is a part of A
    assert own["A"].threshold == 0.5
    assert (own["A"].recall.value, own["A"].alarms.value) == (0.5, 0.001)
    assert own["A"].recall.lower < 0.5 < own["A"].recall.upper
    assert own["A"].kinds["literal"] == (500, 500)
    assert own["A"].kinds["argument-swap"] == (500, 0)
    assert own["A"].kinds["variable-misuse"] == (0, 0)


def test_a_model_without_tiers_has_no_figures():
    unmeasured = replace(CALIBRATION, alarms=None)
    assert measure_planted(outcomes(right=5, missed=5, alarms=0, quiet=10), unmeasured) == {}


def test_code_without_functions_is_refused():
    with pytest.raises(ValueError, match="no functions to plant bugs in: none has at least 6 candidate"):
        measure_planted(Planted(outcomes=(), files=0, unread=0), CALIBRATION)


def test_the_command(
    code: Path, detector: Detector, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(code)
    before = {path: path.read_bytes() for path in code.iterdir()}
    calibrate([Path()], model=str(detector.folder), jobs=1)
    printed = capsys.readouterr().out
    assert (
        "6 functions in 3 files, each unchanged and with one planted bug; 1 files could not be read"
        in printed
    )
    assert "tier A: " in printed
    assert "tier B and better: " in printed
    assert " % of planted bugs are found, with the right repair (" in printed
    assert " alarms per 1,000 unchanged functions (" in printed
    assert "Alarms may be real bugs" in printed
    assert "precision" not in printed
    calibrate([Path()], model=str(detector.folder), jobs=1, seed=3, json=True)
    content = json.loads(capsys.readouterr().out)
    assert content["functions"] == 6
    assert (content["seed"], content["tiers"]["A"]["threshold"]) == (3, 0.5)
    assert sum(planted for planted, _ in content["tiers"]["A"]["kinds"].values()) == 6
    assert {path: path.read_bytes() for path in code.iterdir()} == before


def test_the_settings_of_the_code_hold(code: Path, detector: Detector, capsys: pytest.CaptureFixture[str]):
    (code / "pyproject.toml").write_text('[tool.hyperheat]\nexclude = ["one.py", "broken.py"]\njobs = 1\n')
    calibrate([code], model=str(detector.folder), json=True)
    content = json.loads(capsys.readouterr().out)
    assert (content["files"], content["unread"], content["functions"]) == (2, 0, 4)


@pytest.mark.parametrize("model", [None, "model"])
def test_the_command_refuses_in_one_line(
    code: Path, detector: Detector, model: str | None, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        calibrate([code / "nothing"], model=str(detector.folder if model else code))
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
