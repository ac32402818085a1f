"""An exported detector gives torch's numbers on any batch, and damaged or strange model files are refused."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from tests.bugs.samples import all_samples
from tests.check.scores import CALIBRATION
from tests.hostile.models import relist
from tools.check_export import compare, torch_scores

from hyperheat.bugs.answers import answer_all
from hyperheat.bugs.export import export_detector, facts_of_corpus
from hyperheat.bugs.folder import DetectorConfig, new_detector, save_trained
from hyperheat.cli.bugs_export import export
from hyperheat.detector import Scorer
from hyperheat.detector.checks import check_graph
from hyperheat.detector.inputs import layout_rows
from hyperheat.detector.interface import MAX_SLOTS
from hyperheat.nn import VARIANTS, GnnConfig
from hyperheat.pycode.pairs import RELATIONS
from hyperheat.tensors import Vocabulary

SAMPLES = all_samples(every=11)


def crowded(sample):
    """The sample with every edge a hundred times, so that its nodes get many messages."""
    graph, times = sample.graph, 100
    shifts = len(graph.node) * np.arange(times)[:, None]
    return replace(
        sample,
        graph=replace(
            graph,
            relation=np.tile(graph.relation, times),
            offsets=np.append((graph.offsets[:-1] + shifts).ravel(), times * len(graph.node)),
            qualifier=np.tile(graph.qualifier, times),
            node=np.tile(graph.node, times),
        ),
    )


def without_edges(sample):
    graph = sample.graph
    empty = {"relation": graph.relation[:0], "qualifier": graph.qualifier[:0], "node": graph.node[:0]}
    return replace(sample, graph=replace(graph, offsets=graph.offsets[:1], **empty))


TINY = all_samples("def tiny():\n    return True\n", every=1)
ODD = [
    *TINY,
    *all_samples("def wide(x):\n    return [" + ", ".join(["x + 1"] * 150) + "]\n", every=10_000),
    crowded(TINY[0]),
    without_edges(SAMPLES[0]),
]
VOCAB = Vocabulary.build(sample.graph for sample in SAMPLES)
SIZES = {"dim": 16, "layers": 2, "heads": 4, "ff": 24}


def detector(variant="heat", *, binarise=False, **sizes):
    torch.manual_seed(1)
    config = replace(VARIANTS[variant], **(SIZES | sizes))
    made = new_detector(DetectorConfig(model=config, binarise=binarise), VOCAB)
    for (
        parameter
    ) in made.model.parameters():  # biases and norms as a trained model has them, logits that differ
        torch.nn.init.normal_(parameter, std=0.3 if parameter.dim() == 2 else 0.5)
    made.model.eval()
    return made


def exported(made, folder, **options):
    export_detector(made, folder, facts={}, licence="MIT", **options)
    return Scorer.load(folder)


def largest_difference(made, samples, scores):
    differences = []
    for sample, got in zip(samples, scores, strict=True):
        expected = torch_scores(made, sample, got)
        differences += [abs(expected.no_bug - got.no_bug), np.abs(expected.locations - got.locations).max()]
        differences.append(np.abs(expected.rewrites - got.rewrites).max())
    return max(differences)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_gives_the_numbers_of_torch(variant, tmp_path):
    made = detector(variant)
    scores = exported(made, tmp_path).score(SAMPLES)
    assert np.std([got.no_bug for got in scores]) > 0.01  # the samples do differ
    assert largest_difference(made, SAMPLES, scores) < 1e-4


@pytest.mark.parametrize("options", [{"final_edges": False}, {"binarise": True}, {"layers": 1}], ids=str)
def test_other_settings_do_too(options, tmp_path):
    made = detector(**options)
    assert largest_difference(made, SAMPLES, exported(made, tmp_path).score(SAMPLES)) < 1e-4


def test_odd_functions_in_any_company(tmp_path):
    made = detector()
    scorer = exported(made, tmp_path)
    samples = ODD + SAMPLES
    for budget in (1, 400, 10_000):
        assert largest_difference(made, samples, scorer.score(samples, budget=budget)) < 1e-4


def test_the_odd_functions_are_odd():
    sizes = [np.diff(sample.graph.offsets) + 1 for sample in ODD]
    assert min(len(sample.candidates) for sample in ODD) == 1
    assert max(size.max(initial=0) for size in sizes) > 512
    degrees = [np.bincount(sample.graph.node, minlength=1).max() for sample in ODD]
    assert min(degrees) == 0
    assert max(degrees) > 256


def test_functions_of_the_library_get_the_findings_of_torch(tmp_path):
    """The tool does it with the detector in the package, on 500 functions."""
    made = detector()
    report = compare(made, exported(made, tmp_path), CALIBRATION, 20, 3)
    assert (report.functions, report.problems) == (20, [])
    assert report.findings >= 20
    assert report.difference < 1e-4
    other = compare(detector(layers=1), Scorer.load(tmp_path), CALIBRATION, 2, 3)
    assert other.difference > 1e-4
    assert len(other.problems) == 2


def test_an_exported_detector_answers_as_torch_does(tmp_path):
    one, samples = detector(), all_samples(every=2)
    (_, mine), (_, other) = (
        next(answer_all(asked, samples, [1] * len(samples), budget=10_000))
        for asked in (one, exported(one, tmp_path))
    )
    assert 0 < mine.located.sum() < len(samples)
    assert 0 < mine.repaired.sum() < len(samples)
    for column in ("kind", "read", "alarm", "located", "repaired", "finding"):
        np.testing.assert_array_equal(getattr(mine, column), getattr(other, column), err_msg=column)
    for column in ("probability", "confidence", "loss"):
        np.testing.assert_allclose(getattr(mine, column), getattr(other, column), atol=1e-5, err_msg=column)


def test_findings_join_location_and_rewrite(tmp_path):
    sample = SAMPLES[0]
    (got,) = exported(detector(), tmp_path).score([sample])
    assert got.nodes[got.location_of].tolist() == sample.candidates.location.tolist()
    assert np.exp(got.findings).sum() + np.exp(got.no_bug) == pytest.approx(1)
    for location in range(len(got.nodes)):
        assert np.exp(got.rewrites[got.location_of == location]).sum() == pytest.approx(1)


def test_float16_halves_the_file_and_keeps_the_findings(tmp_path):
    made = detector(dim=64, ff=256)
    full, half = (exported(made, tmp_path / name, precision=name) for name in ("float32", "float16"))
    sizes = [(tmp_path / name / "model.onnx").stat().st_size for name in ("float32", "float16")]
    assert sizes[1] < 0.75 * sizes[0]
    for one, other in zip(full.score(SAMPLES), half.score(SAMPLES), strict=True):
        assert np.abs(one.findings - other.findings).max() < 0.05
        assert one.findings.argmax() == other.findings.argmax()


def test_rows_hold_every_slot_once():
    sizes = np.array([0, 1, 1, 3, 15, 16, 40, 300, 4, 4, 4, 4, 2047])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    layout = layout_rows(offsets)
    slots = np.sort(layout.slot[layout.slot >= 0])
    assert slots.tolist() == list(range(len(sizes) + offsets[-1]))
    assert [(group.rows, group.width) for group in layout.groups if group.rows] == [
        (6, 16),  # 1 of one slot; 2 of two; 1 of four; 4 of five in two rows; 1 of sixteen
        (1, 17),
        (1, 41),
        (1, 301),
        (1, 2048),
    ]
    for edge, size in enumerate(sizes):
        cells = np.flatnonzero(layout.edge == edge)
        assert layout.slot[cells].tolist() == [
            edge,
            *range(len(sizes) + offsets[edge], len(sizes) + offsets[edge] + size),
        ]


def test_a_relation_that_is_too_large_is_a_problem_of_its_sample(tmp_path):
    scorer = exported(detector(), tmp_path)
    graph = SAMPLES[0].graph
    wide = replace(
        graph,
        relation=graph.relation[:1],
        offsets=np.array([0, MAX_SLOTS]),
        qualifier=np.resize(graph.qualifier, MAX_SLOTS),
        node=np.resize(graph.node, MAX_SLOTS),
    )
    assert scorer.problem(SAMPLES[0]) is None
    assert (
        scorer.problem(replace(SAMPLES[0], graph=wide))
        == "expected at most 2048 nodes in a relation, got 2049"
    )


def test_other_encoders_are_refused(tmp_path):
    made = new_detector(DetectorConfig(model=GnnConfig(relations=RELATIONS, dim=8)), VOCAB)
    with pytest.raises(ValueError, match="expected a detector with HEAT or a variant of it, got Gnn"):
        export_detector(made, tmp_path, facts={}, licence="MIT")


def test_scoring_needs_neither_torch_nor_onnx(tmp_path):
    exported(detector(), tmp_path)
    script = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'pyarrow', 'safetensors'): sys.modules[name] = None\n"
        "from tests.bugs.samples import all_samples\n"
        "from hyperheat.detector import Scorer\n"
        "assert 'onnxruntime' not in sys.modules\n"
        f"print(len(Scorer.load({str(tmp_path)!r}).score(all_samples(every=1000))))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("4\n", "")


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
    path = copy / "model.onnx"
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
    assert "got a folder without manifest.json" in refusal(copy)


def test_a_config_of_other_texts_is_refused(copy):
    config = json.loads((copy / "config.json").read_text())
    config["texts"] = config["texts"][1:]
    (copy / "config.json").write_text(json.dumps(config))
    relist(copy)
    assert "expected the operators and literals that this version puts in" in refusal(copy)


def put_external_data(model):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret")


def put_operator(model):
    model.graph.node[0].op_type = "Loop"


def put_domain(model):
    model.graph.node[0].domain = "com.example"


def put_nested_graph(model):
    nested = helper.make_graph([], "nested", [], [])
    model.graph.node[0].attribute.append(helper.make_attribute("body", nested))


def put_function(model):
    model.functions.add(name="f")


def put_input(model):
    model.graph.input.append(helper.make_tensor_value_info("extra", TensorProto.FLOAT, [1]))


def put_opset(model):
    model.opset_import[0].version = 7


def put_another_shape(model):
    tensor = next(tensor for tensor in model.graph.initializer if len(tensor.dims) == 2)
    tensor.dims[0] += 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put_external_data, "weights: expected no field 1[34] of onnx.proto"),
        (put_operator, "expected operators of an exported detector, got 'Loop'"),
        (put_domain, "node: expected no field 7"),
        (put_nested_graph, "attribute: expected no field 6"),
        (put_function, "model: expected no field 25"),
        (put_input, "expected known inputs, got 'extra'"),
        (put_opset, "expected operators of ONNX, version 18"),
        (put_another_shape, "onnxruntime does not take it"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_strange_models_are_refused_even_if_listed(change, message, copy):
    model = onnx.load(copy / "model.onnx")
    change(model)
    (copy / "model.onnx").write_bytes(model.SerializeToString())
    relist(copy)
    with pytest.raises(ValueError, match=message):
        Scorer.load(copy)


def test_random_bytes_are_refused_or_harmless(folder):
    content = (folder / "model.onnx").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(content[: int(rng.integers(1, len(content)))])
        damaged[int(rng.integers(len(damaged)))] = int(rng.integers(256))
        with pytest.raises(ValueError, match=r"expected|utf"):
            check_graph(bytes(damaged))


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
    export(model=tmp_path / "best", out=tmp_path / "out", data=corpus, licence="MIT")
    assert f"{made.parameters:,} parameters" in capsys.readouterr().out
    card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
    assert "| Trained on | 1,200 samples from 3 packages, 1,000 of them with a planted bug |" in card
    assert f"| Parameters | {made.parameters:,} |" in card
    assert not (tmp_path / "out" / "calibration.json").exists()
    assert Scorer.load(tmp_path / "out").config.parameters == made.parameters


def test_the_command_says_what_is_wrong_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        export(model=tmp_path, out=tmp_path / "out")
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err
        == f"{tmp_path}: expected the folder of a trained detector, got no config.json\n"
    )
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ValueError, match="not the manifest of a corpus"):
        facts_of_corpus(tmp_path)
