"""Parquet: flat and nested qualifiers, and tables that are something else."""

from pathlib import Path

import pytest

from hyperheat.kg import Statement
from hyperheat.kg.readers import ReadError, read

pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")


@pytest.fixture
def write(tmp_path: Path):
    def write(columns: dict) -> Path:
        path = tmp_path / "facts.parquet"
        parquet.write_table(pyarrow.table(columns), path)
        return path

    return write


def test_flat_columns(write):
    path = write(
        {"head": ["a", "c"], "relation": ["r", "r"], "tail": ["b", "d"], "q:x": ["u", None], "q:y": ["v", ""]}
    )
    assert list(read(path)) == [Statement("a", "r", "b", (("x", "u"), ("y", "v"))), Statement("c", "r", "d")]


def test_nested_qualifiers(write):
    pairs = [[{"relation": "x", "value": "u"}, {"relation": "x", "value": "v"}], None]
    path = write({"subject": ["a", "c"], "relation": ["r", "r"], "object": ["b", "d"], "qualifiers": pairs})
    assert list(read(path)) == [Statement("a", "r", "b", (("x", "u"), ("x", "v"))), Statement("c", "r", "d")]


def test_a_qualifier_may_have_several_columns(tmp_path):
    names = ["head", "relation", "tail", "q:x", "q:x"]
    path = tmp_path / "facts.parquet"
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array([value]) for value in "arbuv"], names), path)
    assert list(read(path)) == [Statement("a", "r", "b", (("x", "u"), ("x", "v")))]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"head": ["a"]}, r"facts\.parquet: expected one column relation"),
        (
            {"head": ["a"], "relation": ["r"], "tail": [3]},
            r"facts\.parquet:1: expected columns of text, got 3",
        ),
        (
            {"head": ["a", None], "relation": ["r", "r"], "tail": ["b", "b"]},
            r"facts\.parquet:2: expected a subject, a relation and an object",
        ),
        (
            {"head": ["a"], "relation": ["r"], "tail": ["b"], "qualifiers": [[{"relation": "x"}]]},
            r"facts\.parquet:1: qualifiers: expected a relation and a value, got \{'relation': 'x'\}",
        ),
    ],
)
def test_other_tables_are_refused_with_their_row(columns, message, write):
    with pytest.raises(ReadError, match=message):
        list(read(write(columns)))


def test_a_file_that_is_no_parquet(tmp_path):
    path = tmp_path / "facts.parquet"
    path.write_text("a,b,c")
    with pytest.raises(ReadError, match=r"facts\.parquet: .*Parquet"):
        list(read(path))
