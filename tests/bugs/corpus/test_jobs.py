"""Worker processes: what fails is named, and everything else is done."""

import subprocess
import sys
from pathlib import Path

from tests.bugs.corpus.faults import fail_by_name

from hyperheat.bugs.corpus import CorpusSettings, Package
from hyperheat.bugs.corpus.build import PackageJob
from hyperheat.bugs.corpus.jobs import JobResult, attempt, run_in_processes


def outcomes(names: list[str], workers: int) -> dict[str, tuple[int, str, str]]:
    jobs = [PackageJob(package=Package(name=name), out=Path(), settings=CorpusSettings()) for name in names]
    found = run_in_processes(fail_by_name, jobs, workers, seconds=10)
    return {job.name: (outcome.count, outcome.problem, concerns(outcome)) for job, outcome in found}


def concerns(outcome: JobResult) -> str:
    """What a failure is about."""
    return (
        "disk" if outcome.disk_full else "moment" if outcome.passing else "package" if outcome.problem else ""
    )


def test_a_job_that_crashes_hangs_or_fails_leaves_the_others_alone():
    assert outcomes(["crash", "one", "hang", "exit", "three", "bad", "full", "threads", "offline"], 2) == {
        "crash": (0, "its worker process ended by signal 9", "package"),
        "one": (3, "", ""),
        "hang": (0, "it took more than 10 s", "moment"),
        "exit": (0, "its worker process ended with exit code 3", "package"),
        "three": (5, "", ""),
        "bad": (0, "expected good, got bad", "package"),
        "full": (0, "No space left on device", "disk"),
        "threads": (1, "", ""),
        "offline": (0, "expected a network, got none", "moment"),
    }


def test_no_jobs_start_no_process():
    assert outcomes([], 2) == {}


def test_jobs_can_be_imported_first():
    """As a worker of a cluster does."""
    subprocess.run([sys.executable, "-c", f"import {attempt.__module__}"], check=True)
