"""Made-up dumps hold the statements that they were made of, and their import is measured."""

from pathlib import Path

import numpy as np

from benchmarks.kg_growth import skewed_statements
from benchmarks.kg_import import dump_lines, measure_import
from hyperheat import kg


def test_a_dump_holds_its_statements_and_literals_beside_them(tmp_path: Path):
    statements = skewed_statements(60)
    dump = tmp_path / "dump.json"
    dump.write_text("".join(dump_lines(statements)))
    read = kg.read(dump)
    assert read.format == "wikidata"
    assert sorted(map(str, read.train)) == sorted(map(str, statements))
    assert read.dropped["train"]["literal as object"] == 60
    subjects = {statements.entities[i] for i in np.unique(statements.subject)}
    assert read.labels == {name: f"{name} in en" for name in subjects}


def test_an_import_is_measured_in_a_process_of_its_own(tmp_path: Path):
    record = measure_import(200, tmp_path)
    assert record["statements"] == 200
    assert record["entities"] <= 40
    assert 20 < record["peak_mb"] < 4_000
    assert len((tmp_path / "imported" / "train.jsonl").read_text().splitlines()) == 200
    assert (
        record["statements_per_s"] * (record["core_seconds"] + 0.05) >= 200 - 1
    )  # which is rounded to a tenth
