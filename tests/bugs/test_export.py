"""A trained detector as a folder to give away; damaged and strange folders are refused."""

import json
import shutil

import numpy as np
import pytest
import torch
from tests.detector.test_network import SAMPLES, VOCAB, detector, exported
from tests.hostile.models import relist

from hyperheat.bugs.export import export_detector, facts_of_corpora
from hyperheat.bugs.trained_detector import DetectorConfig, load_trained, new_detector, save_trained
from hyperheat.cli.bugs import export
from hyperheat.detector import Scorer
from hyperheat.nn import GnnConfig
from hyperheat.pycode.pairs import RELATIONS


def test_float16_halves_the_file_and_keeps_the_findings(tmp_path):
    made = detector(dim=64, ff=256)
    full, half = (exported(made, tmp_path / name, precision=name) for name in ("float32", "float16"))
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("float32", "float16")]
    assert sizes[1] < 0.75 * sizes[0]
    for one, other in zip(full.score(SAMPLES), half.score(SAMPLES), strict=True):
        assert np.abs(one.findings - other.findings).max() < 0.05
        assert one.findings.argmax() == other.findings.argmax()


def test_other_encoders_are_refused(tmp_path):
    made = new_detector(DetectorConfig(model=GnnConfig(relations=RELATIONS, dim=8)), VOCAB)
    with pytest.raises(
        ValueError, match="expected a detector with HEAT or a variant of it, got Gnn, which only torch runs"
    ):
        export_detector(made, tmp_path, facts={}, licence="MIT")


def test_a_run_is_a_detector_that_can_be_scored_and_an_export_one_that_can_be_trained(tmp_path):
    made = detector()
    save_trained(made, tmp_path / "best")
    expected = Scorer.load(tmp_path / "best").score(SAMPLES)
    export_detector(load_trained(tmp_path / "best"), tmp_path / "out", facts={}, licence="MIT")
    save_trained(load_trained(tmp_path / "out"), tmp_path / "again")
    for one, other in zip(expected, Scorer.load(tmp_path / "again").score(SAMPLES), strict=True):
        np.testing.assert_array_equal(one.findings, other.findings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("export")
    exported(detector(), path)
    return path


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "model")


def refusal(folder):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is looked at by the tests
        Scorer.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_changed_missing_and_cut_files_are_refused(copy):
    path = copy / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert "the file was changed" in refusal(copy)
    path.write_bytes(content[:-1])
    assert f"expected {len(content)} bytes as in the manifest, got {len(content) - 1}" in refusal(copy)
    path.unlink()
    assert "got none" in refusal(copy)
    (copy / "manifest.json").write_text("{")
    assert "not a manifest" in refusal(copy)
    (copy / "manifest.json").unlink()
    assert "there is no manifest.json in this folder" in refusal(copy)


def test_a_config_of_other_texts_is_refused(copy):
    config = json.loads((copy / "config.json").read_text())
    config["texts"] = config["texts"][1:]
    (copy / "config.json").write_text(json.dumps(config))
    relist(copy)
    assert "made by a version with other kinds of rewrites" in refusal(copy)


def test_the_old_format_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"format": "hyperheat-onnx-detector"}))
    assert refusal(copy) == (
        f"{copy}: this detector has the old format with model.onnx; export it again with `hyperheat bugs export`"
    )
    (copy / "manifest.json").write_text(json.dumps(manifest | {"version": 3}))
    assert "expected version 2 of the format, got 3" in refusal(copy)


def test_weights_in_float16_are_computed_with_in_float32(tmp_path):
    exported(detector(), tmp_path, precision="float16")
    assert {p.dtype for p in load_trained(tmp_path).model.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropout": None}, None),
        ({"speed": 3}, "unexpected keyword argument 'speed'"),
        ({"heads": 3}, "expected an even multiple of heads=3"),
        ({"layers": 3}, "encoder.layers.2.qualifier.weight: expected shape"),
        (
            {"layers": 1},
            "encoder.layers.1.aggregate|encoder.layers.1.message.out.bias: expected no such weights",
        ),
        ({"message": "Loop"}, "message: expected one of AttentionMessage, DeepSetMessage, got 'Loop'"),
        ({"message": ["x"]}, "message: expected one of"),
        ({"dim": 16.0}, "dim: expected an int from 1 to 8192, got 16.0"),
        ({"ff": True}, "ff: expected an int from 1 to 65536, got True"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_refused_even_if_listed(change, message, copy):
    config = json.loads((copy / "config.json").read_text())
    config["model"]["HeatConfig"] |= change
    (copy / "config.json").write_text(json.dumps(config))
    relist(copy)
    if message is None:
        Scorer.load(copy)
    else:
        with pytest.raises(ValueError, match=message):
            Scorer.load(copy)


def test_the_command_writes_a_card_of_facts(tmp_path, capsys):
    made = detector()
    save_trained(made, tmp_path / "best")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    counts = {
        "packages": {"train": 3},
        "samples": {"train": 1200},
        "kinds": {"train": {"clean": 200, "literal": 1000}},
    }
    (corpus / "manifest.json").write_text(json.dumps({"counts": counts}))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "calibration.json").write_text("{}")  # of another model
    export(model=tmp_path / "best", out=tmp_path / "out", data=(corpus, corpus), licence="MIT")
    assert f"{made.parameters:,} parameters" in capsys.readouterr().out
    card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
    assert "| Trained on | 2,400 samples from 6 packages, 2,000 of them with a planted bug |" in card
    assert f"| Parameters | {made.parameters:,} |" in card
    assert not (tmp_path / "out" / "calibration.json").exists()
    assert Scorer.load(tmp_path / "out").parameters == made.parameters


def test_the_command_says_what_is_wrong_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        export(model=tmp_path, out=tmp_path / "out")
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err
        == f"{tmp_path}: not the folder of a trained detector: it has no config.json\n"
    )
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match="not the manifest of a corpus"):
        facts_of_corpora([tmp_path])
