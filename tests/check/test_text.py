"""`hyperheat.check(source)`: findings in a text, from this process."""

import pytest

import hyperheat
from hyperheat.check import text as module
from hyperheat.detector.detector import load_detector


@pytest.fixture(autouse=True)
def tiny(exported_detector, monkeypatch):
    detector = load_detector(exported_detector)
    monkeypatch.setattr(module, "_detector", lambda: detector)


def test_a_text_gives_the_findings_of_all_tiers():
    source = "def area(width, height):\n    return multiply(width, height)\n"
    findings = hyperheat.check(source, path="shapes.py")
    assert findings
    assert {(finding.path, finding.function) for finding in findings} == {("shapes.py", "area")}
    assert hyperheat.check(source.replace("height)\n", "height)  # noqa\n")) == []


def test_a_text_that_cannot_be_read_is_an_error_and_not_a_clean_one():
    with pytest.raises(ValueError, match="<source>:1: not valid Python 3: invalid syntax"):
        hyperheat.check("def f(:\n")


def test_a_function_that_is_left_out_is_told(monkeypatch):
    monkeypatch.setattr("hyperheat.check.examine.MAX_NODES", 30)
    source = "def small(): ...\n\ndef large(a, b):\n    return a + b + a + b + a + b + a + b\n"
    with pytest.warns(
        UserWarning, match="not checked: <source>:3: the function large: expected at most 30 nodes"
    ):
        hyperheat.check(source)
