"""One run of one row: train it, or go on with its training, measure the model, and write the record.

A run that the budget has no time for is cut: it sees a fixed part of its samples, over which the learning rate falls to
zero as it does in a complete run.
"""

import os
import platform
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch

import hyperheat
from hyperheat.bugs.corpus.workspace import hold_lock
from hyperheat.configuration import to_dict
from hyperheat.nn.fast import kernel
from hyperheat.progress import duration
from hyperheat.reproduce.budgets import fitting_samples
from hyperheat.reproduce.metering import MeteredJob, measure_rate, steps_until
from hyperheat.reproduce.paper_tables import TableName, TableRow, task_of, whole_samples
from hyperheat.reproduce.row_records import RowRecord, find_record, read_records, run_name, write_record
from hyperheat.train import Job, TrainOutcome, TrainSettings, fit, read_metrics
from hyperheat.train.checkpoint import latest, read_checkpoint

__all__ = ["RowOrder", "RowTask", "run_row"]

_VALIDATIONS = 8
_FEW_VALIDATIONS = 3
"""Of a cut run, which would spend most of its time on them otherwise."""
_WARMUP = 0.05
"""The share of the steps in which the learning rate rises."""
_SLOWER = 1.2
"""How much slower training is than measured in the beginning: updates, validation, checkpoints."""
_RESERVED = 30.0
"""Seconds that are kept for measuring the model."""
_LEAST_SECONDS = 3.0
"""Of training in one go, however short the budget is."""
_CUT_SECONDS = 60.0
"""Of the training of a cut run, however short the budget is."""
_PATIENCE = 1.5
"""How much longer than planned a cut run may take."""


class RowTask(Protocol):
    """The part of a row that depends on what it is about."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The name, the hash and the size of what it learns from."""
        ...

    @property
    def settings(self) -> Any:
        """What decides the model; `settings.train` is for the training loop."""
        ...

    def describe_settings(self) -> dict[str, Any]:
        """The settings as plain values."""
        ...

    def make_job(self, run: Path) -> Job[Any, Any]:
        """The training job; `run` is its folder."""
        ...

    def measure(self, model: Path, *, briefly: bool) -> tuple[dict[str, Any], float, int]:
        """Figures on validation data, samples answered per second, and the number of parameters."""
        ...

    def measure_finally(self, model: Path) -> dict[str, Any]:
        """Figures on test data, by data set."""
        ...

    def curve_point(self, valid: Mapping[str, float]) -> dict[str, float]:
        """What is drawn of a validation during training."""
        ...


@dataclass(frozen=True, kw_only=True)
class RowOrder:
    """What was asked for."""

    table: TableName
    row: TableRow
    size: str
    seed: int
    changes: tuple[str, ...] = ()
    samples: int | None = None
    """As many as a complete run sees unless given, or fewer if they do not fit before the deadline."""
    deadline: float | None = None
    """By `time.monotonic`."""
    work: Path
    final: bool = False

    def identity(self, task: RowTask) -> dict[str, Any]:
        """What tells runs apart, beside the number of samples."""
        return {
            "task": task_of(self.table),
            "row": self.row.name,
            "size": self.size,
            "seed": self.seed,
            "set": list(self.changes),
            "data": task.data["sha256"],
        }

    def command(self, task: RowTask, samples: int) -> str:
        """The command that makes this run again."""
        words = ["hyperheat", "reproduce", self.table, "--row", self.row.name, "--seed", str(self.seed)]
        words += ["--samples", str(samples)]
        words += ["--size", self.size] if self.size != "small" else []
        words += ["--set", *self.changes] if self.changes else []
        words += ["--corpus", "quick"] if task.data["name"] == "quick" else []
        words += ["--data", "DATA"] if task.data["name"] == "given" else []
        return shlex.join([*words, "--final"] if self.final else words)


def run_row(order: RowOrder, task: RowTask, say: Callable[[str], None]) -> RowRecord | None:
    """The record of a run; None if the budget ended it before it had seen its samples."""
    identity = order.identity(task)
    whole = whole_samples(order.row, order.size)
    records = read_records(order.work)
    done = find_record(records, **identity, samples=order.samples or whole)
    if done is None:
        kernel.use(None)
        torch.set_num_threads(1)
        name, done = _train(order, task, records, whole, say)
        if done is None:
            return None
    else:
        name = run_name(**identity, samples=done.samples)
        say(f"{order.row.name}, seed {order.seed}: already run with {done.samples:,} samples")
    if order.final and not done.final:
        done = replace(done, final=task.measure_finally(order.work / "runs" / name / "best"))
        write_record(order.work, name, done)
    return done


