"""The loop. A step sums the gradients of its batches, in one process or several, and divides by their weight:

    g = sum over the batches b of the step of d loss(b) / dw, divided by sum of weight(b)

Everything random in a batch is seeded from (seed, step, place of the batch in the step), and the batches of an epoch are a
function of the epoch. So neither the number of processes nor being killed and resumed changes the result, the latter not
by a single bit.

Read on: job.py (batches), learner.py (the update), run.py (settings, budgets), checkpoint.py, log.py, process.py.
"""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from hyperheat.progress import duration
from hyperheat.train.checkpoint import latest, prepare, read_checkpoint, whole_folder, write_checkpoint
from hyperheat.train.job import Job, Step, StreamPosition, prefetch, steps
from hyperheat.train.learner import Learner
from hyperheat.train.log import RunReport
from hyperheat.train.process import (
    Interrupt,
    World,
    forget_products,
    freed_memory_kept,
    join,
    repeatable,
    seed_batch,
)
from hyperheat.train.run import State, TrainSettings, ended_by

__all__ = ["TrainOutcome", "TrainingError", "fit"]

B = TypeVar("B")
T = TypeVar("T")


class TrainingError(RuntimeError):
    """The run cannot continue; its last checkpoint is kept."""


@dataclass(frozen=True, kw_only=True)
class TrainOutcome:
    """How a run ended."""

    ended_by: str
    """The name of the setting whose limit was reached, or `signal`."""
    step: int
    epoch: int
    samples: float
    seconds: float
    best: float | None
    """The watched number of the model in `best/`; None before the first validation."""
    best_step: int


def fit(job: Job[B, T], settings: TrainSettings, folder: str | Path, *, resume: bool = False) -> TrainOutcome:
    """Train `job.model` and keep checkpoints, the log and the best model in a folder.

    With `resume` it continues from the last checkpoint, or starts if there is none.
    """
    forget_products()
    with (
        repeatable(settings.threads),
        freed_memory_kept(),
        join(settings.device) as world,
        Interrupt() as interrupt,
    ):
        return _Run(job, settings, Path(folder), world, interrupt, resume=resume).train()


