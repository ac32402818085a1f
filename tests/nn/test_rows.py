import numpy as np
import pytest
import torch

from hyperheat.nn.fast.rows import pair_sum, segment_max, segment_mean, segment_softmax, segment_sum, spread
from hyperheat.tensors import PairSums, Segments, pair_sums, segments


def tensors(plan):
    return type(plan)(**{name: torch.as_tensor(array) for name, array in vars(plan).items()})


def plan(owner, count) -> Segments[torch.Tensor]:
    return tensors(segments(np.array(owner, dtype=np.int64), count))


X = torch.tensor([[1.0, -5.0], [3.0, -2.0], [2.0, -2.0], [9.0, 9.0]], dtype=torch.float64)
OWNER = plan([0, 2, 2, 0], 4)  # segments 1 and 3 are empty


def test_sum_mean_max_and_spread_by_hand():
    assert segment_sum(X, OWNER).tolist() == [[10, 4], [0, 0], [5, -4], [0, 0]]
    assert segment_mean(X, OWNER).tolist() == [[5, 2], [0, 0], [2.5, -2], [0, 0]]
    assert segment_max(X, OWNER).tolist() == [[9, 9], [0, 0], [3, -2], [0, 0]]
    assert spread(torch.arange(4.0)[:, None], OWNER).flatten().tolist() == [0, 2, 2, 0]


def test_softmax_sums_to_one_in_every_segment():
    weights = segment_softmax(X, OWNER)
    assert torch.allclose(segment_sum(weights, OWNER)[[0, 2]], torch.ones(2, 2, dtype=torch.float64))
    expected = torch.softmax(X[1:3, 0], dim=0)
    assert torch.allclose(weights[1:3, 0], expected)


def test_softmax_of_large_scores_does_not_overflow():
    assert segment_softmax(torch.tensor([[1000.0], [1000.0]]), plan([0, 0], 1)).tolist() == [[0.5], [0.5]]


def test_the_gradient_of_a_tied_maximum_is_shared_evenly():
    x = torch.tensor([[4.0], [4.0], [1.0], [4.0], [7.0]], requires_grad=True)
    segment_max(x, plan([0, 0, 0, 0, 1], 2)).sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad.flatten(), torch.tensor([1 / 3, 1 / 3, 0, 1 / 3, 1]))


def test_a_nan_is_not_hidden_by_the_maximum():
    x = torch.tensor([[float("nan")], [1.0], [2.0]])
    largest = segment_max(x, plan([0, 0, 1], 2))
    assert torch.isnan(largest[0, 0])
    assert largest[1, 0] == 2


def test_pair_sums_add_two_rows_and_skip_the_zero_row():
    sums: PairSums = tensors(pair_sums(np.array([[0, 1], [1, 1], [2, 3], [3, 3]]), zero=3))
    x = torch.tensor([[1.0], [10.0], [100.0], [0.0]], requires_grad=True)
    out = pair_sum(x, sums)
    assert out.flatten().tolist() == [11, 20, 100, 0]
    (out * torch.tensor([[1.0], [2.0], [3.0], [4.0]])).sum().backward()
    assert x.grad is not None
    assert x.grad.flatten().tolist() == [1, 5, 3, 0]


@pytest.mark.parametrize("function", [segment_sum, segment_mean, segment_max, segment_softmax])
def test_gradients_by_finite_differences(function):
    torch.manual_seed(0)
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    owner = plan([1, 0, 3, 3, 1, 3], 5)
    assert torch.autograd.gradcheck(lambda x: function(x, owner), x)
    y = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda y: spread(y, owner), y)
