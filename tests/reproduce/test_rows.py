"""Real runs of rows in miniature: from samples to a record, killed and resumed, and what is said to wrong input."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.kg.neural_data import random_statements

from hyperheat.bugs.corpus import CorpusSettings, build_corpus, read_names, source_packages
from hyperheat.bugs.corpus.packages import split_of
from hyperheat.cli import app
from hyperheat.reproduce.paper_tables import SIZES, TABLES
from hyperheat.reproduce.row_corpora import CORPORA, PACKAGES, choose_corpus, describe_corpus
from hyperheat.reproduce.row_records import RowRecord, read_records

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "bugs" / "corpus" / "project"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rows") / "corpus"
    build_corpus(source_packages(PROJECT), out, CorpusSettings(clean=0.34), workers=1)
    return out


def reproduce(*words: object) -> None:
    app(["reproduce", *map(str, words)], result_action="return_value")


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as stop:
        reproduce(*words)
    assert stop.value.code == 2
    message = capsys.readouterr().err.strip().splitlines()
    return message[-1]


def test_a_corpus_is_known_by_what_was_asked_for(corpus: Path, tmp_path: Path):
    lines = [line.partition("#")[0].strip() for line in PACKAGES.read_text().splitlines()]
    manifest = json.loads((corpus / "manifest.json").read_text())
    asked = {"clean": 0.25, "functions_per_package": 200, "names": sorted(line for line in lines if line)}
    manifest["settings"] |= asked
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert describe_corpus(tmp_path)["name"] == "full"
    manifest["settings"]["clean"] = 0.5
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert describe_corpus(tmp_path)["name"] == "given"


def test_a_row_is_trained_measured_recorded_and_not_run_again(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = ("table2", "--row", "no-qualifiers", "--data", corpus, "--work", tmp_path, "--samples", 120)
    reproduce(*words)
    shown = capsys.readouterr()
    assert "no-qualifiers (HEAT without qualifier embeddings), seed 0, " in shown.out
    assert "a cut run: a complete one sees 100,000 samples" in shown.out
    assert "paper, random bugs               69.2     76.7     85.6" in shown.out
    (record,) = read_records(tmp_path)
    assert (record.row, record.seed, record.samples, record.cut) == ("no-qualifiers", 0, 120, True)
    assert 120 <= record.samples_seen < 240
    assert record.steps == record.settings["train"]["max_steps"]
    assert record.settings["train"]["schedule"] == "linear"
    assert record.settings["train"]["threads"] == 1
    assert record.data["sha256"] == describe_corpus(corpus)["sha256"]
    assert record.data["name"] == "given"
    assert 0 <= record.valid["all"]["joint"] <= record.valid["all"]["loc"] <= 1
    assert record.curve[-1]["samples"] == record.samples_seen
    for figure in (
        "minutes",
        "processor_seconds",
        "training_samples_per_second",
        "inference_samples_per_second",
    ):
        assert getattr(record, figure) > 0
    assert record.peak_mb > 50
    assert record.final == {}
    assert "--row no-qualifiers --seed 0 --samples 120" in record.command
    reproduce(*words)
    assert "already run with 120 samples" in capsys.readouterr().err
    assert read_records(tmp_path) == [record]
    reproduce(*words, "--final")
    (final,) = read_records(tmp_path)
    assert {*final.final} == {"held-out packages"}
    assert final.valid == record.valid


def test_a_short_budget_makes_a_cut_run_whose_learning_rate_falls_to_zero(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hyperheat.reproduce.metering._MEASURED_SECONDS", 0.3)
    monkeypatch.setattr("hyperheat.reproduce.running.whole_samples", lambda row, size: 6_400)
    reproduce("table1", "--row", "heat", "--data", corpus, "--work", tmp_path, "--budget", 0.51)
    (record,) = read_records(tmp_path)
    assert record.samples == 100  # the smallest part: what is left after reading the data fits nothing
    assert record.cut
    assert "a complete run sees 6,400 samples" in capsys.readouterr().err
    log = (next((tmp_path / "runs").iterdir()) / "metrics.jsonl").read_text().splitlines()
    rates = [json.loads(line)["lr"] for line in log if "lr" in json.loads(line)]
    assert rates == sorted(rates, reverse=True) or len(rates) < 2
    assert record.settings["train"]["max_steps"] == record.steps  # the schedule has run to its end


def killed_run(words: list[str], work: Path) -> None:
    """Start a run, and kill it once it has left a checkpoint."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperheat", "reproduce", *words], stderr=subprocess.DEVNULL, cwd=ROOT
    )
    deadline = time.monotonic() + 120
    try:
        while not list(work.glob("runs/*/checkpoints/step-*")):
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def without_times(record: RowRecord) -> dict[str, Any]:
    """What must not depend on being killed."""
    curve = [{key: value for key, value in point.items() if key != "seconds"} for point in record.curve]
    return {"valid": record.valid, "curve": curve, "seen": record.samples_seen, "steps": record.steps}


