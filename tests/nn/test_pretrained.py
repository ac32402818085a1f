import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.nn.models import example_graph, make_encoder

from hyperheat import HeatEncoder, Vocabulary, collate


@pytest.fixture
def encoder():
    return make_encoder("crossatt-aggregate", Vocabulary.build([example_graph()]))


def test_a_loaded_encoder_gives_the_same_states(encoder, tmp_path):
    encoder.save_pretrained(tmp_path / "model")
    loaded = HeatEncoder.from_pretrained(tmp_path / "model").eval()
    assert loaded.config == encoder.config
    batch = collate([example_graph()], loaded.vocab).to_torch()
    assert torch.equal(loaded(batch).nodes, encoder(batch).nodes)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "config.json",
        "model.safetensors",
        "vocab.json",
    ]


def test_weights_that_are_not_finite_are_refused(encoder, tmp_path):
    with torch.no_grad():
        encoder.layers[1].message.qkv.weight[0, 0] = float("nan")
    encoder.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"layers\.1\.message\.qkv\.weight: expected finite numbers, got 1"):
        HeatEncoder.from_pretrained(tmp_path)


def test_missing_and_misshapen_weights_are_refused(encoder, tmp_path):
    encoder.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file({**weights, "embedding.label.weight": torch.zeros(2, 8)}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"embedding\.label\.weight: expected shape .*, got \(2, 8\)"):
        HeatEncoder.from_pretrained(tmp_path)
    del weights["embedding.label.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"embedding\.label\.weight: expected shape .*, got None"):
        HeatEncoder.from_pretrained(tmp_path)


def test_a_missing_setting_is_not_guessed(encoder, tmp_path):
    encoder.save_pretrained(tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    del values["heads"]
    (tmp_path / "config.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"config\.json: .*expected all settings, got none for heads"):
        HeatEncoder.from_pretrained(tmp_path)


def test_double_precision_is_kept(encoder, tmp_path):
    encoder.double().save_pretrained(tmp_path)
    assert HeatEncoder.from_pretrained(tmp_path).embedding.label.weight.dtype == torch.float64


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json"])
def test_corrupt_files_are_named(encoder, tmp_path, name):
    encoder.save_pretrained(tmp_path)
    (tmp_path / name).write_bytes(b"\x00garbage")
    with pytest.raises(ValueError, match=name):
        HeatEncoder.from_pretrained(tmp_path)


def test_a_folder_without_an_encoder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"expected the folder of an encoder, got no config\.json"):
        HeatEncoder.from_pretrained(tmp_path)
