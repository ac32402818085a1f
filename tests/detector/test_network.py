"""The network in numpy gives the numbers of torch: every variant, odd functions, alone and in any batch."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.check.scores import CALIBRATION
from tests.detector.samples import all_samples
from tools.check_export import compare, torch_scores

import hyperheat
from hyperheat.bugs.answers import answer_all
from hyperheat.bugs.export import export_detector
from hyperheat.bugs.trained_detector import DetectorConfig, load_trained, new_detector
from hyperheat.configuration import choices
from hyperheat.detector import Scorer, arrays, heat_network
from hyperheat.detector.batch import collate_samples
from hyperheat.detector.scorer import MAX_SLOTS
from hyperheat.detector.views import Hyperedges
from hyperheat.nn import VARIANTS, HeatConfig, RoleConfig
from hyperheat.tensors import Vocabulary, collate, packed

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
WITH_ROLES = Vocabulary.build((sample.graph for sample in SAMPLES), roles=20)
SIZES = {"dim": 16, "layers": 2, "heads": 4, "ff": 24}


def detector(variant="heat", *, binarise=False, **sizes):
    torch.manual_seed(1)
    if variant == "heat-roles":
        config, vocab = RoleConfig(dim=16, layers=2, ff=24, roles=20), WITH_ROLES
    else:
        config, vocab = VARIANTS[variant], VOCAB
        sizes = SIZES | sizes
    made = new_detector(DetectorConfig(model=replace(config, **sizes), binarise=binarise), vocab)
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


@pytest.mark.parametrize("variant", [*VARIANTS, "heat-roles"])
def test_every_variant_gives_the_numbers_of_torch(variant, tmp_path):
    made = detector(variant)
    scores = exported(made, tmp_path).score(SAMPLES)
    assert np.std([got.no_bug for got in scores]) > 0.01  # the samples do differ
    assert largest_difference(made, SAMPLES, scores) < 1e-5


@pytest.mark.parametrize("variant", ["heat", "heat-roles"])
@pytest.mark.parametrize(
    "options", [{"final_edges": False}, {"final_edges": True}, {"binarise": True}, {"layers": 1}], ids=str
)
def test_other_settings_do_too(variant, options, tmp_path):
    made = detector(variant, **options)
    assert largest_difference(made, SAMPLES, exported(made, tmp_path).score(SAMPLES)) < 1e-5


@pytest.mark.parametrize("variant", ["heat", "heat-roles"])
def test_odd_functions_in_any_company(variant, tmp_path):
    made = detector(variant)
    scorer = exported(made, tmp_path)
    samples = ODD + SAMPLES
    for budget in (1, 400, 10_000):
        assert largest_difference(made, samples, scorer.score(samples, budget=budget)) < 1e-5


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
    assert report.difference < 1e-5
    other = compare(detector(layers=1), Scorer.load(tmp_path), CALIBRATION, 2, 3)
    assert other.difference > 1e-5
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


def test_scoring_needs_neither_torch_nor_safetensors(tmp_path):
    exported(detector(), tmp_path)
    script = (
        "import sys\n"
        "for name in ('torch', 'pyarrow', 'safetensors'): sys.modules[name] = None\n"
        "from tests.detector.samples import all_samples\n"
        "from hyperheat.detector import Scorer\n"
        f"print(len(Scorer.load({str(tmp_path)!r}).score(all_samples(every=1000))))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_the_detector_in_the_package_gives_the_numbers_of_torch():
    folder = Path(hyperheat.__file__).with_name("model")
    report = compare(load_trained(folder), Scorer.load(folder), CALIBRATION, 5, 1)
    assert (report.functions, report.problems) == (5, [])
    assert report.difference < 1e-5


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    return exported(detector(), tmp_path_factory.mktemp("scorer"))


@pytest.fixture(scope="module")
def scorers(scorer, tmp_path_factory):
    return scorer, exported(detector("heat-roles"), tmp_path_factory.mktemp("scorer-with-roles"))


@settings(max_examples=20, deadline=None)
@given(chosen=st.lists(st.sampled_from(range(len(ODD + SAMPLES))), min_size=1, max_size=6))
def test_a_function_scores_the_same_alone_and_in_any_batch(scorers, chosen):
    samples = [(ODD + SAMPLES)[index] for index in chosen]
    for scorer in scorers:
        for sample, together in zip(samples, scorer.score_batch(samples), strict=True):
            (alone,) = scorer.score_batch([sample])
            np.testing.assert_allclose(together.findings, alone.findings, atol=1e-5)
            assert together.no_bug == pytest.approx(alone.no_bug, abs=1e-5)


def test_what_was_scored_before_changes_no_bit(tmp_path):
    made = detector()
    fresh = [exported(made, tmp_path).score_batch([sample])[0] for sample in SAMPLES]
    scorer = Scorer.load(tmp_path)
    again = [scorer.score_batch([sample])[0] for sample in reversed(SAMPLES)]
    for one, other in zip(fresh, reversed(again), strict=True):
        np.testing.assert_array_equal(one.findings, other.findings)


def test_the_table_of_qualifiers_is_bounded(tmp_path, monkeypatch):
    expected = exported(detector(), tmp_path).score(SAMPLES)
    monkeypatch.setattr(arrays, "_KEPT_NUMBERS", 0)
    monkeypatch.setattr(arrays, "_FIRST_ROWS", 2)
    scorer = Scorer.load(tmp_path)
    for _ in range(3):
        for one, other in zip(expected, scorer.score(SAMPLES, budget=1), strict=True):
            np.testing.assert_allclose(one.findings, other.findings, atol=1e-5)
    most = max(len(set(sample.graph.qualifier.tolist())) for sample in SAMPLES)
    assert scorer.network.encoder.qualifiers.table.shape[1] <= 2 * most + 2


def test_attention_in_parts_and_with_large_scores(tmp_path, monkeypatch):
    made = detector()
    for name, parameter in made.model.named_parameters():
        if name.endswith("qkv.weight"):
            parameter.data *= 20  # exponentials need the shift
    monkeypatch.setattr(heat_network, "_SCORES_AT_A_TIME", 100)
    scores = exported(made, tmp_path).score(SAMPLES)
    assert largest_difference(made, SAMPLES, scores) < 1e-3


def test_another_layout_is_refused(scorer):
    class Packed(Hyperedges):
        def collate(self, graphs, vocab):
            return collate(graphs, vocab, packed)

    with pytest.raises(ValueError, match="expected edges grouped by size"):
        scorer.network(collate_samples(SAMPLES[:1], Packed(), VOCAB))


def test_threads_do_not_disturb_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "_KEPT_NUMBERS", 0)
    monkeypatch.setattr(arrays, "_FIRST_ROWS", 2)  # the table is begun again all the time
    scorer = exported(detector(), tmp_path)
    expected = [scorer.score_batch([sample])[0] for sample in SAMPLES]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda sample: scorer.score_batch([sample])[0], SAMPLES * 5))
    for one, other in zip(expected * 5, found, strict=True):
        np.testing.assert_array_equal(one.findings, other.findings)


def test_every_choice_of_every_slot_is_known():
    assert {name: tuple(classes) for name, classes in choices(HeatConfig).items()} == heat_network._CHOICES
    assert set(heat_network._REDUCTIONS) < set(heat_network._AGGREGATES)