def test_a_killed_run_is_resumed_to_the_same_figures(corpus: Path, tmp_path: Path):
    words = ["table1", "--row", "heat", "--data", str(corpus), "--samples", "400"]
    words += ["--set", "train.checkpoint_steps=3", "budget=800"]
    killed = tmp_path / "killed"
    killed_run([*words, "--work", str(killed)], killed)
    assert read_records(killed) == []
    reproduce(*words, "--work", killed)
    reproduce(*words, "--work", tmp_path / "whole")
    (resumed,), (whole,) = read_records(killed), read_records(tmp_path / "whole")
    assert without_times(resumed) == without_times(whole)
    assert resumed.set == ["train.checkpoint_steps=3", "budget=800"]


def test_a_run_that_the_budget_ends_is_continued(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hyperheat.reproduce.running._RESERVED", 1000.0)  # no time is left
    monkeypatch.setattr("hyperheat.reproduce.running._LEAST_SECONDS", 0.3)
    words = ("table1", "--row", "heat", "--data", corpus, "--samples", 400, "--work", tmp_path)
    reproduce(*words, "--budget", 1)
    shown = capsys.readouterr()
    assert "the budget is used up; run the same command again to go on" in shown.err
    assert shown.out == ""
    assert read_records(tmp_path) == []
    monkeypatch.undo()
    reproduce(*words)
    (record,) = read_records(tmp_path)
    assert record.samples == 400
    assert record.settings["train"]["max_minutes"] is None  # its learning rate has not fallen with the time


def test_a_cut_run_that_becomes_much_slower_ends_with_fewer_samples(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hyperheat.reproduce.running.measure_rate", lambda job: 2_400.0)
    monkeypatch.setattr("hyperheat.reproduce.running._RESERVED", 0.0)
    monkeypatch.setattr("hyperheat.reproduce.running._PATIENCE", 0.03)
    monkeypatch.setattr("hyperheat.reproduce.running.whole_samples", lambda row, size: 100_000)
    reproduce("table1", "--row", "heat", "--data", corpus, "--work", tmp_path, "--budget", 0.5)
    (record,) = read_records(tmp_path)
    assert record.samples == record.samples_seen < 50_000
    assert record.steps < record.settings["train"]["max_steps"]


def test_a_table_is_made_row_by_row_and_ends_with_its_page(
    corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(TABLES, "table2", TABLES["table2"][:2])
    reproduce("table2", "--data", corpus, "--work", tmp_path, "--samples", 60)
    shown = capfd.readouterr()
    assert shown.err.startswith("2 runs to do, about ")
    assert "tables.md: 2 runs" in shown.out
    assert [record.row for record in read_records(tmp_path)] == ["heat", "no-qualifiers"]
    assert "**These are cut runs with 60 samples.**" in (tmp_path / "tables.md").read_text()
    reproduce("table2", "--data", corpus, "--work", tmp_path, "--samples", 60)
    assert "all rows have been run" in capfd.readouterr().err


@pytest.mark.parametrize("final", [False, True])
def test_a_row_of_statements(tmp_path: Path, capsys: pytest.CaptureFixture[str], final: bool):
    data = tmp_path / "data"
    data.mkdir()
    for seed, split in enumerate(("train", "valid", "test")):
        lines = [
            ",".join([s.subject, s.relation, s.object, *(part for pair in s.qualifiers for part in pair)])
            for s in random_statements(60, seed=seed)
        ]
        (data / f"{split}.txt").write_text("\n".join(lines) + "\n")
    words = ["--set", "model.encoder.dim=16", "model.decoder.ff=16", "--data", data, "--work", tmp_path]
    reproduce("table3", "--row", "heat", "--samples", 400, *words, *(["--final"] if final else []))
    (record,) = read_records(tmp_path)
    assert record.task == "kg"
    assert 0 < record.valid["all"]["mrr"] <= 1
    assert bool(record.final) == final
    assert record.settings["train_on"] == ("train+valid" if final else "train")
    shown = capsys.readouterr().out
    assert ["paper,", "WD50K(100),", "test", "0.666", "0.605", "0.779"] in [
        line.split() for line in shown.splitlines()
    ]
    assert ("validation" in shown) != final


def test_wrong_input_is_answered_in_one_sentence(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert "did you mean gnn?" in refusal(capsys, "table1", "--row", "gmn", "--work", tmp_path)
    assert "expected a table with it, got all" in refusal(capsys, "all", "--row", "gnn", "--work", tmp_path)
    message = refusal(capsys, "table1", "--row", "heat", "--data", tmp_path, "--work", tmp_path)
    assert "not a folder of bug samples: it has no manifest.json" in message
    message = refusal(
        capsys, "table1", "--row", "heat", "--data", corpus, "--work", tmp_path, "--set", "train.seed=3"
    )
    assert message == "--set: train.seed cannot be set, since the size, the samples and the seed decide it"
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "bad.json").write_text("{")
    for words in (("page",), ("table1", "--row", "heat", "--data", corpus)):
        message = refusal(capsys, *words, "--work", tmp_path)
        assert "bad.json: not the record of a run" in message
        assert message.endswith("; delete it to run the row again")


def test_a_corpus_without_pairs_is_refused_for_rows_that_read_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    data = tmp_path / "data"
    build_corpus(source_packages(PROJECT), data, CorpusSettings(clean=0.34, pairs=False), workers=1)
    message = refusal(capsys, "table1", "--row", "gnn", "--data", data, "--work", tmp_path / "work")
    assert message == f"{data}: made with --no-pairs, but gnn reads the graphs of pairs; make it without"


def test_no_network_is_said_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr("hyperheat.bugs.mining.registry._ATTEMPTS", 1)
    message = refusal(capsys, "table1", "--row", "heat", "--budget", 5, "--work", tmp_path)
    assert message.startswith("the package index could not be reached: ")
    assert message.endswith("try again with a network, or give one with --data")


def test_the_packages_are_a_part_of_the_published_list_in_fixed_versions():
    chosen = read_names(PACKAGES)
    published = {package.name for package in read_names(ROOT / "docs" / "results" / "bugs-packages.txt")}
    assert {package.name for package in chosen} <= published
    assert all(package.version for package in chosen)
    splits = [split_of(package.name, 0) for package in chosen]
    assert {split: splits.count(split) for split in ("train", "valid", "test")} == CORPORA["full"].packages


def test_a_short_budget_takes_the_quick_corpus_unless_the_full_one_is_there(tmp_path: Path):
    assert choose_corpus(tmp_path, 5).name == "quick"
    assert choose_corpus(tmp_path, None).name == "full"
    assert choose_corpus(tmp_path, 600).name == "full"
    (tmp_path / "corpus" / "full").mkdir(parents=True)
    (tmp_path / "corpus" / "full" / "manifest.json").write_text("{}")
    assert choose_corpus(tmp_path, 5).name == "full"


def test_the_larger_size_is_larger():
    assert SIZES["large"].dim > SIZES["small"].dim
    assert SIZES["large"].samples >= SIZES["small"].samples
