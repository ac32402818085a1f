"""Which samples come in which batch."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hyperheat.bugs.curriculum import Curriculum
from hyperheat.bugs.recipes import RECIPES

RNG = np.random.default_rng(0)
CORPUS, BUGS = 400, 20


def curriculum(real: bool = False, unreadable: int | None = None, **changes) -> Curriculum:
    """A corpus of clean, planted and dense samples in turn; then pairs of a real bug and the repaired function."""
    count = CORPUS + 2 * BUGS * real
    number = np.arange(count)
    is_real = number >= CORPUS
    return Curriculum(
        settings=replace(RECIPES["smallest"](), budget=300, **changes),
        sizes=RNG.integers(10, 100, count),
        dense=~is_real & (number % 4 == 3),
        clean=np.where(is_real, number % 2 == 1, number % 4 == 0),
        real=is_real,
        readable=number != unreadable,
    )


def test_a_pass_has_every_sample_with_at_most_one_bug_once():
    plan = curriculum()
    seen = np.concatenate(plan.batches(0))
    assert sorted(seen) == np.flatnonzero(~plan.dense).tolist()
    assert not np.array_equal(seen, np.concatenate(plan.batches(1)))
    assert np.array_equal(seen, np.concatenate(plan.batches(0)))
    assert all(plan.sizes[batch].sum() <= 300 for batch in plan.batches(0))


def test_the_dense_phase_is_as_long_as_its_steps_and_comes_first():
    plan = curriculum(dense_steps=70)
    assert len(plan.batches(0)) == 70  # more than one pass over the dense samples
    assert plan.dense[np.concatenate(plan.batches(0))].all()
    assert sorted(np.concatenate(plan.batches(1))) == np.flatnonzero(~plan.dense).tolist()


def test_large_samples_are_left_out():
    plan = curriculum(largest=50, dense_steps=3)
    for epoch in (0, 1):
        assert plan.sizes[np.concatenate(plan.batches(epoch))].max() <= 50


def test_real_bugs_stay_with_their_repair_among_others():
    plan = curriculum(real=True, clean_per_real=3.0, planted_per_real=1.5)
    for batch in plan.batches(0):
        bugs = [index for index in batch if index >= CORPUS and not plan.clean[index]]
        assert all(bug + 1 in batch for bug in bugs)
    seen = np.concatenate(plan.batches(0))
    assert max(Counter(seen.tolist()).values()) == 1
    assert set(range(CORPUS, CORPUS + 2 * BUGS)) <= set(seen.tolist())
    others = seen[seen < CORPUS]
    assert (plan.clean[others].sum(), (~plan.clean[others]).sum()) == (3 * BUGS, 1.5 * BUGS)
    assert not plan.dense[others].any()
    again = np.concatenate(plan.batches(1))
    assert set(again[again < CORPUS].tolist()) != set(others.tolist())


def test_what_an_encoder_cannot_read_does_not_change_the_other_batches():
    RNG.bit_generator.state = np.random.default_rng(1).bit_generator.state
    plan = curriculum()
    RNG.bit_generator.state = np.random.default_rng(1).bit_generator.state
    blind = curriculum(unreadable=8)
    for all_of, some in zip(plan.batches(0), blind.batches(0), strict=True):
        assert [index for index in all_of if index != 8] == some.tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"dense_steps": 1, "largest": 1}, "at most one bug"), ({"largest": 5}, "at most one bug")],
)
def test_nothing_to_train_on_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"expected samples with {message} in the split 'train', got none"):
        curriculum(**changes)
