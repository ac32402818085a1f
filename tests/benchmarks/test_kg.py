"""`python -m benchmarks.kg` on few statements."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.kg.neural_data import dataset, random_statements

from benchmarks import kg as bench
from benchmarks.kg import main as bench_kg
from hyperheat.nn.fast.kernel import unload

SMALL = ("model.encoder.dim=16", "model.decoder.ff=24", "batch=30")
STATEMENTS = random_statements()
DATA = dataset(STATEMENTS[:50], STATEMENTS[50:55], STATEMENTS[55:])


@pytest.mark.parametrize("encoder", bench.ENCODERS)
def test_both_ways_have_equal_losses_and_scores(encoder):
    contest = bench.contestants(encoder, DATA, SMALL, 20)
    assert contest.difference < 1e-4
    contest.job.model.eval()
    assert contest.lean() == pytest.approx(contest.naive(), rel=1e-4)


def test_ways_that_differ_are_not_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.naive_kg.rotate", lambda x, r: x)
    with pytest.raises(ValueError, match=r"stare: expected scores equal to 0\.0001, got a difference of"):
        list(bench.measure(DATA, ["stare"], SMALL, naive_batch=20, repeats=1))


def test_an_epoch_is_as_many_steps_as_there_are_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bench, "turns", lambda contest, repeats: (0.5, 2.0, 1.5))
    batches = len(bench.contestants("no-encoder", DATA, SMALL, 20).job.batches(0))
    (record,) = bench.measure(DATA, ["no-encoder"], SMALL, naive_batch=20)
    assert batches > 1
    assert (record["seconds_per_epoch"], record["speedup_over_naive"]) == (batches / 2, 4.0)
    assert record["with_memory_kept"] == 3.0


def test_made_up_statements_have_the_sizes_of_wd50k_100():
    data = bench.synthetic()
    assert [len(split) for split in data.splits.values()] == [22_738, 3_279, 5_297]
    assert (len(data.train.entities), len(data.train.relations)) == (18_791, 278)
    assert int(np.median(data.every().num_qualifiers)) == 1
    assert data.every().main_entities().sum() <= 10_874


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few statements instead of those made up."""
    monkeypatch.setattr(bench, "synthetic", lambda: replace(DATA))
    yield
    unload()


@pytest.mark.usefixtures("few")
def test_every_encoder_is_measured(capsys):
    bench_kg(dim=16, batch=60, repeats=1, kernel=False, json=True)
    shown = capsys.readouterr()
    records = json.loads(shown.out)
    assert [record["encoder"] for record in records] == ["no-encoder", "stare", "heat", "heat-crossatt"]
    keys = {"encoder", "kernel", "seconds_per_epoch", "speedup_over_naive", "with_memory_kept"}
    assert all(set(record) == keys and record["speedup_over_naive"] > 0 for record in records)
    assert not any(record["kernel"] for record in records)
    assert shown.err.count("scores differ by at most") == 4


@pytest.mark.usefixtures("few")
def test_the_kernel_is_used_where_it_compiles_unless_told(capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hyperheat.nn.fast.kernel._kernel", None)
    small = {"encoder": ["heat"], "dim": 16, "batch": 60, "repeats": 1}
    if shutil.which("cc"):
        bench_kg(**small, json=True)
        assert json.loads(capsys.readouterr().out)[0]["kernel"]
        unload()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    bench_kg(**small, json=True)
    assert not json.loads(capsys.readouterr().out)[0]["kernel"]
    with pytest.raises(SystemExit):
        bench_kg(**small, kernel=True)
    assert "no C compiler found" in capsys.readouterr().err


@pytest.mark.usefixtures("few")
def test_the_table_has_a_row_for_each_chosen_encoder(capsys):
    bench_kg(encoder=["heat"], dim=16, batch=60, repeats=1, kernel=False)
    title, row, note = capsys.readouterr().out.splitlines()
    assert title.split() == [
        "width",
        "16",
        "seconds",
        "per",
        "epoch",
        "over",
        "naive",
        "with",
        "memory",
        "kept",
    ]
    assert row.split()[0] == "heat"
    assert row.endswith("x")
    assert note == "ours without the compiled kernel"


def test_data_that_is_missing_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        bench_kg(data="nowhere")
    assert stop.value.code == 2
    assert "nowhere: no such file or folder, and not one of the data sets" in capsys.readouterr().err
