"""Stages of a build that fail in every way a process can."""

import errno
import os
import signal
import time

from hyperheat.bugs.corpus.build import PackageJob
from hyperheat.bugs.corpus.packages import PassingError


def fail_by_name(job: PackageJob) -> int:
    """Do what the name of the package says."""
    if job.name == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.name == "exit":
        os._exit(3)
    if job.name == "hang":
        time.sleep(600)
    if job.name == "full":
        raise OSError(errno.ENOSPC, "No space left on device")
    if job.name == "bad":
        raise ValueError("expected good, got bad")
    if job.name == "threads":
        return int(os.environ["OMP_NUM_THREADS"])
    if job.name == "offline":
        raise PassingError("expected a network, got none")
    return len(job.name)
