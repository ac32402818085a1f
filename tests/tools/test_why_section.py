"""The section on explanations, from figures made up by hand."""

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

MEASURED: dict[str, Any] = {
    "code": "the standard library of Python 3.11.7",
    "model": "0" * 64,
    "asked": 40,
    "seed": 3,
    "bugs": {"literal": 10, "variable-misuse": 30},
    "deletion": {
        "before": 0.9,
        "named": 0.123,
        "random": 0.7,
        "nearest": 0.5,
        "gone_named": 0.95,
        "gone_random": 0.2,
        "gone_nearest": 0.4,
    },
    "first": {"relation": 10, "variable": 30},
    "misuse": {"bugs": 30, "named": 27, "chance": 12.0},
    "seconds": [{"nodes": 100, "explanations": 40, "median": 0.21, "max": 0.4}],
    "left_out": 1234,
}


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return runpy.run_path(str(ROOT / "tools" / "why_section.py"))["why_section"]


def test_the_figures_and_their_command_are_there(section: Any) -> None:
    text = "\n".join(section(MEASURED))
    for part in (
        "40 bugs planted in the standard library of Python 3.11.7",
        "10 literal, 30 variable-misuse.",
        "| nothing | 0.900 |  |",
        "| three parts drawn at random | 0.700 | 20.0 % |",
        "| **the three parts named first** | 0.123 | 95.0 % |",
        "Named first: a relation of the place 25 %, a variable 75 %.",
        "in **90 %** of 30 such bugs",
        "at random would do so in 40 %",
        "here 1,234 parts were left out",
        "| 100 | 40 | 0.21 | 0.40 |",
        "python -m benchmarks.why --bugs 40 --seed 3 --json > docs/results/why.json",
    ):
        assert part in text


def test_other_code_is_an_argument_of_the_command(section: Any) -> None:
    text = "\n".join(section(MEASURED | {"code": "rich", "misuse": {"bugs": 0, "named": 0, "chance": 0}}))
    assert "python -m benchmarks.why RICH --bugs 40" in text
    assert "Variable misuse" not in text
