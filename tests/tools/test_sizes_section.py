"""The section on sizes, from runs with fixed figures."""

import json
import runpy
from pathlib import Path

import pytest

tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "sizes_section.py"))


def run(folder: Path, dim: int, *, largest: int | None = 300, shards: tuple[str, ...] = ("a", "b")) -> Path:
    folder.mkdir()
    model = {"HeatConfig": {"dim": dim, "layers": 3, "heads": 4, "ff": 2 * dim, "dropout": 0.0}}
    job = {"model": model, "largest": largest, "shards": shards, "valid": ["v"], "validation": 2000}
    train = {"lr": 3.2e-3, "schedule": "linear", "seed": 7}
    (folder / "settings.json").write_text(json.dumps({"train": train, "job": job}))
    figures = {"loss": 1.5, "joint": 0.5, "loc": 0.55, "repair": 0.8}
    records = [
        {"step": 10, "samples": 320.0, "seconds": 9.0, "core_seconds": 8.0},
        {"step": 20, "samples": 640.0, "seconds": 2000.0, "core_seconds": 1800.0, "valid": figures},
        {
            "step": 40,
            "samples": 1280.0,
            "seconds": 4000.0,
            "core_seconds": 3600.0,
            "valid": {**figures, "joint": 0.625},
        },
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_each_size_has_a_row_and_a_line(tmp_path):
    sizes = tool["read_sizes"]([run(tmp_path / "a", 64), run(tmp_path / "b", 128, largest=None)])
    section = "\n".join(tool["sizes_section"](sizes))
    assert "| 64x3 | 300 | 0.0032 | 0 | 1,280 | 1.00 | 1.500 | 62.5 % | 55.0 % | 80.0 % |" in section
    assert "| 128x3 | all |" in section
    assert [point["core_hours"] for point in sizes[0]["curve"]] == [0.5, 1.0]
    tool["draw"](sizes, tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").read_bytes()[:4] == b"\x89PNG"


def test_runs_on_other_data_are_not_compared(tmp_path):
    with pytest.raises(ValueError, match=r"expected a run on the data of .*a, got one on other data"):
        tool["read_sizes"]([run(tmp_path / "a", 64), run(tmp_path / "b", 128, shards=("a",))])
