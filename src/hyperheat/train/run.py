"""The settings of a training run, where the run stands, and when it is over."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_type_hints

__all__ = ["State", "TrainSettings", "ended_by", "progress", "seconds_left"]


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How to train, for any task. The run ends when the first of its budgets is used up; at least one must be set."""

    seed: int = 0
    """Seed of everything random inside a step; the order of samples is up to the task."""
    batches_per_step: int = 1
    """Batches that one update sums over, in one process or divided evenly among several."""

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    """Decoupled (AdamW), for matrices only: biases and scales do not decay."""
    warmup: int = 0
    """Steps over which the learning rate rises to `lr`."""
    schedule: Literal["constant", "linear", "cosine", "steps"] = "constant"
    """After the warm-up: stay at `lr`, fall to zero at the end of the budget that is used up first, or fall in steps."""
    step_epochs: int = 50
    """With schedule=steps: after so many epochs each, the learning rate is multiplied by `step_factor`."""
    step_factor: float = 0.95
    clip: float | None = 1.0
    """The largest norm of the gradient."""
    ema: float | None = None
    """Decay of an exponential moving average of the weights, which is then validated and saved as best."""
    precision: Literal["float32", "bfloat16", "float16"] = "float32"

    max_steps: int | None = None
    max_epochs: int | None = None
    max_samples: float | None = None
    max_minutes: float | None = None
    """Running time including validation, summed over resumed runs. A schedule that falls with time is not repeatable."""
    max_core_minutes: float | None = None
    """The same in processor time, summed over threads and processes: other programs on the machine do not shorten a run."""

    validate_every: int = 1000
    """In steps; the run also validates at its end."""
    watch: str = "loss"
    """The validation metric that decides which model is best."""
    mode: Literal["min", "max"] = "min"
    patience: int | None = None
    """Stop after this many validations without improvement."""

    log_every: int = 10
    checkpoint_steps: int | None = None
    checkpoint_minutes: float | None = 10.0
    tensorboard: bool = False

    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = None
    """Threads of torch in each process; None lets torch choose."""

    def __post_init__(self) -> None:
        for name in ("batches_per_step", "validate_every", "log_every", "step_epochs"):
            self._expect(name, "an int of at least 1", lambda value: type(value) is int and value >= 1)
        for name in ("max_steps", "max_epochs", "patience", "checkpoint_steps", "threads"):
            self._expect(
                name, "an int of at least 1 or None", lambda v: v is None or (type(v) is int and v >= 1)
            )
        for name in ("clip", "max_samples", "max_minutes", "max_core_minutes", "checkpoint_minutes"):
            self._expect(name, "a number above 0 or None", lambda value: value is None or value > 0)
        for name in ("seed", "warmup"):
            self._expect(name, "an int of at least 0", lambda value: type(value) is int and value >= 0)
        self._expect("lr", "a number above 0", lambda value: 0 < value < math.inf)
        self._expect("step_factor", "a number above 0 and at most 1", lambda value: 0 < value <= 1)
        self._expect("weight_decay", "a number of at least 0", lambda value: 0 <= value < math.inf)
        self._expect(
            "betas", "two numbers from 0 up to 1", lambda value: all(0 <= beta < 1 for beta in value)
        )
        self._expect("ema", "a number between 0 and 1 or None", lambda value: value is None or 0 < value < 1)
        for name in ("schedule", "precision", "mode", "device"):
            choices = get_args(get_type_hints(type(self))[name])
            self._expect(name, f"one of {', '.join(choices)}", choices.__contains__)
        budgets = (self.max_steps, self.max_epochs, self.max_samples, self.max_minutes, self.max_core_minutes)
        if all(limit is None for limit in budgets):
            raise ValueError(
                "set at least one of max_steps, max_epochs, max_samples, max_minutes, max_core_minutes"
            )
        if self.falls_to_zero and self.max_steps is not None and self.max_steps <= self.warmup:
            raise ValueError(
                f"max_steps: expected more than warmup={self.warmup}, after which schedule={self.schedule!r} falls, "
                f"got {self.max_steps}"
            )

    def _expect(self, name: str, what: str, holds: Callable[[Any], bool]) -> None:
        value = getattr(self, name)
        if not holds(value):
            raise ValueError(f"{name}: expected {what}, got {value!r}")

    def may_change(self) -> frozenset[str]:
        """The settings that a resumed run may change: no weight depends on them, except on time, which never repeats."""
        free = {"max_minutes", "max_core_minutes", "validate_every", "patience", "log_every"}
        free |= {"checkpoint_steps", "checkpoint_minutes", "tensorboard", "device", "threads"}
        budgets = {"max_steps", "max_epochs", "max_samples"}
        return frozenset(free if self.falls_to_zero else free | budgets)

    @property
    def falls_to_zero(self) -> bool:
        """Whether the learning rate depends on the budget."""
        return self.schedule in ("linear", "cosine")


@dataclass(kw_only=True)
class State:
    """The numbers of a run that change with every step; a checkpoint holds them."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    """The next batch in the epoch."""
    epoch_size: int = 1
    samples: float = 0.0
    seconds: float = 0.0
    """Running time, summed over resumed runs."""
    core_seconds: float = 0.0
    """Processor time of all processes, summed over resumed runs: a busy machine does not add to it."""
    logged: dict[str, float] = field(default_factory=dict)
    """Sums since the last record of the log."""
    logged_weight: float = 0.0
    validated: int = 0
    """The step of the last validation."""
    best: float | None = None
    best_step: int = 0
    waited: int = 0
    """Validations since the best one."""


def ended_by(settings: TrainSettings, state: State) -> str | None:
    """The setting that ends the run here, or None."""
    if settings.patience is not None and state.waited >= settings.patience:
        return "patience"
    return next((name for name, (used, limit) in _budgets(settings, state).items() if used >= limit), None)


def progress(settings: TrainSettings, state: State) -> float:
    """How much of the budget that will be used up first is used, from 0 to 1; steps count from the end of the warm-up."""
    shares = {name: used / limit for name, (used, limit) in _budgets(settings, state).items()}
    if settings.max_steps is not None and settings.max_steps > settings.warmup:
        shares["max_steps"] = (state.step - settings.warmup) / (settings.max_steps - settings.warmup)
    return min(1.0, max(0.0, *shares.values()))


def seconds_left(settings: TrainSettings, begin: State, now: State) -> float:
    """The time until the first budget is used up, at the speed since `begin`."""
    elapsed = now.seconds - begin.seconds
    used_before = _budgets(settings, begin)
    times = [
        (limit - used) * elapsed / (used - used_before[name][0])
        for name, (used, limit) in _budgets(settings, now).items()
        if used > used_before[name][0]
    ]
    return max(0.0, min(times, default=0.0))


def _budgets(settings: TrainSettings, state: State) -> dict[str, tuple[float, float]]:
    """Of each budget that is set, what is used and the limit."""
    limits = {
        "max_steps": (state.step, settings.max_steps),
        "max_epochs": (state.epoch + state.batch / state.epoch_size, settings.max_epochs),
        "max_samples": (state.samples, settings.max_samples),
        "max_minutes": (state.seconds / 60, settings.max_minutes),
        "max_core_minutes": (state.core_seconds / 60, settings.max_core_minutes),
    }
    return {name: (used, limit) for name, (used, limit) in limits.items() if limit is not None}
