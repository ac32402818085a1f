"""`python -m benchmarks.bugs` on a small project."""

import json
from pathlib import Path

import pytest

from benchmarks import bugs as bench
from benchmarks.bugs import main as bench_bugs

PACKAGE = Path(__file__).parents[1] / "bugs" / "corpus" / "project" / "inventory"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few functions of a bundled package instead of the standard library's, and few graphs."""
    monkeypatch.setattr(bench.sysconfig, "get_paths", lambda: {"stdlib": str(PACKAGE.parent)})
    for name, value in {"_SOURCE": PACKAGE.name, "_FUNCTIONS": 3, "_GRAPHS": 4}.items():
        monkeypatch.setattr(bench, name, value)


def test_samples_are_those_of_a_corpus():
    rate, samples = bench.measure_making(PACKAGE, repeats=1)
    assert rate > 0
    assert {sample.origin.project for sample in samples} == {"inventory"}
    clean = [sample for sample in samples if sample.kind == "clean"]
    assert len(samples) == 4 * len(clean)  # a quarter is clean, as in a corpus
    assert len({(sample.origin.path, sample.origin.line) for sample in clean}) == len(clean)


def test_a_package_without_samples_is_refused(tmp_path):
    (tmp_path / "empty.py").write_text("answer = 42\n")
    with pytest.raises(ValueError, match="expected functions that give samples, got none"):
        bench.measure_making(tmp_path, repeats=1)


@pytest.mark.usefixtures("small")
def test_every_encoder_is_measured_in_training_and_inference(capsys):
    bench_bugs(dim=16, repeats=1, threads=1, json=True)
    records = json.loads(capsys.readouterr().out)
    names = ["heat", "gnn", "great", "allset", "binarised"]
    expected = [("making", None), *(("training", name) for name in names)]
    expected += [("inference", name) for name in names]
    assert [(record["what"], record["encoder"]) for record in records] == expected
    assert all(set(record) == {"what", "encoder", "per_second"} for record in records)
    assert all(record["per_second"] > 0 for record in records)


@pytest.mark.usefixtures("small")
def test_the_table_has_a_row_for_each_chosen_encoder(capsys):
    bench_bugs(encoder=["gnn", "heat"], dim=16, repeats=1, threads=1)
    making, _, title, *rows = capsys.readouterr().out.splitlines()
    assert making.startswith("samples made per second of one core: ")
    assert title.split() == ["graphs", "per", "second", "at", "width", "16", "training", "inference"]
    assert [row.split()[0] for row in rows] == ["gnn", "heat"]


def test_a_width_that_heads_do_not_divide_is_refused_before_anything_is_made(capsys):
    with pytest.raises(SystemExit) as stop:
        bench_bugs(dim=20)
    assert stop.value.code == 2
    assert "dim: expected an even multiple of heads=8, got 20" in capsys.readouterr().err


def test_all_encoders_get_the_same_width():
    assert {bench._settings(name, 64).model.dim for name in bench.ENCODERS} == {64}
