"""The whole way in miniature: a corpus from a small source tree, a tiny model, a planted bug that it finds."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperheat.bugs.answers import answer, answer_all
from hyperheat.bugs.corpus import CorpusSettings, build_corpus, source_packages
from hyperheat.bugs.dataset import Dataset, read_manifest
from hyperheat.bugs.metrics import Answers, measure
from hyperheat.bugs.recipes import RECIPES, BugSettings
from hyperheat.bugs.trained_detector import load_trained
from hyperheat.bugs.training import BugJob, train_detector
from hyperheat.cli import app
from hyperheat.nn import RoleConfig

PROJECT = Path(__file__).parent / "corpus" / "project"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Samples of the project; the validation split is also what the model learns, so that it can overfit."""
    out = tmp_path_factory.mktemp("pipeline") / "corpus"
    build_corpus(source_packages(PROJECT), out, CorpusSettings(clean=0.34), workers=1)
    return out


@pytest.fixture(scope="module")
def run(corpus):
    """A tiny detector that has learned the training split by heart."""
    settings = RECIPES["smallest"]()
    changed = {"max_steps": 260, "validate_every": 130, "threads": 1, "lr": 3e-3, "patience": None}
    settings = replace(settings, budget=3_000, train=replace(settings.train, **changed))
    folder = corpus.parent / "run"
    train_detector(settings, corpus, folder)
    return folder


def test_a_tiny_model_learns_its_bugs_by_heart(corpus, run):
    detector = load_trained(max((run / "checkpoints").iterdir()))
    data = Dataset(corpus, "train", pairs=False)
    answers = Answers.join(part for _, part in answer_all(detector, list(data), data.sizes()))
    metrics = measure(answers)
    assert metrics.joint is not None
    assert metrics.joint > 0.9
    assert metrics.repair is not None
    assert metrics.repair > 0.95
    planted = next(index for index, sample in enumerate(data) if sample.kind == "variable-misuse")
    found = answer(detector, [data[planted]])
    assert found.finding.all()


