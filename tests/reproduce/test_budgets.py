"""What fits in a budget, and what `reproduce all` makes of it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.reproduce.sample_records import sample_record

from hyperheat.reproduce import going
from hyperheat.reproduce.budgets import PlannedRun, describe_plan, fitting_samples, share_budget
from hyperheat.reproduce.going import RunSeries, run_series
from hyperheat.reproduce.paper_tables import TABLES, find_row, whole_samples
from hyperheat.reproduce.row_records import run_name, write_record

HASHES = {"bugs": "b" * 64, "kg": "k" * 64}


def series(work: Path, **changes) -> RunSeries:
    values = {
        "tables": ("table1", "table2"),
        "size": "small",
        "seeds": (0, 1),
        "work": work,
        "hashes": HASHES,
    }
    return RunSeries(**{**values, **changes})


@pytest.mark.parametrize(
    ("seconds", "samples"),
    [(1000, 96_000), (999, 48_000), (340, 32_000), (70, 6_000), (1, 1_500), (-5, 1_500)],
)
def test_a_run_sees_the_largest_part_that_fits(seconds: float, samples: int):
    assert fitting_samples(96_000, 96.0, seconds) == samples


def test_all_takes_every_row_with_the_first_seed_before_the_second(tmp_path: Path):
    runs = series(tmp_path, tables=("table1", "table2", "table3")).missing()
    names = [(run.key[0], run.row.name) for run in runs]
    assert len(runs) == len({run.key for run in runs})  # heat is in two tables and runs once
    assert [run.seed for run in runs] == [0] * (len(runs) // 2) + [1] * (len(runs) // 2)
    assert names[: len(runs) // 2] == names[len(runs) // 2 :]
    expected = {("bugs", row.name) for table in ("table1", "table2") for row in TABLES[table]}
    expected |= {("kg", row.name) for row in TABLES["table3"] if not row.on_request}
    assert {*names} == expected
    assert not any(name == "published-stare" for _, name in names)


def test_the_budget_is_divided_evenly_and_the_plan_fits_it(tmp_path: Path):
    runs = series(tmp_path).missing()
    whole = sum(run.minutes(whole_samples(run.row, "small")) for run in runs)
    assert share_budget(runs, whole + 1) == 1
    for minutes in (whole / 2, whole / 5, 60):
        divisor = share_budget(runs, minutes)
        needed = sum(run.minutes(whole_samples(run.row, "small") // divisor) for run in runs)
        assert divisor > 1
        assert needed <= minutes


def test_the_plan_says_what_will_be_done():
    run = PlannedRun(table="table2", row=find_row("table2", "no-ffn"), size="small", seed=1)
    text = describe_plan([run], [50_000], 10)
    assert text.startswith("1 runs to do, about ")
    assert "table2  no-ffn" in text
    assert "seed 1     50,000 of 100,000 samples" in text


def finish(work: Path, row: str, seed: int, samples: int, data: str = HASHES["bugs"]) -> None:
    record = sample_record(row=row, seed=seed, samples=samples, sha256=data)
    name = run_name(task="bugs", row=row, size="small", seed=seed, set=[], data=data, samples=samples)
    write_record(work, name, record)


def test_complete_runs_are_not_missing_but_cut_ones_and_those_on_other_data_are(tmp_path: Path):
    whole = whole_samples(find_row("table1", "gnn"), "small")
    finish(tmp_path, "heat", 0, whole)
    finish(tmp_path, "gnn", 0, whole // 2)
    finish(tmp_path, "great", 0, whole, data="c" * 64)
    left = [(run.row.name, run.seed) for run in series(tmp_path, tables=("table1",)).missing()]
    rows = ["heat", "gnn", "great", "heat-roles"]
    assert left == [*((row, 0) for row in rows[1:]), *((row, 1) for row in rows)]
    cut = series(tmp_path, tables=("table1",), samples=whole // 2, seeds=(0,))
    assert [run.row.name for run in cut.missing()] == ["great", "heat-roles"]


def test_runs_are_made_in_order_until_the_time_is_used_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock, said, made = [0.0], [], []
    monkeypatch.setattr(going.time, "monotonic", lambda: clock[0])

    def run(words: Sequence[str]) -> int:
        made.append(words)
        clock[0] += 60 * 9.0
        return 2 if "gnn" in words else 0

    failed = run_series(
        series(tmp_path, tables=("table1",), samples=9_000, options=("--data", "corpus")),
        minutes=20.0,
        say=said.append,
        run=run,
    )
    assert [words[3] for words in made] == ["heat", "gnn", "great"]  # the last one may run over
    assert all("--samples" in words and "9000" in words and "corpus" in words for words in made)
    assert [words[words.index("--budget") + 1] for words in made] == ["20.0", "11.0", "2.0"]
    assert "heat" in said[0]
    assert said[-1] == "the budget is used up; 5 runs are left for the next time"
    assert len(failed) == 1
    assert "--row gnn" in failed[0]


def test_an_interrupted_run_ends_the_series(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        run_series(series(tmp_path), minutes=None, say=lambda _: None, run=lambda _: 130)


def test_a_record_that_is_broken_is_named(tmp_path: Path):
    finish(tmp_path, "heat", 0, 100)
    path = next((tmp_path / "rows").iterdir())
    values = json.loads(path.read_text())
    for broken in ("{", "[]", json.dumps({**values, "seed": "0"}), json.dumps({**values, "more": 1})):
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"\.json: not the record of a run .*; delete it") as caught:
            series(tmp_path).missing()
        assert "\n" not in str(caught.value)
