"""`python -m benchmarks.training` on a small part of the standard library."""

import json
from pathlib import Path

import pytest

from benchmarks import training as bench
from benchmarks.training import Size
from benchmarks.training import main as bench_training

ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few functions; the processes of the benchmark read the module anew, so that they make what they always make."""
    monkeypatch.setattr(bench, "_PACKAGES", ("json", "logging"))
    monkeypatch.setattr(bench, "_FUNCTIONS", 8)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("recipe", ["heat", "heat-roles"])
def test_versions_take_turns_and_are_compared_with_the_first(recipe, capsys):
    bench_training(
        recipe=recipe, size=["16x1x200"], before=ROOT, precision=["bfloat16"], repeats=1, json=True
    )
    records = json.loads(capsys.readouterr().out)
    expected = [
        (what, version) for what in ("making", "training 16x1x200") for version in ("before", "bfloat16")
    ]
    assert [(record["what"], record["version"]) for record in records] == expected
    assert all(record["per_second"] > 0 for record in records)
    assert [record["ratio"] for record in records[::2]] == [1.0, 1.0]


@pytest.mark.parametrize("text", ["128x4", "128x4x0", "wide", "128xfourx300"])
def test_a_size_that_cannot_be_read_is_refused(text, capsys):
    with pytest.raises(SystemExit) as stop:
        bench_training(size=[text])
    assert stop.value.code == 2
    assert f"size: expected DIMxLAYERSxLARGEST such as 128x4x300, got {text!r}" in capsys.readouterr().err


def test_a_folder_without_the_code_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        bench_training(before=tmp_path)
    assert f"before: expected a checkout of hyperheat, got {tmp_path}" in capsys.readouterr().err


def test_a_size_is_read():
    assert Size.parse("128x4x300") == Size(dim=128, layers=4, largest=300)
