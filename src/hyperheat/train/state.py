"""Where a run stands, when it is over, and how long that may take."""

from dataclasses import dataclass, field

from hyperheat.train.settings import TrainSettings

__all__ = ["State", "ended_by", "seconds_left"]


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
    """Of running, summed over resumed runs."""
    logged: dict[str, float] = field(default_factory=dict)
    """Sums since the last line of the log."""
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
    }
    return {name: (used, limit) for name, (used, limit) in limits.items() if limit is not None}
