import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperheat.tensors import BudgetSampler


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 60), st.integers(0, 3), st.booleans())
def test_every_graph_comes_once_and_batches_keep_the_budget(sizes, budget, epoch, shuffle):
    sampler = BudgetSampler(sizes=sizes, budget=budget, seed=7, shuffle=shuffle)
    batches = list(sampler.batches(epoch))
    assert sorted(i for batch in batches for i in batch) == list(range(len(sizes)))
    assert all(batch for batch in batches)
    for batch in batches:
        assert len(batch) == 1 or sum(sizes[i] for i in batch) <= budget


def test_fills_in_order_without_shuffling():
    sampler = BudgetSampler(sizes=[3, 3, 5, 9, 1], budget=8, shuffle=False)
    assert list(sampler.batches()) == [[0, 1], [2], [3], [4]]
    assert sampler.oversized == (3,)


def test_order_is_a_function_of_seed_and_epoch():
    sizes = [1] * 100
    first = list(BudgetSampler(sizes=sizes, budget=10, seed=1).batches(0))
    assert first == list(BudgetSampler(sizes=sizes, budget=10, seed=1).batches(0))
    assert first != list(BudgetSampler(sizes=sizes, budget=10, seed=1).batches(1))
    assert first != list(BudgetSampler(sizes=sizes, budget=10, seed=2).batches(0))


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="budget: expected at least 1, got 0"):
        BudgetSampler(sizes=[1], budget=0)
    with pytest.raises(ValueError, match="sizes: expected no negative size, got -1"):
        BudgetSampler(sizes=[1, -1], budget=3)