@pytest.mark.parametrize("odds", [1e-9, 0.2, 30.0, 1e9])
def test_odds_of_a_bug_are_multiplied_and_nothing_else(corpus, run, odds):
    detector = load_trained(max((run / "checkpoints").iterdir()))
    data = Dataset(corpus, "train", pairs=False)
    (_, before), *_ = answer_all(detector, list(data), data.sizes(), budget=10**9)
    (_, after), *_ = answer_all(detector, list(data), data.sizes(), budget=10**9, bug_odds=odds)
    still = ~before.alarm & ~after.alarm
    was = before.probability[still]
    np.testing.assert_allclose(after.probability[still], was / (was + odds * (1 - was)))
    for name in ("kind", "repaired", "finding"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    if odds < 1:
        assert (before.alarm | ~after.alarm).all()
    else:
        assert (after.alarm | ~before.alarm).all()
    if odds == 1e9:
        assert after.alarm.all()
        assert measure(after).joint == pytest.approx(before.finding.sum() / len(before), abs=0.05)
    if odds == 1e-9:
        assert not after.alarm.any()


def test_a_detector_with_roles_learns_and_goes_on_to_the_bit(corpus, tmp_path):
    settings = RECIPES["heat-roles"]()
    changed = {"max_steps": 40, "validate_every": 40, "threads": 1, "lr": 3e-3, "warmup": 5, "log_every": 1}
    settings = replace(
        settings,
        model=RoleConfig(dim=16, layers=2, ff=32, roles=12),
        min_count=1,
        budget=3_000,
        train=replace(settings.train, **changed),
    )
    train_detector(settings, corpus, tmp_path / "whole")
    cut = replace(settings, train=replace(settings.train, max_minutes=1e-9))
    for _ in range(2):
        train_detector(cut, corpus, tmp_path / "parts", resume=True)
    train_detector(settings, corpus, tmp_path / "parts", resume=True)
    whole, parts = (max((tmp_path / run / "checkpoints").iterdir()) for run in ("whole", "parts"))
    for name in ("model.safetensors", "vocab.json"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    assert len(load_trained(whole).vocab.roles) == 12
    lines = (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()
    losses = [line["loss"] for line in map(json.loads, lines) if "loss" in line]
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


def test_a_dense_phase_comes_first_and_is_resumed_to_the_bit(tmp_path):
    corpus = tmp_path / "corpus"
    build_corpus(
        source_packages(PROJECT), corpus, CorpusSettings(clean=0.34, dense=2, pairs=False), workers=1
    )
    settings = RECIPES["smallest"]()
    changed = {"max_steps": 8, "validate_every": 8, "threads": 1, "warmup": 1, "log_every": 1}
    settings = replace(
        settings, budget=1_000, dense_steps=5, largest=400, train=replace(settings.train, **changed)
    )
    train_detector(settings, corpus, tmp_path / "whole")
    cut = replace(settings, train=replace(settings.train, max_minutes=1e-9))
    for _ in range(8):
        train_detector(cut, corpus, tmp_path / "parts", resume=True)
    train_detector(settings, corpus, tmp_path / "parts", resume=True)
    weights = [
        max((tmp_path / run / "checkpoints").iterdir()) / "model.safetensors" for run in ("whole", "parts")
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    job = BugJob(settings, corpus)
    first, second = job.batches(0), job.batches(1)
    assert len(first) == 5
    assert [job.load(batch).dense for batch in (*first, *second)] == [True] * 5 + [False] * len(second)
    assert max(job._curriculum.sizes[batch].max() for batch in (*first, *second)) <= 400
    plain = build_corpus(source_packages(PROJECT), tmp_path / "plain", CorpusSettings(clean=0.34), workers=1)
    assert plain.samples_made
    with pytest.raises(ValueError, match="plain: expected dense samples in the split 'train', got none"):
        BugJob(settings, tmp_path / "plain")


def test_several_corpora_are_one(corpus, tmp_path):
    settings = RECIPES["smallest"]()
    other = tmp_path / "other"
    build_corpus(source_packages(PROJECT), other, CorpusSettings(clean=0.5, seed=1), workers=1)
    one, both = BugJob(settings, corpus), BugJob(settings, [corpus, other])
    batches = np.concatenate(both.batches(0))
    assert len(batches) > len(np.concatenate(one.batches(0)))
    assert sorted(batches) == list(range(len(batches)))
    assert not both._curriculum.real.any()
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["shards"] = [shard for shard in manifest["shards"] if shard["split"] == "train"]
    (other / "manifest.json").write_text(json.dumps(manifest))
    assert np.array_equal(np.concatenate(BugJob(settings, [corpus, other]).batches(0)), batches)
    with pytest.raises(ValueError, match=r"other: expected samples in the split 'valid', got none"):
        BugJob(settings, other)
    with pytest.raises(ValueError, match="several corpora works with encoders of hypergraphs only"):
        BugJob(RECIPES["gnn"](), [corpus, other])


def test_some_words_are_forgotten_but_no_keywords(corpus):
    settings = replace(RECIPES["smallest"](), forget=0.5)
    job, plain = BugJob(settings, corpus), BugJob(RECIPES["smallest"](), corpus)
    (batch,) = job.batches(0)
    words = np.array(job.detector.vocab.labels)

    def lost_in(batch: np.ndarray) -> set[str]:
        read, left = (one.load(batch).batch.graphs.labels.tokens.numpy() for one in (plain, job))
        lost = {*words[read[read != left]]}
        assert not lost & {*words[left]}  # nowhere in the batch
        assert not left[read != left].any()  # row 0 is the unknown word
        assert {"def", "return", "(", "="} <= {*words[left]}
        assert 0.3 < len(lost) / sum(word.isidentifier() for word in {*words[read]}) < 0.6
        return lost

    assert lost_in(batch) == lost_in(batch) != lost_in(batch[::-1])
    with pytest.raises(ValueError, match="forget: expected 0 for encoders that do not read hypergraphs"):
        BugJob(replace(RECIPES["gnn"](), forget=0.5), corpus)
    with pytest.raises(ValueError, match=r"forget: expected a number from 0 up to 1, got 1\.0"):
        replace(settings, forget=1.0)


def test_training_begins_with_the_weights_of_another_run(corpus, run, tmp_path):
    settings = RECIPES["smallest"]()
    settings = replace(
        settings,
        budget=3_000,
        train=replace(settings.train, max_steps=1, validate_every=1, lr=1e-9, warmup=0, threads=1),
    )
    train_detector(settings, corpus, tmp_path / "again", start=run / "best")
    before, after = load_trained(run / "best"), load_trained(tmp_path / "again" / "best")
    assert after.vocab.fingerprint == before.vocab.fingerprint
    for old, new in zip(before.model.parameters(), after.model.parameters(), strict=True):
        assert (old - new).abs().max() < 1e-6
    wider = replace(settings, model=replace(settings.model, dim=64))
    with pytest.raises(
        ValueError, match=r"best: expected a detector of HeatConfig\(dim=64.*got one of HeatConfig\(dim=32"
    ):
        train_detector(wider, corpus, tmp_path / "wider", start=run / "best")
    without = replace(settings, model=replace(settings.model, dropout=0.0))
    train_detector(without, corpus, tmp_path / "without", start=run / "best")
    assert load_trained(tmp_path / "without" / "best").config.model.dropout == 0.0


def test_the_command_measures_and_draws(corpus, run, tmp_path, capsys):
    arguments = ["bugs", "eval", "--model", str(run / "best"), "--data", str(corpus), "--threads", "1"]
    with pytest.raises(SystemExit) as stop:
        app([*arguments, "--json", "--png", str(tmp_path / "curve.png")])
    assert stop.value.code in (0, None)
    result = json.loads(capsys.readouterr().out)
    assert result["all"]["samples"] == sum(
        shard["samples"] for shard in read_manifest(corpus)["shards"] if shard["split"] == "test"
    )
    assert set(result["by_kind"]) >= {"clean", "variable-misuse"}
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "recall_at_alarms" not in result
    with pytest.raises(SystemExit):
        app([*arguments, "--clean", str(corpus), "--json"])
    measured = json.loads(capsys.readouterr().out)
    assert 0 < measured["clean_functions"] < 10
    assert measured["recall_at_alarms"] == dict.fromkeys(["100", "30", "10", "3", "1"])
    with pytest.raises(SystemExit):
        app([*arguments, "--clean", str(corpus)])
    table = capsys.readouterr().out
    assert "joint" in table
    assert "variable-misuse" in table
    assert "threshold" in table
    assert "alarms per 1,000 clean functions" in table
    assert "too few functions" in table


def test_the_tool_that_collects_results_reads_a_real_run(corpus, run, capsys):
    with pytest.raises(SystemExit):
        app(["bugs", "eval", "--model", str(run / "best"), "--data", str(corpus), "--threads", "1", "--json"])
    (run / "eval-heldout.json").write_text(capsys.readouterr().out)
    tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "collect_bugs.py"))
    found = tool["read_run"](BugSettings, "heat", run, ["heldout"])
    tool["check_comparable"]([found], {"heldout": read_manifest(corpus)})
    (row,) = tool["make_rows"]([found])
    assert row["data"] == "heldout"
    assert row["samples_seen"] > 0
    assert row["parameters"] == load_trained(run / "best").parameters
    assert row["joint"] == found.evaluations["heldout"]["all"]["joint"]
    details = tool["make_details"]([found], {"heat": run}, {"heldout": read_manifest(corpus)}, 2.0)
    assert details["runs"][0]["recipe"] == "smallest"
    assert details["runs"][0]["steps"] == 260
