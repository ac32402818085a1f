"""The section on trials, from runs with fixed figures."""

import json
import runpy
from pathlib import Path

import pytest

tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "trials_section.py"))
FIGURES = {
    "real_found": 0.25,
    "real_false_alarms": 0.05,
    "real_repair": 0.6,
    "joint": 0.66,
    "false_alarms": 0.03,
    "quiet": 0.5,
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def run(tmp_path):
    job = {"clean_per_real": 8.0, "planted_per_real": 4.0}
    write(tmp_path / "settings.json", {"train": {"seed": 31, "lr": 2e-4}, "job": job})
    records = [
        {"step": 900, "samples": 500.0, "seconds": 1.0, "valid": {**FIGURES, "real_loss": 2.5}},
        {
            "step": 1800,
            "samples": 1000.0,
            "seconds": 2.0,
            "valid": {**FIGURES, "real_loss": 2.75, "joint": 0.7},
        },
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def evaluation(path: Path, split: str) -> Path:
    recall = {"100": 0.125, "30": 0.0625, "10": 0.03125, "3": None, "1": None}
    return write(
        path, {"split": split, "all": {"buggy": 254}, "clean_functions": 2770, "recall_at_alarms": recall}
    )


def test_a_trial_is_told_at_its_best_validation(run, tmp_path):
    trial = tool["read_trial"]("by habit", run, evaluation(tmp_path / "recall.json", "valid"))
    assert (trial["samples"], trial["real_loss"], trial["joint"], trial["bugs"]) == (1000, 2.5, 0.66, 254)
    section = "\n".join(tool["trials_section"]([trial, tool["read_trial"]("evenly", run, None)]))
    assert "254 released bugs that is found at so many alarms per 1,000 of 2,770 functions" in section
    assert (
        "| by habit | 1,000 | 2.500 | 25.0 % | 5.0 % | 66.0 % | 50.0 % | 12.5 % | 6.2 % | 3.1 % |  |"
        in section
    )


def test_figures_of_another_split_or_without_real_bugs_are_refused(run, tmp_path):
    with pytest.raises(ValueError, match="expected figures of the split valid, got test"):
        tool["read_trial"]("by habit", run, evaluation(tmp_path / "recall.json", "test"))
    write(run / "metrics.jsonl", {"step": 1, "samples": 1.0, "valid": {"joint": 0.5}})
    with pytest.raises(ValueError, match="expected a run that validates on real bugs"):
        tool["read_trial"]("planted", run, None)
