"""`tools/detector_page.py`: the log of the built-in detector's training, and its section of a page."""

import json
import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "detector_page.py"))
detector_section, draw, read_step = (TOOL[name] for name in ("detector_section", "draw", "read_step"))

FIGURES = {"joint": 0.5, "repair": 0.75, "false_alarms": 0.25, "found": 0.625, "quiet": 0.125}


def write(path: Path, values: object) -> Path:
    path.write_text(json.dumps(values))
    return path


def evaluation(path: Path, *, split: str = "valid", samples: int = 1_000, buggy: int = 600) -> Path:
    figures = {"samples": samples, "buggy": buggy, "loc": 0.5, **FIGURES}
    recall = {"100": 0.25, "30": 0.125, "10": 0.0625, "3": 0.03125, "1": 0.0}
    quiet = {"clean_functions": 2_000, "recall_at_alarms": recall}
    return write(path, {"weights_sha256": "abc", "split": split, "all": figures, **quiet})


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    train = {
        "lr": 3e-4,
        "schedule": "linear",
        "precision": "bfloat16",
        "seed": 1,
        "batches_per_step": 2,
        "clip": 0.5,
    }
    write(
        folder / "settings.json",
        {
            "train": train,
            "job": {
                "largest": 300,
                "dense_steps": 5,
                "clean_per_real": 8.0,
                "planted_per_real": 4.0,
                "forget": 0.1,
                "shards": ["a", "b"],
            },
        },
    )
    records = [
        {"step": 10, "samples": 400.0, "core_seconds": 60.0, "loss": 1.5},
        {"step": 10, "samples": 400.0, "core_seconds": 66.0, "valid": {"joint": 0.25, "repair": 0.5}},
        {"step": 20, "samples": 800.0, "core_seconds": 120.0, "loss": 1.25},
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_a_step_tells_what_was_trained_for_how_long_and_what_came_of_it(tmp_path, run):
    planted = evaluation(tmp_path / "planted.json")
    released = evaluation(tmp_path / "released.json", samples=500, buggy=250)
    step = read_step("many bugs", [run], planted, released)
    assert (step["samples"], step["core_minutes"], step["weights_sha256"]) == (800, 2.0, "abc")
    assert step["settings"] == {
        "largest": 300,
        "dense_steps": 5,
        "clean_per_real": 8.0,
        "planted_per_real": 4.0,
        "forget": 0.1,
        "shards": 2,
        "lr": 3e-4,
        "schedule": "linear",
        "precision": "bfloat16",
        "seed": 1,
        "batches_per_step": 2,
    }
    assert step["curve"] == [{"samples": 400, "minutes": 1.1, "joint": 0.25, "repair": 0.5}]
    assert step["released"] == {"samples": 500, "buggy": 250, **FIGURES}


def test_runs_that_were_averaged_are_one_step(tmp_path, run):
    planted, released = (evaluation(tmp_path / f"{name}.json") for name in ("planted", "released"))
    step = read_step("two at once", [run, run], planted, released)
    assert (step["samples"], step["core_minutes"], len(step["settings"])) == (1_600, 4.0, 2)
    assert step["curve"] == [{"samples": 800, "minutes": 2.2, "joint": 0.25, "repair": 0.5}]


def test_figures_of_the_test_split_are_refused(tmp_path, run):
    planted = evaluation(tmp_path / "planted.json")
    released = evaluation(tmp_path / "released.json", split="test")
    with pytest.raises(ValueError, match="released: expected figures of the split valid, got test"):
        read_step("looked", [run], planted, released)


def test_the_section_has_a_row_for_each_step_and_the_hours_of_all(tmp_path, run):
    planted = evaluation(tmp_path / "planted.json")
    released = evaluation(tmp_path / "released.json", samples=500, buggy=250)
    steps = [
        read_step("before", [], planted, released),
        *(read_step(name, [run], planted, released) for name in ("one", "two")),
    ]
    steps[-1]["note"] = "The better of two."
    lines = detector_section(steps)
    assert lines.count("The better of two.") == 1
    rows = [line for line in lines if line.startswith("|")][2:]
    assert [row.split("|")[1].strip() for row in rows] == ["before", "one", "two"]
    assert (
        rows[1]
        == "| one | 800 | 2 | 50.0 % | 75.0 % | 25.0 % | 12.5 % | 62.5 % | 25.0 % | 25.0 % | 12.5 % | 6.2 % | 3.1 % |"
    )
    assert rows[0].startswith("| before |  |  | 50.0 %")
    text = " ".join(lines)
    assert "together they took 0.1 hours of a core" in text
    assert "250 released bugs" in text
    assert "alarms per 1,000 of 2,000 functions" in text
    draw(steps, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
