"""`tools/held_out_section.py`: rows of figures on test data, and their section of a page."""

import json
import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "held_out_section.py"))
held_out_section, read_row = TOOL["held_out_section"], TOOL["read_row"]

FIGURES = {"samples": 400, "buggy": 300, "loc": 0.5, "repair": 0.75, "found": 0.25, "false_alarms": 0.125}
RECALL = {"100": 0.25, "30": 0.125, "10": 0.0625, "3": 0.03125, "1": None}


def evaluation(path: Path, joint: float, odds: float, weights: str = "abc") -> Path:
    content = {"weights_sha256": weights, "bug_odds": odds, "all": {**FIGURES, "joint": joint}}
    path.write_text(json.dumps({**content, "clean_functions": 2_000, "recall_at_alarms": RECALL}))
    return path


def test_a_row_has_joint_with_and_without_odds_and_what_is_found_quietly(tmp_path):
    plain, weighed = (evaluation(tmp_path / f"{odds}.json", 0.25 + odds / 20, odds) for odds in (1, 5))
    lines = held_out_section([read_row("built-in", "released bugs", plain, weighed)])
    first, second = (line for line in lines if line.startswith("| released bugs | built-in | 400 | 300 |"))
    # 87.5 of the 100 functions without a bug are right, so 32.5 of the 300 bugs are, or 112.5
    assert "| as it is | 30.0 % | 4.5 | **10.8 %** | 12.5 % | 50.0 % | 75.0 % | 25.0 % |" in first
    assert "| x 5 | 50.0 % | 4.9 | **37.5 %** | 12.5 % | 50.0 % | 75.0 % | 25.0 % |" in second
    assert "| released bugs | built-in | 25.0 % | 12.5 % | 6.2 % | 3.1 % | - |" in lines


def test_figures_that_do_not_belong_together_are_refused(tmp_path):
    plain = evaluation(tmp_path / "plain.json", 0.1, 1)
    other = evaluation(tmp_path / "other.json", 0.5, 5, weights="def")
    with pytest.raises(
        ValueError, match=r"other.json: expected figures of the weights of .*plain.json, got those of others"
    ):
        read_row("built-in", "released bugs", plain, other)
    weighed = evaluation(tmp_path / "weighed.json", 0.5, 5)
    with pytest.raises(ValueError, match=r"weighed.json: expected figures without --bug-odds, got 5"):
        read_row("built-in", "released bugs", weighed, weighed)
