"""`hyperheat.check(source)` and `check_paths`: what programs call."""

from pathlib import Path
from types import ModuleType

import pytest

import hyperheat
from hyperheat.check import check_paths
from hyperheat.check import checker as module
from hyperheat.check.settings import SELECTABLE, Settings
from hyperheat.detector.detector import load_detector


@pytest.fixture(autouse=True)
def tiny(exported_detector, monkeypatch):
    detector = load_detector(exported_detector)
    monkeypatch.setattr(module, "_builtin_detector", lambda: detector)
    monkeypatch.setattr(module, "load_model", lambda *names, **options: detector)


def test_a_text_gives_the_findings_of_all_tiers():
    source = "def area(width, height):\n    return multiply(width, height)\n"
    findings = hyperheat.check(source, path="shapes.py")
    assert findings
    assert {(finding.path, finding.function) for finding in findings} == {("shapes.py", "area")}
    assert hyperheat.check(source.replace("height)\n", "height)  # noqa\n")) == []


def test_a_text_that_cannot_be_read_is_an_error_and_not_a_clean_one():
    with pytest.raises(ValueError, match="<source>:1: not valid Python 3: invalid syntax"):
        hyperheat.check("def f(:\n")


@pytest.mark.parametrize("path", ["shop.py", "src/shop.py", "tool", Path("shop.py")])
def test_the_path_of_a_file_is_not_taken_for_source(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tool").write_text("def f(a, b):\n    return a\n")
    with pytest.raises(ValueError, match=r"^expected the text of Python source, got the path .*check_paths"):
        hyperheat.check(path)
    assert hyperheat.check("tool.run()") == []


def test_a_function_that_is_left_out_is_told(monkeypatch):
    monkeypatch.setattr("hyperheat.check.analysis.MAX_NODES", 30)
    source = "def small(): ...\n\ndef large(a, b):\n    return a + b + a + b + a + b + a + b\n"
    with pytest.warns(
        UserWarning, match="not checked: <source>:3: the function large: expected at most 30 nodes"
    ):
        hyperheat.check(source)


def test_paths_are_checked_with_the_settings_of_the_project(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.hyperheat]\ntier = 'C'\nexclude = ['old/']\njobs = 1\n")
    (tmp_path / "shapes.py").write_text("def area(width, height):\n    return multiply(width, height)\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "shapes.py").write_text("def f(a, b):\n    return g(a, b)\n")
    report = check_paths([tmp_path], show_all=True)
    assert (report.summary.files, report.summary.functions) == (1, 1)
    assert {(Path(finding.path).name, finding.function) for finding in report.findings} == {
        ("shapes.py", "area")
    }
    assert [(Path(error.path).name, error.rule, error.line) for error in report.errors] == [
        ("broken.py", "HH900", 1)
    ]
    assert check_paths([tmp_path], Settings(ignore=SELECTABLE)).findings == ()


def test_a_path_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        check_paths([tmp_path / "absent"])


def test_fewer_alarms_than_were_measured_are_refused_before_the_scan(tmp_path):
    with pytest.raises(ValueError, match="max-alarms: expected a rate of alarms that was measured"):
        check_paths([tmp_path], Settings(max_alarms=1e-6))


def test_the_package_offers_its_functions():
    package: ModuleType = vars(hyperheat)["check"]  # to type checkers it is a function, which it is, too
    assert package.check_paths is check_paths
    assert package.check_text is module.check_text
