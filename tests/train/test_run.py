from dataclasses import replace

import pytest

from hyperheat.train.run import State, TrainSettings, ended_by, seconds_left


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "set at least one of max_steps, max_epochs, max_samples, max_minutes, max_core_minutes"),
        ({"max_steps": 0}, "max_steps: expected an int of at least 1 or None, got 0"),
        ({"max_steps": 5, "lr": -1.0}, "lr: expected a number above 0, got -1.0"),
        ({"max_steps": 5, "ema": 1.0}, "ema: expected a number between 0 and 1 or None, got 1.0"),
        ({"max_steps": 5, "betas": (0.9, 1.0)}, "betas: expected two numbers from 0 up to 1"),
        ({"max_steps": 5, "validate_every": 0}, "validate_every: expected an int of at least 1, got 0"),
        (
            {"max_steps": 5, "step_factor": 1.5},
            "step_factor: expected a number above 0 and at most 1, got 1.5",
        ),
        ({"max_steps": 5, "step_epochs": 0}, "step_epochs: expected an int of at least 1, got 0"),
        ({"max_steps": 5, "schedule": "linear", "warmup": 5}, "max_steps: expected more than warmup=5"),
        ({"max_steps": 5, "clip": 0}, "clip: expected a number above 0 or None, got 0"),
        ({"max_steps": 5, "mode": "least"}, "mode: expected one of min, max, got 'least'"),
    ],
)
def test_a_wrong_setting_says_what_was_expected(values, message):
    with pytest.raises(ValueError, match=message):
        TrainSettings(**values)


def test_max_steps_may_grow_only_where_no_schedule_depends_on_it():
    assert "max_steps" in TrainSettings(max_steps=5).may_change()
    shaped = TrainSettings(max_steps=5, schedule="cosine").may_change()
    assert shaped.isdisjoint({"max_steps", "max_epochs", "max_samples"})
    assert "max_minutes" in shaped  # no two runs take equally long
    assert "max_epochs" in TrainSettings(max_epochs=5, schedule="steps").may_change()


def test_the_budget_that_ends_first_gives_the_time_left():
    settings = TrainSettings(max_steps=100, max_samples=1000)
    begin, now = State(step=10, samples=100, seconds=5.0), State(step=20, samples=400, seconds=15.0)
    assert seconds_left(settings, begin, now) == pytest.approx(20.0)  # 600 samples at 30 a second
    assert seconds_left(replace(settings, max_minutes=0.5), begin, now) == pytest.approx(15.0)
    assert ended_by(settings, now) is None
    assert ended_by(settings, State(step=100)) == "max_steps"
