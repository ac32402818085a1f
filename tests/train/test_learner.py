import math
from typing import Any

import pytest
import torch
from torch import nn

from hyperheat.train import TrainSettings
from hyperheat.train.learner import Learner, learning_rate
from hyperheat.train.run import State


class Scale(nn.Module):
    """y = w x + b."""

    def __init__(self, w: float = 1.0, b: float = 0.0) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.full((1, 1), w))
        self.b = nn.Parameter(torch.full((1,), b))


def learner_of(model: Scale, settings: TrainSettings) -> Any:
    return Learner(model, settings)


def step(learner: Learner, w: float, b: float, number: int = 0) -> float:
    """One update with given gradients."""
    model: Any = learner.model
    learner.backward((model.w * w).sum() + (model.b * b).sum())
    return learner.update(State(step=number))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5]),
        ("cosine", [0.25, 0.5, 0.75, 1.0, 1.0, (1 + math.cos(math.pi / 4)) / 2, 0.5]),
    ],
)
def test_the_learning_rate_rises_and_falls(schedule, expected):
    settings = TrainSettings(lr=1.0, warmup=4, schedule=schedule, max_steps=8)
    assert [learning_rate(settings, State(step=number)) for number in range(7)] == pytest.approx(expected)


def test_the_learning_rate_falls_in_steps_of_epochs():
    settings = TrainSettings(lr=1.0, schedule="steps", step_epochs=2, step_factor=0.5, max_epochs=9)
    rates = [learning_rate(settings, State(epoch=epoch, batch=3, epoch_size=4)) for epoch in range(6)]
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("budget", "states"),
    [
        ({"max_minutes": 2}, [State(seconds=0), State(seconds=60), State(seconds=120), State(seconds=125)]),
        ({"max_minutes": 2, "max_steps": 1_000}, [State(), State(step=5, seconds=60), State(seconds=120)]),
        ({"max_samples": 10}, [State(samples=0), State(samples=5), State(samples=10)]),
        ({"max_epochs": 2}, [State(), State(epoch=1), State(epoch=2), State(epoch=1, batch=9, epoch_size=9)]),
    ],
)
def test_every_budget_shapes_the_schedule(budget, states):
    settings = TrainSettings(lr=1.0, schedule="linear", **budget)
    rates = [learning_rate(settings, state) for state in states]
    assert rates == pytest.approx([1.0, 0.5, 0.0, 0.0][: len(states)])


def test_the_first_update_of_adam_moves_by_the_learning_rate():
    learner = learner_of(Scale(), TrainSettings(max_steps=1, lr=0.1, clip=None))
    norm = step(learner, 3.0, -4.0)
    assert norm == pytest.approx(5.0)
    assert learner.model.w.item() == pytest.approx(0.9)  # m / sqrt(v) is the sign of the gradient
    assert learner.model.b.item() == pytest.approx(0.1)
    assert learner.model.w.grad is None


def test_a_second_update_has_the_moments_of_both():
    learner = learner_of(Scale(), TrainSettings(max_steps=2, lr=0.1, clip=None, betas=(0.5, 0.75)))
    step(learner, 1.0, 1.0)
    step(learner, 3.0, 1.0, 1)
    mean = (0.25 * 1 + 0.5 * 3) / (1 - 0.25)
    square = (0.1875 * 1 + 0.25 * 9) / (1 - 0.5625)
    assert learner.model.w.item() == pytest.approx(0.9 - 0.1 * mean / math.sqrt(square))


def test_only_matrices_decay():
    learner = learner_of(Scale(w=2.0, b=2.0), TrainSettings(max_steps=1, lr=0.1, weight_decay=0.5))
    step(learner, 0.0, 0.0)
    assert learner.model.w.item() == pytest.approx(2.0 * (1 - 0.1 * 0.5))
    assert learner.model.b.item() == 2.0


def test_the_gradient_is_clipped():
    learner = learner_of(Scale(), TrainSettings(max_steps=1, clip=1.0))
    assert step(learner, 3.0, 4.0) == pytest.approx(5.0)
    assert learner.tensors()["exp_avg.w"].item() == pytest.approx(0.1 * 3 / 5)


def test_a_gradient_that_is_not_finite_changes_nothing():
    learner = learner_of(Scale(), TrainSettings(max_steps=1))
    assert math.isnan(step(learner, math.nan, 1.0))
    assert (learner.model.w.item(), learner.model.b.item()) == (1.0, 0.0)


def test_the_average_forgets_the_beginning_and_is_lent_to_the_model():
    learner = learner_of(Scale(w=1.0), TrainSettings(max_steps=3, lr=0.5, ema=0.15))
    expected, weights = 1.0, []
    for number, decay in enumerate([1 / 10, 0.15, 0.15]):  # at most (1 + step) / (10 + step)
        step(learner, 1.0, 0.0, number)
        weights.append(learner.model.w.item())
        expected = decay * expected + (1 - decay) * weights[-1]
    assert learner.average["w"].item() == pytest.approx(expected)
    with learner.averaged():
        assert learner.model.w.item() == pytest.approx(expected)
        assert not learner.model.training
    assert learner.model.w.item() == weights[-1] != expected
    assert learner.model.training


def test_a_restored_learner_goes_on_in_the_same_way():
    settings = TrainSettings(max_steps=3, lr=0.1, ema=0.9)
    one, other = Learner(Scale(), settings), Learner(Scale(w=7.0), settings)
    step(one, 1.0, 2.0)
    other.restore(one.tensors(), one.scaler.state_dict())
    for learner in (one, other):
        step(learner, 0.3, -2.0, 1)
    tensors = other.tensors()
    assert sorted(tensors) == sorted(
        f"{part}.{name}" for part in ("average", "exp_avg", "exp_avg_sq", "model", "step") for name in "bw"
    )
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in one.tensors().items())


def test_tensors_of_another_model_are_refused():
    settings = TrainSettings(max_steps=1)
    learner = learner_of(Scale(), settings)
    tensors = learner.tensors()
    with pytest.raises(ValueError, match=r"model\.b: expected shape \(1,\), got None"):
        learner.restore({"model.w": tensors["model.w"]}, {})
    with pytest.raises(ValueError, match=r"model\.c: expected shape None, got \(2,\)"):
        learner.restore({**tensors, "model.c": torch.zeros(2)}, {})


def test_half_precision_on_the_cpu_is_refused_or_used():
    with pytest.raises(ValueError, match="expected float32 or bfloat16 on a CPU, got float16"):
        Learner(Scale(), TrainSettings(max_steps=1, precision="float16"))
    learner = learner_of(Scale(), TrainSettings(max_steps=1, precision="bfloat16"))
    with learner.autocast:
        assert (learner.model.w @ learner.model.w).dtype == torch.bfloat16
