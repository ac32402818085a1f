"""`hyperheat kg import` and `kg eval`: reports, tables, JSON and errors."""

import json
import sys
from pathlib import Path

import pytest

from hyperheat.cli.kg import DataFormat, evaluate, import_statements
from hyperheat.kg.datasets import KNOWN
from hyperheat.kg.readers import FORMATS

TRAIN = "film,award,Oscar,winner,Ann\nfilm,award,Oscar,winner,Ann\nplay,award,Tony\nfilm,made in,France\n"
VALID = "film,award,Oscar\n"
TEST = "play,made in,France\nOscar,given to,Ann,for,film\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for split, text in (("train", TRAIN), ("valid", VALID), ("test", TEST)):
        (folder / f"{split}.txt").write_text(text)
    return folder


def test_import_reports_what_was_kept_repeated_and_leaked(data: Path, capsys: pytest.CaptureFixture[str]):
    out = data.parent / "out"
    import_statements(str(data), to=out)
    assert capsys.readouterr().out == (
        f"{data} (wd50k) -> {out}\n"
        "6 entities, 0 with a label; 5 relations, 0 with a label\n"
        "train: kept 4 statements, 2 with qualifiers, 1 duplicates\n"
        "valid: kept 1 statements, 0 with qualifiers, 0 duplicates\n"
        "test: kept 2 statements, 1 with qualifiers, 0 duplicates\n"
        "leaks into valid, of 1 statements:\n"
        "  0 (0.0%) are equal to a statement of an earlier split\n"
        "  1 (100.0%) have the main triple of one\n"
        "  1 (100.0%) have subject and object together in one\n"
        "  0 (0.0%) have all entities in one with another main triple, in other roles\n"
        "  0 entities are in no earlier split\n"
        "leaks into test, of 2 statements:\n"
        "  0 (0.0%) are equal to a statement of an earlier split\n"
        "  0 (0.0%) have the main triple of one\n"
        "  1 (50.0%) have subject and object together in one\n"
        "  1 (50.0%) have all entities in one with another main triple, in other roles\n"
        "  0 entities are in no earlier split\n"
    )
    assert json.loads((out / "report.json").read_text())["splits"]["train"]["duplicates"] == 1


def test_import_says_what_it_drops(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "people.json"
    source.write_text('{"P1_h": "Q1", "P1_t": "Q2", "N": 2}\n{"P1_h": "Q1", "P1_t": "http://z", "N": 2}\n')
    labels = tmp_path / "names.tsv"
    labels.write_text("Q1\tone\nQ9\tnine\n")
    import_statements(str(source), to=tmp_path / "out", labels=labels)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "2 entities, 1 with a label; 1 relations, 0 with a label",
        "1 labels belong to ids in no statement",
        "train: kept 1 statements, 0 with qualifiers, 0 duplicates",
        "  dropped 1: literal as subject or object",
    ]


def test_import_prints_its_report_as_json(data: Path, capsys: pytest.CaptureFixture[str]):
    import_statements(str(data), to=data.parent / "out", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((data.parent / "out" / "report.json").read_text())
    assert printed["leaks"]["test"]["entity_sets"] == 1


def test_eval_prints_protocol_and_table(data: Path, capsys: pytest.CaptureFixture[str]):
    evaluate(model="heuristic", data=str(data))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"heuristic on {data}: 2 statements (SHA-256 ")
    assert lines[0].endswith("6 candidates, 2 answers tied")
    assert lines[1] == (
        "StarE's protocol: train on train+valid, evaluate on test, filter key qualifiers, candidates stare, "
        "without leaks False, ask main"
    )
    # play, made in, France: Tony scores 0.1 as object and the rest 0, so France has rank 1 + 1 + 4/2; as subject of
    # (made in, France) film is filtered and the rest scores 0, so play has rank 1 + 4/2.
    # Oscar, given to, Ann, for film: Ann scores 2/3 + 2/4 as object, Oscar 1 + 3/4 as subject; both are first.
    assert lines[3:] == [
        "                queries    MRR    H@1    H@3   H@10",
        "both                  4  0.646  0.500  0.750  1.000",
        "object                2  0.625  0.500  0.500  1.000",
        "subject               2  0.667  0.500  1.000  1.000",
        "0 qualifiers          2  0.292  0.000  0.500  1.000",
        "1 qualifier           2  1.000  1.000  1.000  1.000",
    ]


