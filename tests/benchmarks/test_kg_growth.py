"""`python -m benchmarks.kg_growth` on few statements."""

import json

import numpy as np
import pytest

from benchmarks import kg_growth as bench

KEYS = {
    *("recipe", "statements", "entities", "training_ms_per_question", "training_peak_mb"),
    *("encoding_s", "answering_ms_per_question", "peak_mb"),
}


def test_made_up_statements_have_qualifiers_and_a_few_frequent_entities():
    statements = bench.skewed_statements(2_000)
    assert (len(statements), len(statements.entities)) == (2_000, 400)
    assert statements.num_qualifiers.min() >= 1
    degrees = np.sort(np.bincount(statements.memberships()[1], minlength=400))
    assert degrees[-4:].sum() > 20 * degrees[:4].sum()


def test_each_size_is_measured_in_its_own_process(capsys: pytest.CaptureFixture[str]):
    bench.main(statements=[200, 400], recipe="smallest", steps=1, questions=4, json=True)
    records = json.loads(capsys.readouterr().out)
    assert [record["statements"] for record in records] == [200, 400]
    assert all(set(record) == KEYS | {"training_growth", "answering_growth"} for record in records)
    first, second = records
    assert first["training_growth"] is None
    ratio = second["training_ms_per_question"] / first["training_ms_per_question"]
    assert second["training_growth"] == pytest.approx(ratio, abs=0.01)
    assert all(record["peak_mb"] >= record["training_peak_mb"] > 50 for record in records)


def test_only_steps_after_the_first_count(monkeypatch: pytest.MonkeyPatch):
    seconds = iter([100.0, 1.0, 2.0, 7.0, 4.0])
    ran = []

    def timed(function):
        ran.append(function())
        return next(seconds), ran[-1]

    monkeypatch.setattr(bench, "_timed", timed)
    record = bench.measure_size(300, "smallest", steps=2, questions=8)
    assert set(record) == KEYS
    assert (record["encoding_s"], record["answering_ms_per_question"]) == (7.0, 500.0)
    assert record["training_ms_per_question"] == 7.5  # 3 s for two of the three batches of 600 questions
    assert len(ran[-1]) == 8


def test_an_unknown_recipe_is_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        bench.main(recipe="heet")
    assert "recipe: expected one of heat, " in capsys.readouterr().err
