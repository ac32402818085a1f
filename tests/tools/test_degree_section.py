"""The section on answers by degree, from evaluations with fixed figures."""

import json
import runpy
from pathlib import Path

import pytest

tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "degree_section.py"))


def evaluation(path: Path, mrr: float, *, groups: tuple[str, ...] = ("both", "degree 0"), **changes) -> Path:
    """What `hyperheat kg eval --by degree --json` prints."""
    metrics = {group: {"queries": 1_000, "mrr": mrr, "h1": 0.1} for group in groups}
    asked = {"dataset": "data", "sha256": "5" * 64, "protocol": {"filter_key": "triple"}, "statements": 500}
    path.write_text(json.dumps({"model": "m", **asked, "candidates": 20, "metrics": metrics, **changes}))
    return path


def test_each_column_is_an_evaluation(tmp_path: Path):
    files = {"heuristic": evaluation(tmp_path / "a", 0.25), "both parts": evaluation(tmp_path / "b", 0.5)}
    told = [f"--column={name}={path}" for name, path in files.items()]
    tool["main"]([*told, "--out", str(tmp_path / "kg-degree.json")])
    section = "\n".join(tool["degree_section"](json.loads((tmp_path / "kg-degree.json").read_text())))
    assert "| MRR | questions | heuristic | both parts |" in section
    assert "| degree 0 | 1,000 | 0.250 | 0.500 |" in section


def test_columns_that_cannot_be_compared_are_refused(tmp_path: Path):
    first = ("one", evaluation(tmp_path / "one", 0.5))
    other = ("two", evaluation(tmp_path / "two", 0.5, statements=400))
    with pytest.raises(ValueError, match="two: expected an evaluation under the protocol of the first"):
        tool["read_columns"]([first, other])
    other = ("two", evaluation(tmp_path / "two", 0.5, groups=("both", "1 qualifier")))
    with pytest.raises(ValueError, match="two: expected the groups of the first column"):
        tool["read_columns"]([first, other])
