"""Data frames: read by protocol or by column, and answers as a frame of the same library."""

import io
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hyperheat.kg import Completer, Statement, Statements
from hyperheat.kg.frames import is_frame, questions_of, statements_of
from hyperheat.kg.heuristic import Heuristic

COLUMNS: dict[str, list[Any]] = {
    "head": ["Einstein", "Curie", "Bohr"],
    "relation": ["educated at", "educated at", "born in"],
    "tail": ["ETH", "Sorbonne", "Copenhagen"],
    "q:degree": ["BSc", None, None],
    "q:year": ["1900", "1894", None],
}
STATEMENTS = [
    Statement("Einstein", "educated at", "ETH", (("degree", "BSc"), ("year", "1900"))),
    Statement("Curie", "educated at", "Sorbonne", (("year", "1894"),)),
    Statement("Bohr", "born in", "Copenhagen"),
]


class ByStream:
    """A frame of some library that offers nothing but Arrow's stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class ByInterchange:
    """A frame that offers nothing but the interchange protocol."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        return self._table.__dataframe__(nan_as_null, allow_copy)


class ByColumn:
    """A frame with columns and no protocol."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


FRAMES = {
    "mapping": lambda columns: columns,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "stream": lambda columns: ByStream(pa.table(columns)),
    "interchange": lambda columns: ByInterchange(pa.table(columns)),
    "columns": ByColumn,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
def test_every_kind_of_frame_is_read(make):
    frame = make(COLUMNS)
    assert is_frame(frame)
    assert list(statements_of(frame)) == STATEMENTS


def test_without_pyarrow_frames_are_read_by_column(monkeypatch):
    monkeypatch.setattr("hyperheat.kg.frames.find_spec", lambda name: None)
    assert list(statements_of(pd.DataFrame(COLUMNS))) == STATEMENTS
    with pytest.raises(ValueError, match="expected a data frame, got ByStream"):
        list(statements_of(ByStream(pa.table(COLUMNS))))


def test_a_frame_whose_rows_were_filtered_has_no_column_more():
    frame = pd.DataFrame(COLUMNS)
    assert list(statements_of(frame[frame["q:degree"].isna()])) == STATEMENTS[1:]


def test_qualifiers_may_be_lists_or_one_nested_column():
    nested = {
        "s": ["a", "b", "c"],
        "p": ["r"] * 3,
        "o": ["x"] * 3,
        "qualifiers": [[("q", "1"), ("q", "2")], {"q": "3"}, None],
    }
    expected = [
        Statement("a", "r", "x", (("q", "1"), ("q", "2"))),
        Statement("b", "r", "x", (("q", "3"),)),
        Statement("c", "r", "x"),
    ]
    assert list(statements_of(nested)) == expected
    structs = [[{"relation": name, "value": value} for name, value in s.qualifiers] for s in expected]
    assert list(statements_of(pa.table({**nested, "qualifiers": structs}))) == expected
    lists = {**{name: nested[name] for name in "spo"}, "q:q": [["1", "2"], ["3"], None]}
    assert list(statements_of(lists)) == expected
    assert list(statements_of(pd.DataFrame(lists))) == expected


def test_a_file_with_two_columns_of_a_name_can_be_read_by_pandas():
    text = "head,relation,tail,q:with,q:with,q:v.1\na,r,b,x,y,z\n"
    frame = pd.read_csv(io.StringIO(text), dtype=str)
    assert list(frame.columns)[3:] == ["q:with", "q:with.1", "q:v.1"]
    qualifiers = (("with", "x"), ("with", "y"), ("v.1", "z"))
    assert list(statements_of(frame)) == [Statement("a", "r", "b", qualifiers)]


def test_whole_numbers_are_names_and_fractions_are_not():
    assert list(statements_of(pd.DataFrame({"h": [1], "r": [2], "t": [3]}))) == [Statement("1", "2", "3")]
    with pytest.raises(ValueError, match=r"row 1, column q:year: expected text, got 1900\.0"):
        list(statements_of({"h": ["a", "b"], "r": ["r", "r"], "t": ["x", "y"], "q:year": [np.nan, 1900.0]}))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"head": ["a"], "relation": ["r"]}, "expected one column object or tail"),
        ({"head": ["a", None], "relation": ["r"] * 2, "tail": ["b"] * 2}, "row 1: expected a subject"),
        ({"head": ["a"], "relation": ["r"], "tail": ["b", "c"]}, r"columns of one length, got \[1, 1, 2\]"),
        (
            {"head": ["a"], "relation": ["r"], "tail": ["b"], "year": ["1"]},
            "columns such as q:degree, got 'year'",
        ),
        (
            {"h": ["a"], "r": ["r"], "t": ["b"], "qualifiers": [[("q",)]]},
            "row 0, column qualifiers: expected pairs",
        ),
        (3, "expected a data frame, got int"),
    ],
)
def test_what_cannot_be_read_is_said(frame, message):
    with pytest.raises(ValueError, match=message):
        list(statements_of(frame))
    assert is_frame(frame) == (frame != 3)


def test_questions_have_an_empty_cell_a_question_mark_or_no_column():
    asked = questions_of(
        {
            "head": ["Einstein", None, "Bohr", "Curie"],
            "relation": ["educated at", "educated at", "?", "educated at"],
            "tail": [None, "ETH", "Copenhagen", "Sorbonne"],
            "q:year": ["1900", None, None, "?"],
        }
    )
    assert str(asked).splitlines() == [
        "Einstein | educated at | ? | year=1900",
        "? | educated at | ETH",
        "Bohr | ? | Copenhagen",
        "Curie | educated at | Sorbonne | year=?",
    ]
    assert str(questions_of({"subject": ["a"], "object": ["b"]})) == "a | ? | b"
    with pytest.raises(ValueError, match=r"row 1: expected one blank in 'b \| r \| c', got 0"):
        questions_of({"h": ["a", "b"], "r": ["r", "r"], "t": [None, "c"]})


@pytest.mark.parametrize("library", [pd.DataFrame, pa.table])
def test_answers_are_a_frame_of_the_same_library(library):
    statements = Statements.build(STATEMENTS)
    completer = Completer(Heuristic(statements), statements, {"ETH": "ETH Zurich"})
    found = completer.predict(library({"head": ["Curie", "Einstein"], "relation": ["educated at"] * 2}), k=2)
    assert type(found) is (pd.DataFrame if library is pd.DataFrame else pa.Table)
    rows = found.to_dict("list") if library is pd.DataFrame else found.to_pydict()
    assert list(rows) == ["row", "rank", "answer", "label", "probability", "score", "known"]
    first = [i for i, rank in enumerate(rows["rank"]) if rank == 1]
    assert [rows["row"][i] for i in first] == [0, 1]
    assert [rows["answer"][i] for i in first] == ["Sorbonne", "ETH"]
    assert [rows["known"][i] for i in first] == ["known", "known"]
    assert completer.predict({"head": ["Curie"], "relation": ["educated at"]})["answer"] == ["Sorbonne"]


def test_no_library_of_frames_is_imported():
    script = (
        "import sys\nfrom hyperheat import kg\nfrom hyperheat.kg.frames import statements_of\n"
        "list(statements_of({'h': ['a'], 'r': ['r'], 't': ['b']}))\n"
        "print([name for name in ('pandas', 'polars', 'pyarrow', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