def test_eval_prints_json(data: Path, capsys: pytest.CaptureFixture[str]):
    evaluate(model="heuristic", data=str(data), train_on="train", on="valid", candidates="all", json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["protocol"] == {
        "name": None,
        "train_on": "train",
        "evaluate_on": "valid",
        "filter_key": "qualifiers",
        "candidates": "all",
        "without_leaks": False,
        "ask": "main",
    }
    assert (found["model"], found["statements"], found["candidates"]) == ("heuristic", 1, 6)
    # film -> Oscar: Oscar 2/3 beats France and Ann; Oscar -> film: film 1 beats Ann 0.1
    assert found["metrics"]["both"] == {"queries": 2, "mrr": 1.0, "h1": 1.0, "h3": 1.0, "h10": 1.0}


def test_candidates_and_leaks_can_be_chosen(data: Path, capsys: pytest.CaptureFixture[str]):
    evaluate(model="heuristic", data=str(data), candidates="training", json=True)
    # Ann is subject or object in test alone
    assert json.loads(capsys.readouterr().out)["candidates"] == 5
    with pytest.raises(SystemExit):
        evaluate(model="heuristic", data=str(data), train_on="train", on="valid", without_leaks=True)
    assert "there are no statements in the valid split to evaluate on" in capsys.readouterr().err


def test_the_filter_can_be_chosen(data: Path, capsys: pytest.CaptureFixture[str]):
    (data / "test.txt").write_text("film,award,Globe,winner,Bob\n")
    mrr = []
    for key in ("qualifiers", "triple"):
        evaluate(model="heuristic", data=str(data), filter=key, json=True)
        mrr.append(json.loads(capsys.readouterr().out)["metrics"]["object"]["mrr"])
    # Oscar answers (film, award) under other qualifiers: a wrong answer, or filtered
    assert mrr[0] < mrr[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda data: evaluate(model="heuristic", data="nowhere"),
            "nowhere: no such file or folder, and not one of",
        ),
        (
            lambda data: evaluate(model="heuristic", data=str(data / "train.txt")),
            "there are no statements in the test split to evaluate on",
        ),
        (
            lambda data: evaluate(model="heuristic", data=str(data), on="valid"),
            "cannot evaluate on valid a model that was trained on train+valid",
        ),
        (
            lambda data: import_statements("nowhere", to=data / "out"),
            "nowhere: no such file or folder, and not one of",
        ),
        (lambda data: import_statements(str(data), to=data / "out", labels=data / "none"), "No such file"),
        (lambda data: import_statements(str(data), to=data / "train.txt"), "File exists"),
        (
            lambda data: import_statements(str(data), to=data / "out", format="jsonl"),
            "train.txt:1: expected a JSON",
        ),
    ],
)
def test_errors_are_one_line_and_exit_with_2(
    call, message: str, data: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as stop:
        call(data)
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("name", "package"), [("x.ttl", "pyoxigraph"), ("x.parquet", "pyarrow")])
def test_a_missing_package_is_said_in_one_sentence(
    name: str,
    package: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    (tmp_path / name).write_text("")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit):
        import_statements(str(tmp_path / name), to=tmp_path / "out")
    assert capsys.readouterr().err.startswith(f"{package} is needed here and could not be imported")


def test_the_command_offers_every_format():
    assert DataFormat.__args__ == tuple(FORMATS)


def test_the_page_names_every_format_and_data_set():
    page = (Path(__file__).parents[2] / "docs" / "knowledge-graphs.md").read_text(encoding="utf-8")
    for name in FORMATS:
        assert f"| `{name}` |" in page
    for name, facts in KNOWN.items():
        counts = " / ".join(f"{count:,}" if count else "-" for count in facts.statements)
        assert f"| `{name}` | {counts} | {facts.entities:,} | {facts.relations:,} |\n" in page


def test_the_demo_can_be_evaluated(capsys: pytest.CaptureFixture[str]):
    evaluate(model="demo", data="demo", json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["statements"]) == ("demo", 56)
    assert found["metrics"]["both"]["mrr"] > 0.75


def test_values_and_relations_are_ranked_too(data: Path, capsys: pytest.CaptureFixture[str]):
    evaluate(model="heuristic", data=str(data), ask="values", json=True)
    found = json.loads(capsys.readouterr().out)
    assert list(found["metrics"]) == ["value", "1 qualifier"]
    assert found["candidates"] == 2  # Ann and film are values
    evaluate(model="heuristic", data=str(data), ask="relations", by="degree")
    lines = capsys.readouterr().out.splitlines()
    # made in has one training statement, given to none; both come after award, to which play and Oscar point
    assert [line.split("  ")[0] for line in lines[4:]] == ["relation", "degree 0", "degree 1"]


def test_ranks_are_grouped_by_relation(data: Path, capsys: pytest.CaptureFixture[str]):
    evaluate(model="heuristic", data=str(data), by="relation", json=True)
    metrics = json.loads(capsys.readouterr().out)["metrics"]
    assert list(metrics) == ["both", "object", "subject", "relation given to", "relation made in"]
    assert sum(metrics[f"relation {name}"]["queries"] for name in ("given to", "made in")) == 4