class _Run(Generic[B, T]):
    """A run in one of its processes."""

    def __init__(
        self,
        job: Job[B, T],
        settings: TrainSettings,
        folder: Path,
        world: World,
        interrupt: Interrupt,
        *,
        resume: bool,
    ) -> None:
        if settings.batches_per_step % world.size:
            raise ValueError(
                f"batches_per_step: expected a multiple of the {world.size} processes, "
                f"got {settings.batches_per_step}"
            )
        self.job, self.settings, self.folder = job, settings, folder
        self.world, self.interrupt = world, interrupt
        if world.first:
            prepare(folder, settings, job.describe(), resume=resume)
        world.sum([0.0])  # the others wait here until the folder is ready
        job.model.to(world.device).train()
        self.learner = Learner(job.model, settings)
        self.state = State()
        if (checkpoint := latest(folder)) is not None:
            self._restore(checkpoint)
        if world.sum([self.state.step])[0] != self.state.step * world.size:
            raise ValueError(
                f"{folder}: the processes see different checkpoints; use a folder that they all share"
            )
        self.loss = world.wrap(_Loss(job))
        self.saved = replace(self.state)
        self.report: RunReport | None = None
        self.begun = time.monotonic() - self.state.seconds
        self.worked = time.process_time() - (self.state.core_seconds if world.first else 0.0)

    def train(self) -> TrainOutcome:
        """Run steps until a budget or the patience is used up, or a signal arrives."""
        state, settings = self.state, self.settings
        plan, ahead = tee(
            steps(self.job, settings.batches_per_step, StreamPosition(state.epoch, state.batch))
        )
        mine = (batch for step in ahead for batch in self.world.share(step.batches))
        with closing(prefetch(mine, self.job.load)) as loaded, self._reporting():
            stopped = False
            while (ended := ended_by(settings, state)) is None and not stopped:
                stopped = self._step(next(plan), loaded)
                if state.step % settings.validate_every == 0:
                    self._validate()
                if self._checkpoint_is_due():
                    self._checkpoint()
            if ended is not None and state.validated != state.step:
                self._validate()
            if (self.saved.step, self.saved.validated) != (state.step, state.validated):
                self._checkpoint()
            outcome = self._outcome(ended or "signal")
            if self.report is not None:
                self.report.say(_farewell(outcome, settings, self.folder))
        return outcome

    def _step(self, step: Step[B], loaded: Iterator[T]) -> bool:
        """One update; returns whether a signal asks to stop."""
        state, world = self.state, self.world
        sums: dict[str, float] = {}
        places = world.share(range(self.settings.batches_per_step))
        for place in places:
            with self._out_of_memory_explained(step), self._synchronised(place == places[-1]):
                logged = self._add_gradient(next(loaded), step.weight, place)
            if sums and sums.keys() != logged.keys():
                raise ValueError(
                    f"loss: expected to log {', '.join(sums)} in every batch, got {', '.join(logged)}"
                )
            sums = {name: sums.get(name, 0.0) + value for name, value in logged.items()}
        elapsed = time.monotonic() - self.begun if world.first else 0.0
        work = time.process_time() - self.worked
        *totals, elapsed, work, signals = world.sum(
            [*sums.values(), elapsed, work, float(self.interrupt.requested)]
        )
        sums = dict(zip(sums, totals, strict=True))
        self._expect_finite("loss", sums["loss"])
        norm = self.learner.update(state)
        if not self.learner.scaler.is_enabled():
            self._expect_finite("norm of the gradient", norm)
        state.step += 1
        state.epoch, state.batch = step.end
        state.epoch_size = step.epoch_size
        state.samples += step.weight
        state.seconds, state.core_seconds = elapsed, work
        self._tell(sums, step.weight, norm)
        return signals > 0

    def _add_gradient(self, tensors: T, weight: float, place: int) -> dict[str, float]:
        """Forward and backward of one batch; returns the sums to log."""
        seed_batch(self.settings.seed, self.state.step, place)
        with self.learner.autocast:
            loss, logged = self.loss(tensors)
        # The processes average their gradients, hence the factor.
        self.learner.backward(loss * (self.world.size / weight))
        return {name: float(value) for name, value in {**logged, "loss": loss.detach()}.items()}

    def _tell(self, sums: Mapping[str, float], weight: float, norm: float) -> None:
        """Collect the sums of a step, and log means every so many steps."""
        state = self.state
        if self.report is not None:
            self.report.show(state, sums["loss"] / weight)
        state.logged = {name: state.logged.get(name, 0.0) + value for name, value in sums.items()}
        state.logged_weight += weight
        if state.step % self.settings.log_every == 0:
            means = {name: total / state.logged_weight for name, total in state.logged.items()}
            state.logged, state.logged_weight = {}, 0.0
            if self.report is not None:
                self.report.log(state, {**means, "lr": self.learner.rate, "norm": norm})

    def _validate(self) -> None:
        """Measure the model in the first process, which keeps it if it is the best."""
        state = self.state
        value = self.world.from_first(math.nan if self.report is None else self._measure(self.report))
        state.validated = state.step
        if _is_better(value, state.best, self.settings.mode):
            state.best, state.best_step, state.waited = value, state.step, 0
        else:
            state.waited += 1

    def _measure(self, report: RunReport) -> float:
        state, watch = self.state, self.settings.watch
        with self.learner.averaged(), torch.no_grad(), self.learner.autocast:
            values = dict(self.job.validate())
            if watch not in values:
                raise ValueError(f"watch: expected one of {', '.join(values)}, got {watch!r}")
            if _is_better(values[watch], state.best, self.settings.mode):
                with whole_folder(self.folder / "best") as folder:
                    self.job.save(folder)
        report.log(state, {"valid": values})
        shown = "  ".join(f"{name} {number:.4f}" for name, number in values.items())
        report.say(f"step {state.step:,}  valid  {shown}")
        return values[watch]

    def _checkpoint_is_due(self) -> bool:
        steps, minutes = self.settings.checkpoint_steps, self.settings.checkpoint_minutes
        by_steps = steps is not None and self.state.step % steps == 0
        return by_steps or (minutes is not None and self.state.seconds - self.saved.seconds >= 60 * minutes)

    def _checkpoint(self) -> None:
        self.saved = replace(self.state)
        if self.world.first:
            self.learner.model.eval()
            write_checkpoint(
                self.folder,
                self.state,
                save=self.job.save,
                tensors=self.learner.tensors(),
                scale=self.learner.scaler.state_dict(),
            )
            self.learner.model.train()

    def _restore(self, checkpoint: Path) -> None:
        self.state, tensors, scale = read_checkpoint(checkpoint)
        try:
            self.learner.restore(tensors, scale)
        except ValueError as error:
            raise ValueError(f"{checkpoint / 'training.safetensors'}: {error}") from error

    def _outcome(self, ended: str) -> TrainOutcome:
        state = self.state
        return TrainOutcome(
            ended_by=ended,
            step=state.step,
            epoch=state.epoch,
            samples=state.samples,
            seconds=state.seconds,
            best=state.best,
            best_step=state.best_step,
        )

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """The log and the progress, in the first process."""
        if not self.world.first:
            yield
            return
        with closing(RunReport(self.settings, self.folder, self.state)) as self.report:
            yield

    def _synchronised(self, last: bool) -> AbstractContextManager[None]:
        """Whether the processes exchange gradients after a batch: only after the last of the step."""
        if isinstance(self.loss, DistributedDataParallel) and not last:
            return self.loss.no_sync()
        return nullcontext()

    def _expect_finite(self, what: str, value: float) -> None:
        if not math.isfinite(value):
            checkpoint = latest(self.folder)
            kept = f"the last checkpoint is {checkpoint}" if checkpoint else "there is no checkpoint yet"
            raise TrainingError(
                f"step {self.state.step + 1}: the {what} is {value}; {kept}. "
                "Try a lower lr, a longer warmup or a smaller clip"
            )

    @contextmanager
    def _out_of_memory_explained(self, step: Step[B]) -> Iterator[None]:
        try:
            yield
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if type(error) is RuntimeError and "can't allocate memory" not in str(error):
                raise
            weights = [self.job.weight(batch) for batch in step.batches]
            raise TrainingError(
                f"step {self.state.step + 1}: out of memory on a batch of up to {max(weights):g} samples; "
                f"use smaller batches, and raise batches_per_step to compensate ({error})"
            ) from error


class _Loss(nn.Module):
    """The loss as a module, so that DistributedDataParallel can wrap it."""

    def __init__(self, job: Job[Any, Any]) -> None:
        super().__init__()
        self.model = job.model
        self._job = job

    def forward(self, tensors: Any) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        return self._job.loss(tensors)


def _is_better(value: float, best: float | None, mode: str) -> bool:
    if not math.isfinite(value):
        return False
    return best is None or (value < best if mode == "min" else value > best)


def _farewell(outcome: TrainOutcome, settings: TrainSettings, folder: Path) -> str:
    trained = f"{outcome.step:,} steps, {outcome.samples:,.0f} samples, {duration(outcome.seconds)}"
    if outcome.ended_by == "signal":
        return f"interrupted after {trained}; to continue, run the same command with --resume"
    ended = f"finished after {trained} ({outcome.ended_by} reached)"
    if outcome.best is None:
        return f"{ended}; no model was saved, because {settings.watch} was never finite"
    return (
        f"{ended}; best {settings.watch} {outcome.best:.4f} at step {outcome.best_step:,}: {folder / 'best'}"
    )
