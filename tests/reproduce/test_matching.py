"""A fair comparison: as many parameters, the same samples in the same order, the same words."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from hyperheat.bugs.corpus import CorpusSettings, build_corpus, source_packages
from hyperheat.bugs.trained_detector import DetectorConfig, new_detector
from hyperheat.reproduce.bug_rows import BugRowTask
from hyperheat.reproduce.matching import count_parameters, row_settings
from hyperheat.reproduce.paper_tables import SIZES, TABLES, find_row
from hyperheat.tensors import Vocabulary
from hyperheat.tensors.vocabulary import UNKNOWN

PROJECT = Path(__file__).parents[1] / "bugs" / "corpus" / "project"
ROWS = {row.name: row for table in ("table1", "table2") for row in TABLES[table]}


def vocabulary(labels: int, names: int) -> Vocabulary:
    return Vocabulary(
        labels=(UNKNOWN, *(f"l{i}" for i in range(labels))),
        names=(UNKNOWN, *(f"n{i}" for i in range(names))),
        roles=tuple(("relation", f"n{i}") for i in range(24)),
    )


LARGE, TINY = vocabulary(10_000, 6_000), vocabulary(900, 400)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rows") / "corpus"
    build_corpus(source_packages(PROJECT), out, CorpusSettings(clean=0.34), workers=1)
    return out


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ROWS)
def test_every_row_has_as_many_parameters_as_heat_within_a_tenth(name: str, size: str):
    for vocab in (LARGE, TINY):
        heat = count_parameters(row_settings(ROWS["heat"], SIZES[size], vocab), vocab)
        count = count_parameters(row_settings(ROWS[name], SIZES[size], vocab), vocab)
        assert abs(count - heat) <= 0.1 * heat


def test_no_two_rows_of_the_published_size_differ_by_more_than_a_tenth():
    counts = [count_parameters(row_settings(row, SIZES["small"], LARGE), LARGE) for row in ROWS.values()]
    assert max(counts) <= 1.1 * min(counts)


def test_parameters_are_counted_as_the_model_has_them():
    settings = row_settings(ROWS["gnn"], SIZES["small"], TINY)
    config = DetectorConfig(model=settings.model, binarise=settings.binarise)
    assert count_parameters(settings, TINY) == new_detector(config, TINY).parameters


def test_variants_that_are_near_heat_keep_its_shape():
    for name in ("no-qualifiers", "deepset-messages", "sum-aggregate", "binarised"):
        model = row_settings(ROWS[name], SIZES["small"], LARGE).model
        assert (model.dim, getattr(model, "ff", None)) == (64, 256)


def test_tuned_settings_take_effect_and_a_width_that_is_set_stays():
    changed = row_settings(
        ROWS["gnn"], SIZES["small"], TINY, changes=["train.lr=0.003", "model.dropout=0.3", "model.blocks=1"]
    )
    plain = row_settings(ROWS["gnn"], SIZES["small"], TINY)
    assert (changed.train.lr, changed.model.dropout) == (0.003, 0.3)
    assert changed.model.dim > plain.model.dim  # half as many layers, so they can be wider
    assert row_settings(ROWS["gnn"], SIZES["small"], TINY, changes=["model.dim=8"]).model.dim == 8


@pytest.mark.parametrize("change", ["train.max_steps=5", "train.seed=1", "largest=9"])
def test_settings_that_the_comparison_fixes_cannot_be_set(change: str):
    with pytest.raises(ValueError, match=r"--set: .* cannot be set"):
        row_settings(ROWS["heat"], SIZES["small"], TINY, changes=[change])


def first_samples(folder: Path, name: str, seed: int) -> list[np.ndarray]:
    """The samples of the first batches of a row, over more than one epoch."""
    task = BugRowTask(ROWS[name], "small", folder, seed=seed, changes=["budget=1500"], real={})
    job = task.make_job(folder)

    def batches() -> Iterator[np.ndarray]:
        for epoch in range(3):
            yield from job.batches(epoch)

    assert len(job.batches(0)) > 1
    return list(islice(batches(), 12))


def test_all_rows_see_the_same_samples_in_the_same_order(corpus: Path):
    heat = first_samples(corpus, "heat", seed=0)
    for name in ("gnn", "great", "binarised", "allset", "no-qualifiers"):
        for mine, theirs in zip(heat, first_samples(corpus, name, seed=0), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    other = first_samples(corpus, "heat", seed=1)
    assert any(not np.array_equal(mine, theirs) for mine, theirs in zip(heat, other, strict=True))


def test_all_rows_know_the_same_words(corpus: Path):
    tasks = [
        BugRowTask(ROWS[name], "small", corpus, seed=0, changes=[], real={})
        for name in ("heat", "gnn", "great")
    ]
    assert len({task.vocabulary.fingerprint for task in tasks}) == 1


def test_an_unknown_row_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"--row: expected a row of table2 .* did you mean no-qualifiers\?"):
        find_row("table2", "no-qualifier")