def _train(
    order: RowOrder, task: RowTask, records: Sequence[RowRecord], whole: int, say: Callable[[str], None]
) -> tuple[str, RowRecord | None]:
    """The name of a run, and its record if it has come to its end."""
    identity = order.identity(task)
    begun = None if order.deadline is None else _begun(order, identity)
    job = task.make_job(order.work / "runs" / run_name(**identity, samples=begun or whole))
    samples = order.samples or begun
    if samples is None:
        samples = _samples_in_time(order, job, whole, say)
        done = find_record(records, **identity, samples=samples)
        if done is not None:
            say(f"{order.row.name}, seed {order.seed}: already run with {done.samples:,} samples")
            return run_name(**identity, samples=done.samples), done
    name = run_name(**identity, samples=samples)
    run = order.work / "runs" / name
    with hold_lock(order.work / "locks" / name, f"another process is running {name}"):
        kept = latest(run)
        metered = MeteredJob(job, kept)
        settings = _schedule(
            task.settings.train,
            steps_until(job, samples),
            _FEW_VALIDATIONS if samples < whole else _VALIDATIONS,
        )
        say(
            f"{order.row.name}, seed {order.seed}: {'going on with' if kept else 'training on'} {samples:,} "
            f"samples ({settings.max_steps:,} steps), {_parameters(job):,} parameters"
        )
        may_pause = order.samples is not None or samples == whole
        if order.deadline is not None and not may_pause:
            settings = replace(settings, max_minutes=_latest_end(order.deadline, run))
        with _paused_at(order.deadline if may_pause else None) as pause:
            outcome = fit(metered, settings, run, resume=run.exists())
        if outcome.ended_by == "signal":
            if not pause.is_set():
                raise KeyboardInterrupt
            say("the budget is used up; run the same command again to go on")
            return name, None
        record = _record(order, task, run, metered, outcome, settings, samples=samples, whole=whole)
        write_record(order.work, name, record)
    return name, record


def _record(
    order: RowOrder,
    task: RowTask,
    run: Path,
    metered: MeteredJob[Any, Any],
    outcome: TrainOutcome,
    settings: TrainSettings,
    *,
    samples: int,
    whole: int,
) -> RowRecord:
    usage = metered.usage()
    valid, inference, parameters = task.measure(run / "best", briefly=samples < whole)
    ended_early = outcome.ended_by == "max_minutes"
    identity = {key: value for key, value in order.identity(task).items() if key != "data"}
    return RowRecord(
        **identity,
        samples=round(outcome.samples) if ended_early else samples,
        whole=whole,
        samples_seen=round(outcome.samples),
        steps=outcome.step,
        data=dict(task.data),
        settings={**task.describe_settings(), "train": to_dict(settings)},
        parameters=parameters,
        minutes=round(outcome.seconds / 60, 2),
        processor_seconds=round(usage.processor_seconds, 1),
        training_samples_per_second=round(
            outcome.samples / (usage.processor_seconds - usage.validation_seconds), 1
        ),
        inference_samples_per_second=round(inference, 1),
        peak_mb=usage.peak_mb,
        valid=valid,
        curve=[
            {"samples": record["samples"], "seconds": record["seconds"], **task.curve_point(record["valid"])}
            for record in read_metrics(run / "metrics.jsonl")
            if "valid" in record
        ],
        command=order.command(task, samples),
        hyperheat=hyperheat.__version__,
        python=platform.python_version(),
        torch=str(torch.__version__),
    )


def _latest_end(deadline: float, run: Path) -> float:
    """The minutes after which a cut run ends even if it has become much slower than it was when it was planned.

    The learning rate then falls with the time, and the run sees fewer samples than planned.
    """
    kept = latest(run)
    before = 0.0 if kept is None else read_checkpoint(kept)[0].seconds
    left = max(deadline - _RESERVED - time.monotonic(), _CUT_SECONDS)
    return (before + _PATIENCE * left) / 60


@contextmanager
def _paused_at(deadline: float | None) -> Iterator[threading.Event]:
    """Stop the training inside at a time, as Ctrl-C would; the event tells that it was this."""
    pause = threading.Event()

    def stop() -> None:
        pause.set()
        os.kill(os.getpid(), signal.SIGTERM)

    if deadline is None:
        yield pause
        return
    timer = threading.Timer(max(deadline - _RESERVED - time.monotonic(), _LEAST_SECONDS), stop)
    timer.daemon = True
    timer.start()
    try:
        yield pause
    finally:
        timer.cancel()


def _begun(order: RowOrder, identity: Mapping[str, Any]) -> int | None:
    """The number of samples of a run that was stopped before its end, the longest."""
    found = []
    for path in (order.work / "runs").glob("*/settings.json"):
        samples = path.parent.name.split("-")[-2]
        if samples.isdecimal() and path.parent.name == run_name(**identity, samples=int(samples)):
            ended = (order.work / "rows" / f"{path.parent.name}.json").exists()
            found += [] if ended else [int(samples)]
    return max(found, default=None)


def _samples_in_time(order: RowOrder, job: Job[Any, Any], whole: int, say: Callable[[str], None]) -> int:
    if order.deadline is None:
        return whole
    rate = measure_rate(job) / _SLOWER
    left = order.deadline - _RESERVED - time.monotonic()
    samples = fitting_samples(whole, rate, left)
    if samples < whole:
        say(
            f"a complete run sees {whole:,} samples, which takes {duration(whole / rate)} here: this run is cut to "
            f"{samples:,}, over which its learning rate falls to zero"
        )
    if samples > max(rate * left, 0.0):
        say(f"even that does not fit in the budget: it takes about {duration(samples / rate)}")
    return samples


def _schedule(train: TrainSettings, steps: int, validations: int) -> TrainSettings:
    return replace(
        train,
        max_steps=steps,
        warmup=min(round(_WARMUP * steps), steps - 1) if train.warmup else 0,
        validate_every=max(1, -(-steps // validations)),
    )


def _parameters(job: Job[Any, Any]) -> int:
    return sum(parameter.numel() for parameter in job.model.parameters())
