"""What the commands say to wrong input: one sentence, exit code 2, and nothing lost."""

import json
import shutil

import pytest
from tests.detector.samples import all_samples

from hyperheat.bugs.dataset import HEAD
from hyperheat.bugs.shards import write_shard
from hyperheat.cli import app
from hyperheat.detector.sample import Sample
from hyperheat.files import file_sha256
from hyperheat.nn.fast import kernel


def write_dataset(folder, samples: list[Sample], splits=("train", "valid", "test")):
    shards = []
    for split in splits:
        (folder / split).mkdir(parents=True)
        path = folder / split / "box.parquet"
        write_shard(samples, path)
        facts = {"samples": len(samples), "sha256": file_sha256(path)}
        shards.append({"path": f"{split}/box.parquet", "split": split, **facts})
    manifest = {**HEAD, "shards": shards}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def data(tmp_path):
    return write_dataset(tmp_path / "data", all_samples(every=9))


def refusal(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        app(["bugs", *map(str, words)])
    assert stop.value.code == 2
    message = capsys.readouterr().err.strip()
    assert "\n" not in message
    return message


def train(capsys, data, tmp_path, *words):
    return refusal(capsys, "train", "--data", data, "--out", tmp_path / "run", *words)


def test_unknown_names_are_answered_with_the_nearest(capsys, data, tmp_path):
    assert "recipe: expected one of heat," in train(capsys, data, tmp_path, "--recipe", "heta")
    message = train(capsys, data, tmp_path, "--set", "model.dims=64")
    assert "did you mean dim?" in message
    message = train(capsys, data, tmp_path, "--set", "train.lr=fast")
    assert message == "train.lr: expected a number, got 'fast'"
    assert not (tmp_path / "run").exists()


def test_a_folder_without_samples(capsys, tmp_path):
    message = train(capsys, tmp_path, tmp_path)
    assert "not a folder of bug samples: it has no manifest.json" in message
    data = write_dataset(tmp_path / "one", all_samples()[:1], splits=("train",))
    assert "expected samples in the split 'valid', got none" in train(capsys, data, tmp_path)
    (data / "manifest.json").write_text("{")
    assert "manifest.json: not a manifest" in train(capsys, data, tmp_path)


def test_a_shard_that_is_cut_or_exchanged(capsys, data, tmp_path):
    shard = data / "train" / "box.parquet"
    content = shard.read_bytes()
    shard.write_bytes(content[:-10])
    assert "box.parquet: the file was changed: its sha256 differs" in train(capsys, data, tmp_path)
    write_shard(all_samples()[:2], shard)
    assert "box.parquet: the file was changed: its sha256 differs" in train(capsys, data, tmp_path)
    shard.unlink()
    assert "box.parquet" in train(capsys, data, tmp_path)


def test_samples_of_other_rewrites(capsys, data, tmp_path):
    manifest = json.loads((data / "manifest.json").read_text())
    manifest["rewrites"]["texts"].reverse()
    (data / "manifest.json").write_text(json.dumps(manifest))
    assert "made by a version with other kinds of rewrites" in train(capsys, data, tmp_path)


def test_a_wrong_model(capsys, data, tmp_path):
    def evaluate(folder):
        return refusal(capsys, "eval", "--model", folder, "--data", data)

    assert "not the folder of a trained detector: it has no config.json" in evaluate(tmp_path)
    run = tmp_path / "run"
    small = ["train.max_steps=2", "train.warmup=1", "train.validate_every=1", "train.threads=1"]
    app(
        ["bugs", "train", "--data", str(data), "--out", str(run), "--recipe", "smallest", "--set", *small],
        result_action="return_value",
    )
    capsys.readouterr()
    before = (run / "best" / "model.safetensors").read_bytes()
    message = refusal(capsys, "train", "--data", data, "--out", run, "--recipe", "smallest")
    assert "resume" in message
    assert (run / "best" / "model.safetensors").read_bytes() == before
    broken = tmp_path / "broken"
    shutil.copytree(run / "best", broken)
    weights = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(weights[:-100])
    assert "model.safetensors: not a safetensors file" in evaluate(broken)
    (broken / "config.json").write_text('{"format": "something else"}')
    assert "config.json: not the configuration of a detector" in evaluate(broken)
    message = refusal(capsys, "eval", "--model", run / "best", "--data", data, "--tag", "fix")
    assert "expected one that the data has (none, since its samples have no tags), got 'fix'" in message


def test_without_a_compiler_training_says_that_it_is_slower(capsys, data, tmp_path, monkeypatch):
    kernel.unload()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    small = ["train.max_steps=1", "train.warmup=0", "train.validate_every=1", "train.threads=1"]
    words = ["bugs", "train", "--data", str(data), "--recipe", "smallest", "--set", *small]
    app([*words, "--out", str(tmp_path / "run")], result_action="return_value")
    said = (
        "no C compiler found for the compiled kernels (tried $CC, cc, gcc, clang): training is slower without"
    )
    assert capsys.readouterr().err.splitlines()[0] == said
    app([*words, "--out", str(tmp_path / "quiet"), "--no-kernel"], result_action="return_value")
    assert said not in capsys.readouterr().err
