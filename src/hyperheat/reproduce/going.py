"""Several runs, one after the other, each in a process of its own, so that its memory is its own."""

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperheat.reproduce.budgets import PlannedRun, describe_plan, share_budget
from hyperheat.reproduce.paper_tables import TABLES, TableName, task_of, whole_samples
from hyperheat.reproduce.row_records import find_record, read_records

__all__ = ["RunSeries", "run_alone", "run_series"]

_INTERRUPTED = (130, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes of a run that was told to stop."""


@dataclass(frozen=True, kw_only=True)
class RunSeries:
    """Runs of some tables, with the hash of the data that each task learns from."""

    tables: tuple[TableName, ...]
    size: str
    seeds: tuple[int, ...]
    work: Path
    hashes: dict[str, str]
    changes: tuple[str, ...] = ()
    samples: int | None = None
    options: tuple[str, ...] = ()
    """Words that every run is told, such as where the data is."""

    def missing(self) -> list[PlannedRun]:
        """The complete runs that have not been made, all rows with the first seed before those with the second."""
        records = read_records(self.work)
        left: dict[tuple[str, str, int], PlannedRun] = {}
        for seed in self.seeds:
            for table in self.tables:
                for row in TABLES[table]:
                    run = PlannedRun(table=table, row=row, size=self.size, seed=seed)
                    whole = whole_samples(row, self.size) if self.samples is None else self.samples
                    found = find_record(
                        records,
                        task=task_of(table),
                        row=row.name,
                        size=self.size,
                        seed=seed,
                        set=self.changes,
                        data=self.hashes[task_of(table)],
                        samples=whole,
                    )
                    if found is None and not row.on_request:
                        left.setdefault(run.key, run)
        return list(left.values())

    def command(self, run: PlannedRun, samples: int, minutes: float | None) -> list[str]:
        """The command of one run."""
        words = ["reproduce", run.table, "--row", run.row.name, "--seed", str(run.seed)]
        words += ["--size", self.size, "--samples", str(samples), "--work", str(self.work), *self.options]
        words += ["--set", *self.changes] if self.changes else []
        return words if minutes is None else [*words, "--budget", f"{minutes:.1f}"]


def run_series(
    series: RunSeries,
    *,
    minutes: float | None,
    say: Callable[[str], None],
    run: Callable[[Sequence[str]], int],
) -> list[str]:
    """Make the runs that are missing, as far as some minutes allow; returns the commands that failed.

    All see the same part of their samples: all of them without a limit, and with one as large a part as fits.
    """
    start = time.monotonic()
    runs = series.missing()
    if not runs:
        say("all rows have been run")
        return []
    samples = _divide(series, runs, minutes)
    say(describe_plan(runs, samples, minutes))
    failed = []
    for place, (planned, count) in enumerate(zip(runs, samples, strict=True)):
        left = None if minutes is None else minutes - (time.monotonic() - start) / 60
        if left is not None and left < planned.minutes(0):
            say(f"the budget is used up; {len(runs) - place} runs are left for the next time")
            break
        words = series.command(planned, count, left)
        say(f"\n[{place + 1} of {len(runs)}] hyperheat {shlex.join(words)}")
        code = run(words)
        if code in _INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            failed.append(shlex.join(["hyperheat", *words]))
    return failed


def _divide(series: RunSeries, runs: Sequence[PlannedRun], minutes: float | None) -> list[int]:
    if series.samples is not None:
        return [series.samples] * len(runs)
    divisor = 1 if minutes is None else share_budget(runs, minutes)
    return [whole_samples(run.row, run.size) // divisor for run in runs]


def run_alone(words: Iterable[str]) -> int:
    """Run a command of hyperheat in a process of its own, stop it if this one is stopped, and return its exit code."""
    process = subprocess.Popen([sys.executable, "-m", "hyperheat", *words])
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    except KeyboardInterrupt:  # of which the terminal told the other process, too: it saves its state
        return process.wait()
    finally:
        signal.signal(signal.SIGTERM, before)
