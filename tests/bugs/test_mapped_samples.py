"""Samples that are mapped into memory, against the same samples as objects."""

import json
import weakref
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from tests.detector.samples import SOURCE, all_samples, origin

from hyperheat.bugs import dataset
from hyperheat.bugs.dataset import HEAD
from hyperheat.bugs.mapped_samples import EncodedStrings, MappedSamples
from hyperheat.bugs.model import BugModel
from hyperheat.bugs.shards import write_shard
from hyperheat.detector.batch import collate_samples
from hyperheat.detector.sample import DENSE, NO_BUG, Sample, make_sample
from hyperheat.detector.views import Hyperedges
from hyperheat.files import file_sha256
from hyperheat.nn import HeatConfig, HeatEncoder, RoleConfig, RoleEncoder
from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import candidates
from hyperheat.rewrites.planting import choose_together, plant
from hyperheat.tensors import Vocabulary


def dense_samples(source: str = SOURCE) -> list[Sample]:
    """Each function with many bugs at once."""
    module, rng, made = extract(source), Random(0), []
    for function in module.functions:
        text, repairs = plant(choose_together(candidates(function), 0.3, rng), function.source)
        place = replace(origin(function.name, function.span[0]), tags=(DENSE,))
        made.append(make_sample(extract_function(text, function, module.facts), repairs, place, pairs=False))
    return made


def write_dataset(folder: Path, *parts: list[Sample]) -> Path:
    """A folder with one training shard for each part."""
    shards = []
    for number, samples in enumerate(parts):
        path = folder / "train" / f"{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        count = write_shard(samples, path, pairs=False)
        shard = {"path": f"train/{number}.parquet", "split": "train", "samples": count}
        shards.append({**shard, "sha256": file_sha256(path)})
    (folder / "manifest.json").write_text(json.dumps({**HEAD, "shards": shards}))
    return folder


@pytest.fixture
def samples() -> list[Sample]:
    return [*all_samples(), *dense_samples()]


def tiny_model(vocab: Vocabulary) -> BugModel:
    torch.manual_seed(0)
    if vocab.roles:
        return BugModel(RoleEncoder(RoleConfig(dim=16, layers=2, ff=32, roles=12), vocab), 16, 0.0)
    config = HeatConfig(dim=16, layers=2, heads=2, ff=32, dropout=0.0, final_edges=False)
    return BugModel(HeatEncoder(config, vocab), 16, 0.0)


@pytest.mark.parametrize("roles", [0, 12])
def test_a_batch_equals_that_of_the_objects(samples, tmp_path, roles):
    mapped = MappedSamples(write_dataset(tmp_path, samples[:5], samples[5:]), "train")
    vocab = Vocabulary.build((sample.graph for sample in samples), roles=roles)
    assert len(vocab.roles) == roles
    assert mapped.vocabulary(min_count=1, max_size=10_000, roles=roles) == vocab
    encoded = EncodedStrings.of(mapped.strings(), vocab)
    model = tiny_model(vocab)
    indices = [len(samples) - 1, 0, 7, 3]
    one = mapped.batch(indices, encoded)
    other = collate_samples([samples[i] for i in indices], Hyperedges(), vocab)
    for name in ("num_samples", "forms"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("text", "true_choice", "true_rewrite", "changed", "candidate"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    with torch.no_grad():
        scores = [model(batch.to_torch()) for batch in (one, other)]
    for a, b in zip(*scores, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("roles", [0, 12])
def test_several_folders_are_numbered_one_after_the_other(samples, tmp_path, roles):
    one = MappedSamples(write_dataset(tmp_path / "whole", samples), "train")
    folders = [write_dataset(tmp_path / "a", samples[:5]), write_dataset(tmp_path / "b", samples[5:])]
    both = MappedSamples(folders, "train")
    assert both.counts == [5, len(samples) - 5]
    vocab = one.vocabulary(min_count=1, max_size=10_000, roles=roles)
    assert both.vocabulary(min_count=1, max_size=10_000, roles=roles) == vocab
    batches = [
        mapped.batch([6, 1, len(samples) - 1], EncodedStrings.of(mapped.strings(), vocab))
        for mapped in (one, both)
    ]
    model = tiny_model(vocab)
    with torch.no_grad():
        scores = [model(batch.to_torch()) for batch in batches]
    for a, b in zip(*scores, strict=True):
        torch.testing.assert_close(a, b)


def test_it_knows_sizes_kinds_and_tags(samples, tmp_path):
    mapped = MappedSamples(write_dataset(tmp_path, samples), "train")
    assert len(mapped) == len(samples)
    assert mapped.sizes.tolist() == [sample.graph.num_nodes for sample in samples]
    kinds = [s.candidates.kind[s.repairs[0]] if s.repairs else NO_BUG for s in samples]
    assert mapped.kinds.tolist() == kinds
    assert mapped.having(DENSE).tolist() == [DENSE in sample.origin.tags for sample in samples]
    assert not mapped.having("repaired").any()


def test_columns_are_written_once_and_again_for_other_shards(samples, tmp_path):
    write_dataset(tmp_path, samples[:4])
    MappedSamples(tmp_path, "train")
    header = tmp_path / ".mapped" / "train" / "header.json"
    before = header.stat().st_mtime_ns
    MappedSamples(tmp_path, "train")
    assert header.stat().st_mtime_ns == before
    write_dataset(tmp_path, samples[:6])
    assert len(MappedSamples(tmp_path, "train")) == 6
    assert sorted(path.name for path in header.parents[1].iterdir()) == ["train"]


def test_dense_samples_mark_every_changed_place(samples):
    dense = [sample for sample in samples if DENSE in sample.origin.tags]
    assert sum(len(sample.repairs) for sample in dense) > len(dense)
    batch = collate_samples(dense, Hyperedges(), Vocabulary.build(sample.graph for sample in dense))
    assert int(batch.changed.sum()) == len(batch.true_rewrite) == sum(len(s.repairs) for s in dense)
    places = [np.unique(s.candidates.location[list(s.repairs)]) for s in dense]
    assert [len(place) for place in places] == [len(s.repairs) for s in dense]


def test_columns_are_written_with_one_shard_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    alive, most = weakref.WeakSet(), []
    read = dataset._read_shard

    def watched(*arguments, **options):
        shard = read(*arguments, **options)
        alive.add(shard)
        most.append(len(alive))
        return shard

    monkeypatch.setattr(dataset, "_read_shard", watched)
    folder = write_dataset(tmp_path, *([sample] for sample in all_samples()[:4]))
    assert len(MappedSamples(folder, "train")) == 4
    assert most == [1, 1, 1, 1]
