"""Whatever is wrong with data or model, every command says it in one line with the file, and where it can with the line."""

import json
import shutil
from pathlib import Path

import pytest
from tests.kg.neural_data import random_statements

from hyperheat.cli.kg import complete, evaluate, import_statements, train
from hyperheat.kg import Statements
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.labels import BpeLabels, train_tokenizer
from hyperheat.kg.neural.statement_model import ModelConfig, ModelNames
from hyperheat.kg.neural.trained_model import TrainedModel, load_model, save_model
from hyperheat.kg.readers import FORMATS

BROKEN = {
    "wd50k": ("txt", "Q1,P1,Q2\nQ1,P1,Q2,P2\n"),
    "wikipeople": ("json", '{"P1_h": "Q1", "P1_t": "Q2"}\n{"P1_h": "Q1"}\n'),
    "jf17k": ("txt", "r\ta\tb\tc\nr\n"),
    "table": ("csv", "head,relation,tail\na,r\n"),
    "jsonl": ("jsonl", '{"subject": "a", "relation": "r", "object": "b"}\n{"subject": "a"}\n'),
    "rdf": ("ttl", "<http://a> <http://r> <http://b> .\n<http://a> <http://r> .\n"),
    "wikidata": (
        "json",
        '{"id": "Q1", "type": "item"}\n{"id": "Q1", "type": "item", "claims": {"P1": [1]}}\n',
    ),
}
COMMANDS = {
    "import": lambda data, out: import_statements(str(data), to=out),
    "train": lambda data, out: train(data=str(data), out=out, recipe="smallest"),
    "eval": lambda data, out: evaluate(model="heuristic", data=str(data)),
    "complete": lambda data, out: complete("a | r | ?", model="heuristic", data=str(data)),
}


def refusal(call, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        call()
    shown = capsys.readouterr()
    assert stop.value.code == 2
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def write_parquet(path: Path) -> None:
    from pyarrow import parquet, table

    parquet.write_table(table({"head": ["a", "a"], "relation": ["r", "r"], "tail": ["b", None]}), path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("format", FORMATS)
def test_every_command_refuses_every_broken_format_with_file_and_line(format, command, tmp_path, capsys):
    if format == "parquet":
        path = tmp_path / "train.parquet"
        write_parquet(path)
    else:
        extension, text = BROKEN[format]
        path = tmp_path / f"train.{extension}"
        path.write_text(text)
    said = refusal(lambda: COMMANDS[command](tmp_path, tmp_path / "out"), capsys)
    assert said.startswith(f"{path}:2: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_every_command_refuses_an_empty_split(split, command, tmp_path, capsys):
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.txt").write_text("" if name == split else "Q1,P1,Q2\n")
    said = refusal(lambda: COMMANDS[command](tmp_path, tmp_path / "out"), capsys)
    problem = "the file is empty" if split == "train" else f"no statements in the {split} split"
    assert said == f"{tmp_path / split}.txt: {problem}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_folder_without_splits(command, tmp_path, capsys):
    (tmp_path / "readme.txt").write_text("hello")
    said = refusal(lambda: COMMANDS[command](tmp_path, tmp_path / "out"), capsys)
    assert "expected one file for the train split, such as train.txt, got readme.txt" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_relation_as_entity(command, tmp_path, capsys):
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\nQ1,P2,P1\n")
    said = refusal(lambda: COMMANDS[command](tmp_path, tmp_path / "out"), capsys)
    assert "train.txt:2: expected an entity, got 'P1', which is a relation on line 1" in said


def test_statements_without_qualifiers_can_be_trained_on_and_asked(tmp_path, capsys):
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\nQ2,P1,Q3\nQ3,P2,Q1\n")
    quick = ("train.max_steps=2", "train.warmup=1", "train.threads=1", "qualifier_questions=0.5")
    train(data=str(tmp_path), out=tmp_path / "out", recipe="smallest", set=quick)
    model = str(tmp_path / "out" / "best")
    capsys.readouterr()
    complete("q1 | p1 | ?", model=model, json=True)
    assert len(json.loads(capsys.readouterr().out)["answers"]) == 3
    # P2 is a relation that no statement has as a qualifier, and no entity has been the value of one.
    complete("Q1 | P1 | Q2 | P2=?", model=model, json=True)
    assert json.loads(capsys.readouterr().out)["answers"] == []


def test_labels_that_are_missing_or_of_unknown_ids_do_no_harm(tmp_path, capsys):
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\n")
    (tmp_path / "labels.tsv").write_text("Q1\tone\nQ99\tnobody\n")
    complete("one | P1 | ?", model="heuristic", data=str(tmp_path), json=True)
    assert json.loads(capsys.readouterr().out)["answers"][0]["id"] == "Q2"
    assert "unknown entity 'nobody'" in refusal(
        lambda: complete("nobody | P1 | ?", model="heuristic", data=str(tmp_path)), capsys
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that has every file."""
    statements: Statements = random_statements(20)
    labels = {"e0": "zero", "r0": "relation zero"}
    names = ModelNames(
        entities=statements.entities,
        relations=statements.relations,
        labels=labels,
        tokenizer=train_tokenizer(["zero", "relation zero"], BpeLabels(tokens=270)),
    )
    config = ModelConfig(encoder=NoEncoder(dim=8), labels=BpeLabels(tokens=270))
    folder = tmp_path_factory.mktemp("whole")
    save_model(TrainedModel.new(config, names, statements), folder)
    load_model(folder)
    return folder


DAMAGE = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"\xff\x00garbage"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a number": lambda path: path.write_text("3"),
    "a list": lambda path: path.write_text("[1, 2]"),
    "an object": lambda path: path.write_text('{"entities": [1], "relations": 3, "labels": "x"}'),
    "wrong texts": lambda path: path.write_text('{"entities": [1], "relations": ["a"], "labels": {"a": 1}}'),
}
FILES = ("config.json", "names.json", "statements.safetensors", "model.safetensors", "tokenizer.json")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_model_is_refused_by_name(file, damage, whole, tmp_path, capsys):
    folder = tmp_path / "model"
    shutil.copytree(whole, folder)
    DAMAGE[damage](folder / file)
    said = refusal(lambda: complete("e0 | r0 | ?", model=str(folder)), capsys)
    assert (folder.name if damage == "missing" and file == "config.json" else file) in said


def test_a_model_with_fewer_names_than_weights_is_refused(whole, tmp_path, capsys):
    folder = tmp_path / "model"
    shutil.copytree(whole, folder)
    names = json.loads((folder / "names.json").read_text())
    names["entities"].append("one more")
    (folder / "names.json").write_text(json.dumps(names))
    said = refusal(lambda: complete("e0 | r0 | ?", model=str(folder)), capsys)
    assert "model.safetensors: entity: expected shape (20, 8), got (19, 8)" in said


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "heat-labels"}, "there are no labels for BpeLabels to read"),
        ({"set": ("train_on=train",)}, "there are no validation statements that are not in train"),
        ({"labels": Path("none.tsv")}, "No such file"),
    ],
)
def test_what_training_lacks_is_said(settings, message, tmp_path, capsys):
    (tmp_path / "train.txt").write_text("Q1,P1,Q2\nQ2,P1,Q3\n")
    call = {"data": str(tmp_path), "out": tmp_path / "out", "recipe": "smallest", **settings}
    assert message in refusal(lambda: train(**call), capsys)
