"""Suspect statements: found by models of the others, with evidence, in every format, and measured on planted values."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft7Validator
from tests.report.test_formats import sarif_schema

from hyperheat.cli.kg_lint import lint as lint_command
from hyperheat.cli.suspect_formats import SUSPECT_FORMATS
from hyperheat.kg import Statement, Statements
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.lint import LintSettings, SuspectValue, lint, measure, plant
from hyperheat.kg.readers.json_lines import write_json_lines

SETTINGS = LintSettings(folds=4, confidence=0.4, lowest_rank=3)


def tidy(people: int = 120, cities: int = 30) -> list[Statement]:
    """Everybody was born in the city in which they live and whose mayor they know, which three statements say."""
    made = []
    for i in range(people):
        city, mayor = f"city{i % cities}", f"mayor{i % cities}"
        made += [
            Statement(f"person{i}", "born in", city),
            Statement(f"person{i}", "lives in", city, (("mayor", mayor),)),
            Statement(f"person{i}", "knows", mayor, (("in", city),)),
        ]
    return made


GOOD = tidy()


def wrong_in(row: int, statement: Statement) -> Statements:
    return Statements.build([*GOOD[:row], statement, *GOOD[row + 1 :]])


@pytest.mark.parametrize(
    ("row", "statement", "slot", "qualifier", "given", "other"),
    [
        (3, Statement("person1", "born in", "city7"), "object", None, "city7", "city1"),
        (
            7,
            Statement("person2", "lives in", "city2", (("mayor", "mayor9"),)),
            "value",
            "mayor",
            "mayor9",
            "mayor2",
        ),
    ],
)
def test_a_wrong_value_is_found_with_the_right_one_and_its_evidence(
    row, statement, slot, qualifier, given, other
):
    suspects = lint(wrong_in(row, statement), Heuristic, SETTINGS)
    (found,) = [s for s in suspects if (s.number, s.slot, s.given) == (row + 1, slot, given)]
    assert (found.statement, found.qualifier, found.other) == (statement, qualifier, other)
    assert found.other_probability >= 0.4 > found.given_probability
    assert found.given_rank > 3
    assert 0 < len(found.evidence) <= 3
    assert any(other in str(s) and statement.subject in str(s) for s in found.evidence)
    assert found.place == ("object" if qualifier is None else "value of mayor")


def test_nothing_is_suspect_among_statements_that_agree():
    assert lint(Statements.build(GOOD), Heuristic, SETTINGS) == []


def test_no_statement_is_judged_by_itself_or_its_like():
    statements = Statements.build(
        [*GOOD, *(Statement(s.subject, s.relation, s.object, (("x", "y"),)) for s in GOOD)]
    )
    seen = []

    def make(kept: Statements) -> Heuristic:
        seen.append({str(Statement(s.subject, s.relation, s.object)) for s in kept})
        return Heuristic(kept)

    lint(statements, make, LintSettings(folds=3))
    triples = {str(Statement(s.subject, s.relation, s.object)) for s in GOOD}
    held_out = [triples - kept for kept in seen]
    assert sorted(triple for part in held_out for triple in part) == sorted(
        triples
    )  # each in exactly one fold, whole


def test_other_true_answers_are_not_suggested():
    facts = [Statement("film", "actor", f"star{i}") for i in range(8)]
    facts += [Statement(f"film{i}", "actor", f"star{i}") for i in range(8)]
    for suspect in lint(
        Statements.build(facts), Heuristic, LintSettings(folds=2, confidence=0.01, lowest_rank=1)
    ):
        assert (
            Statement(suspect.statement.subject, "actor", suspect.other) not in facts
            or suspect.slot == "subject"
        )


def test_planted_values_are_found_and_counted():
    statements, is_wrong = plant(Statements.build(GOOD), 10)
    assert is_wrong.sum() == 10
    changed = [a != b for a, b in zip(Statements.build(GOOD), statements, strict=True)]
    assert changed == is_wrong.tolist()
    assert not set(np.array(list(statements), object)[is_wrong]) & set(GOOD)
    found = measure(lint(statements, Heuristic, SETTINGS), is_wrong, first=10)
    assert found.precision >= 0.5  # the neighbours of a wrong value look wrong, too
    assert found.recall >= 0.8
    with pytest.raises(ValueError, match="only 0 statements can be given another object, expected 1"):
        plant(Statements.build([Statement("a", "r", "b")]), 1)


def test_precision_and_recall_by_hand():
    def suspect(number: int) -> SuspectValue:
        statement = Statement("a", "r", "b")
        return SuspectValue(
            number=number,
            statement=statement,
            slot="object",
            qualifier=None,
            given="b",
            other="c",
            given_probability=0.0,
            other_probability=0.9,
            given_rank=20.0,
            other_score=0.0,
        )

    is_wrong = np.array([True, True, False, False, True])
    found = measure([suspect(n) for n in (1, 3, 1, 2)], is_wrong, first=2)
    assert (found.planted, found.reported, found.first) == (3, 4, 2)
    assert (found.precision, found.recall) == (0.5, pytest.approx(2 / 3))
    assert measure([], is_wrong).precision == 0.0


@pytest.mark.parametrize("wrong", [{"folds": 1}, {"confidence": 1.0}, {"lowest_rank": 0}, {"evidence": -1}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        LintSettings(**wrong)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_json_lines(wrong_in(3, Statement("person1", "born in", "city7")), tmp_path / "train.jsonl")
    guests = [replace(s, subject=s.subject.replace("person", "guest")) for s in tidy(3)]
    write_json_lines(guests, tmp_path / "test.jsonl")
    (tmp_path / "labels.tsv").write_text("city7\tBad::error::Town\n", encoding="utf-8")
    return tmp_path


OPTIONS = {"folds": 4, "confidence": 0.4, "lowest_rank": 3}


def test_the_command_shows_suspects_with_their_place(data: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        lint_command(str(data), **OPTIONS)
    shown = capsys.readouterr()
    assert stop.value.code == 1
    assert "train:4: object 'Bad" in shown.out
    assert "did you mean 'city1'?" in shown.out
    assert "\n  like: person1 | " in shown.out
    assert shown.err.endswith("statements\n")
    lint_command(str(data), **OPTIONS, exit_zero=True, top=1)
    assert capsys.readouterr().out.count("did you mean") == 1


@pytest.mark.parametrize("format", SUSPECT_FORMATS)
def test_every_format_is_written(format, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.chdir(data)
    lint_command(str(data), **OPTIONS, output_format=format, output=Path("out"), exit_zero=True)
    assert capsys.readouterr().out == ""
    text = (data / "out").read_text(encoding="utf-8")
    if format == "json":
        first = json.loads(text)["suspects"][0]
        assert (first["place"], first["slot"], first["other"]) == ("train:4", "object", "city1")
    elif format == "jsonl":
        assert json.loads(text.splitlines()[0])["given"] == "city7"
    elif format == "sarif":
        document = json.loads(text)
        Draft7Validator(sarif_schema()).validate(document)
        assert (
            document["runs"][0]["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
            == "train:4"
        )
    elif format == "github":
        assert text.startswith("::warning file=")
        assert text.splitlines()[0].count("::") == 2 + text.splitlines()[0].count("Bad::") * 2


def test_the_command_measures_planted_values(data: Path, capsys: pytest.CaptureFixture[str]):
    lint_command(str(data), **OPTIONS, plant=10, top=5)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("10 wrong objects planted in 369 statements; ")
    assert lines[1].startswith("precision of the first 5: ")
    assert float(lines[2].removeprefix("recall of all: ")) > 0.5


def test_a_recipe_is_trained_for_each_fold(data: Path, capsys: pytest.CaptureFixture[str]):
    quick = ("train.max_steps=2", "train.warmup=1", "train.threads=1", "model.encoder.dim=8")
    lint_command(str(data), model="smallest", set=quick, folds=2, exit_zero=True)
    assert capsys.readouterr().err.count("finished after 2 steps") == 2
    with pytest.raises(SystemExit):
        lint_command(str(data), model="nonsense")
    assert "nonsense" in capsys.readouterr().err
