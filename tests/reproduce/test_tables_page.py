"""The page of all runs: ours beside the paper's, spread over seeds, and what is missing."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.reproduce.sample_records import sample_record

from hyperheat.reproduce.paper_tables import TABLES, find_row
from hyperheat.reproduce.tables_page import compare_with_paper, read_page_records, tables_page, write_tables


def line_of(page: str, start: str) -> str:
    return next(line for line in page.splitlines() if line.startswith(f"| {start}"))


def test_without_runs_every_row_is_there_and_not_run_yet():
    page = tables_page([])
    for table in TABLES:
        for row in TABLES[table]:
            line = line_of(page, f"{row.title} (`{row.name}`)")
            assert "not run yet" in line
            assert all(" / ".join(map(str, figures)) in line for figures in row.paper.values())
    assert "## Tuning" not in page


def test_a_row_shows_the_mean_of_its_seeds_and_their_spread():
    records = [sample_record(row="gnn", seed=seed, joint=joint) for seed, joint in ((0, 0.50), (1, 0.52))]
    line = line_of(tables_page(records), "GNN")
    assert (
        "| 51.0 ± 1.0 | 56.0 ± 1.0 | 81.0 ± 1.0 |  | 2 | 69.8 / 79.6 / 83.4 | 22.0 / 28.3 / 66.7 | -6.7 |"
        in line
    )
    assert "| 161 | 400 | 1,308,229 | 900 | 12.5 |" in line
    three = [sample_record(row="gnn", seed=seed, joint=0.5 + seed / 100) for seed in range(3)]
    assert "| 51.0 ± 1.0 |" in line_of(tables_page(three), "GNN")
    assert "| 50.0 |" in line_of(tables_page(three[:1]), "GNN")


def test_only_runs_with_as_many_samples_of_the_same_data_are_compared():
    records = [
        sample_record(row="heat"),
        sample_record(row="gnn", samples=50_000, joint=0.9),
        sample_record(row="great", sha256="c" * 64, joint=0.9),
        sample_record(row="gnn", joint=0.9, set=["train.lr=0.002"]),
    ]
    records.append(sample_record(row="heat", seed=1))
    page = tables_page(records)
    assert "| 50.0 ± 0.0 |" in line_of(page, "HEAT (`heat`)")
    assert "not run yet" in line_of(page, "GNN")
    assert "not run yet" in line_of(page, "GREAT")
    assert "| gnn | small | `train.lr=0.002` | 0 | 100,000 | 90.0 |" in page


def test_rows_are_compared_with_heat_seed_by_seed():
    records = [sample_record(row="heat", seed=seed, joint=joint) for seed, joint in ((0, 0.50), (1, 0.54))]
    records += [sample_record(row="gnn", seed=seed, joint=joint) for seed, joint in ((0, 0.49), (1, 0.51))]
    page = tables_page([*records, sample_record(row="great", seed=1, joint=0.55)])
    assert "| -2.0 ± 1.0 | 2 |" in line_of(page, "GNN")
    assert "| +1.0 | 1 |" in line_of(page, "GREAT")


def test_runs_that_cannot_be_compared_are_listed():
    cut = sample_record(row="gnn", samples=50_000, joint=0.25)
    page = tables_page([sample_record(row="heat"), cut])
    assert "| gnn | small | 0 | 50,000 of 100,000 | full | 25.0 | 30.0 | 55.0 |" in page


def test_cut_runs_are_shown_as_such_if_there_are_no_others():
    page = tables_page([sample_record(row="heat", samples=12_500)])
    assert "**These are cut runs with 12,500 samples.**" in page


def test_test_data_appears_if_it_was_asked_for():
    figures = {"held-out packages": {"all": {"joint": 0.4, "loc": 0.5, "repair": None}}}
    page = tables_page([sample_record(row="heat", final=figures)])
    assert "On test data:" in page
    assert "| HEAT (`heat`), small | 40.0 / 50.0 / - | 1 |" in page
    ranks = {"WD50K(100), test": {"all": {"mrr": 0.6, "h1": 0.5, "h10": 0.7}}}
    statements = sample_record(row="stare", task="kg", samples=1_600_000, final=ranks)
    assert "| StarE (GNN) (`stare`), small | 0.600 / 0.500 / 0.700 | 1 |" in tables_page([statements])


def test_the_page_is_written_with_its_records_and_a_picture(tmp_path: Path):
    records = [sample_record(row="heat"), sample_record(row="heat", seed=1), sample_record(row="gnn")]
    page = write_tables(records, tmp_path)
    assert page.read_text(encoding="utf-8") == tables_page(records)
    assert read_page_records(tmp_path / "tables.json") == records
    assert (tmp_path / "tables-curves.png").read_bytes().startswith(b"\x89PNG")
    assert "(tables-curves.png)" in page.read_text(encoding="utf-8")
    (tmp_path / "tables.json").write_text(json.dumps([{**asdict(records[0]), "seed": None}]))
    with pytest.raises(ValueError, match="not the records of a page: seed: expected int, got None"):
        read_page_records(tmp_path / "tables.json")


def test_a_finished_run_is_compared_on_the_terminal():
    record = sample_record(row="no-qualifiers", samples=12_500, joint=0.4)
    others = [record, sample_record(row="heat", samples=12_500, joint=0.6, set=["train.lr=0.002"])]
    others += [sample_record(row="heat", samples=12_500), sample_record(row="heat", joint=0.7)]
    text = compare_with_paper("table2", find_row("table2", "no-qualifiers"), record, others)
    assert "a cut run: a complete one sees 100,000 samples" in text
    rows = {line[:28].strip(): line[28:].split() for line in text.splitlines() if len(line) > 28}
    assert rows["this run, validation"] == ["40.0", "45.0", "70.0"]
    assert rows["paper, random bugs"] == ["69.2", "76.7", "85.6"]
    assert rows["heat, validation"] == ["50.0", "55.0", "80.0"]
