"""`hyperheat kg complete`: one question or many, text or JSON, errors."""

import io
import json
import subprocess
import sys
from math import log
from pathlib import Path

import pytest

from hyperheat.cli.kg import complete
from hyperheat.kg.heuristic import _NEW_THERE as NEW

FACTS = "film,award,Oscar,winner,Ann\nfilm,award,Globe\nplay,award,Tony,winner,Ann\nfilm,country,France\n"


@pytest.fixture
def data(tmp_path: Path) -> str:
    (tmp_path / "train.txt").write_text(FACTS)
    (tmp_path / "labels.tsv").write_text("film\tThe Film\n")
    return str(tmp_path)


def test_a_question_gets_a_table_and_reasons(data: str, capsys: pytest.CaptureFixture[str]):
    complete("The film | award | ? | winner=Ann", model="heuristic", data=data, k=2, explain=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "The film | award | ? | winner=Ann"
    assert [line.split()[0] for line in lines[2:4]] == ["1", "2"]
    assert lines[4] == ""
    assert lines[5].startswith("why Oscar, rank 1")


def test_json(data: str, capsys: pytest.CaptureFixture[str]):
    complete("film | award | ?", model="heuristic", data=data, exclude_known=True, explain=1, json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["answers"] == [
        {
            "rank": 1,
            "id": "France",
            "label": None,
            "probability": 1.0,
            "score": pytest.approx(log(NEW / 3)),
            "known": "new",
        }
    ]
    assert (found["candidates"], found["notes"]) == (4, [])
    assert found["explanation"]["effects"] == []
    assert found["explanation"]["support"][0]["statement"]["subject"] == "The Film"


def test_a_batch_goes_on_after_a_bad_line(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    questions = tmp_path / "questions.txt"
    questions.write_text(
        'film | award | ?\n\nfilm | award\n{"relation": "award", "object": "Tony"}\nnobody | award | ?\n'
    )
    with pytest.raises(SystemExit) as stop:
        complete(model="heuristic", data=data, batch=questions, k=1, explain=1)
    shown = capsys.readouterr()
    assert stop.value.code == 1
    assert shown.err == "2 questions could not be answered\n"
    records = [json.loads(line) for line in shown.out.splitlines()]
    assert [record["line"] for record in records] == [1, 3, 4, 5]
    assert records[0]["answers"][0]["id"] == "Globe"
    assert records[1]["error"].startswith("expected subject | relation | object")
    assert records[2]["answers"][0]["id"] == "play"
    assert records[2]["explanation"]["support"]
    assert records[3]["error"] == "unknown entity 'nobody'"


def test_a_batch_may_be_larger_than_what_is_scored_at_once(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "q.txt").write_text("film | award | ?\n? | award | Tony\n" * 40)
    complete(model="heuristic", data=data, batch=tmp_path / "q.txt", k=1)
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["line"], r["answers"][0]["id"]) for r in records] == [
        (i + 1, "play" if i % 2 else "Globe") for i in range(80)
    ]


def test_standard_input_is_answered_line_by_line(
    data: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    answered = []

    class Typed(io.StringIO):
        def __next__(self) -> str:
            answered.append(capsys.readouterr().out.count("\n"))
            return super().__next__()

    monkeypatch.setattr(sys, "stdin", Typed("film | award | ?\n? | award | Tony\n"))
    complete(model="heuristic", data=data, batch=Path("-"))
    assert answered == [0, 1, 1]


def test_candidates_from_a_file(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "few.txt").write_text("France\n\nTony\n")
    complete("film | award | ?", model="heuristic", data=data, candidates=tmp_path / "few.txt", json=True)
    assert [a["id"] for a in json.loads(capsys.readouterr().out)["answers"]] == ["France"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give either a question or --batch"),
        ({"question": "a | b | ?", "batch": Path("x")}, "give either a question or --batch, not both"),
        ({"question": "film | award"}, "expected subject | relation | object"),
        ({"question": "film | ? | ?"}, "expected one blank"),
        ({"question": "film | award | ?", "k": 0}, "k: expected at least 1, got 0"),
        (
            {"question": "film | award | ?", "k": 3, "explain": 4},
            "expected the rank of an answer, 1 to 3, got 4",
        ),
        ({"question": "film | award | ?", "data": None}, "data: the heuristic needs the statements"),
        (
            {"question": "film | award | ?", "data": "nowhere"},
            "nowhere: no such file or folder, and not one of",
        ),
        (
            {"question": "film | award | ?", "model": "nowhere"},
            "data: a trained model has its own statements",
        ),
        ({"question": "film | award | ?", "candidates": Path("none.txt")}, "No such file"),
        ({"batch": Path("none.txt")}, "No such file"),
        ({"question": "film | award | ?", "labels": Path("none.txt")}, "No such file"),
        ({"question": "Q | award | ?"}, "unknown entity 'Q'"),
        ({"question": "award | award | ?"}, "unknown entity 'award': there is a relation of that name"),
    ],
)
def test_errors_are_one_line_and_exit_with_2(
    settings: dict, message: str, data: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as stop:
        complete(**{"model": "heuristic", "data": data, **settings})
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in err
    assert err.count("\n") == 1


def test_an_unknown_candidate_is_refused_with_its_line(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "few.txt").write_text("France\nnobody\n")
    with pytest.raises(SystemExit):
        complete("film | award | ?", model="heuristic", data=data, candidates=tmp_path / "few.txt")
    assert "few.txt:2: unknown entity 'nobody'" in capsys.readouterr().err


def test_what_cannot_be_seen_is_spelled_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "facts.csv").write_text("head,relation,tail\na,r,\x1b[31mred\n")
    complete("a | r | ?", model="heuristic", data=str(tmp_path / "facts.csv"))
    assert r"\x1b[31mred" in capsys.readouterr().out


def test_the_heuristic_needs_no_torch(data: str):
    script = (
        "import sys\nfor name in ('torch', 'safetensors', 'pyarrow', 'tokenizers'): sys.modules[name] = None\n"
        f"sys.argv[1:] = ['kg', 'complete', 'film | award | ?', '--model', 'heuristic', '--data', {data!r}, '-k', '1']\n"
        "from hyperheat.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("known")


def test_statements_can_be_added_for_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "facts.csv").write_text("head,relation,tail\nfilm,award,Oscar\nplay,award,Tony\n")
    (tmp_path / "more.csv").write_text("head,relation,tail\nopera,award,Globe\n")
    complete(
        "opera | award | ?",
        model="heuristic",
        data=str(tmp_path / "facts.csv"),
        with_=tmp_path / "more.csv",
        json=True,
    )
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert (answer["id"], answer["known"]) == ("Globe", "known")
    with pytest.raises(SystemExit):
        complete("opera | award | ?", model="demo", with_=tmp_path / "more.csv")
    assert "the model was not trained on the relations award" in capsys.readouterr().err
