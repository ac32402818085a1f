"""The same jobs as tasks of a Ray cluster, for more than one machine.

All machines need hyperheat installed and the folder of the corpus, and of the sources, under the same path.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from hyperheat.bugs.corpus.outcome import Outcome, attempt
from hyperheat.bugs.corpus.pool import SECONDS_PER_PACKAGE

__all__ = ["run_on_ray"]

Job = TypeVar("Job")


def run_on_ray(
    stage: Callable[[Job], int], jobs: Iterable[Job], address: str, *, seconds: float = SECONDS_PER_PACKAGE
) -> Iterator[tuple[Job, Outcome]]:
    """Do the jobs on a cluster, `local` being one that is started here, and yield each with its outcome."""
    ray = _connect(address)
    running: dict[Any, tuple[Job, float]] = {}
    try:
        task = ray.remote(num_cpus=1, max_retries=1)(attempt)
        at_once = max(1, int(ray.cluster_resources().get("CPU", 1)))
        left = iter(jobs)
        while True:
            while len(running) < at_once and (job := next(left, None)) is not None:
                running[task.remote(stage, job)] = (job, time.monotonic() + seconds)
            if not running:
                return
            remaining = min(deadline for _, deadline in running.values()) - time.monotonic()
            done, _ = ray.wait(list(running), timeout=max(remaining, 0))
            for reference in done:
                yield running.pop(reference)[0], _outcome(ray, reference)
            late = [reference for reference, (_, end) in running.items() if end <= time.monotonic()]
            for reference in late:
                ray.cancel(reference, force=True)
                problem = f"it took more than {seconds:g} s"
                yield running.pop(reference)[0], Outcome(problem=problem, passing=True)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _connect(address: str) -> Any:
    """Ray, connected; the connection stays for the next pass and ends with the process."""
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            f"ray is needed for --ray ({error}): pip install 'hyperheat[ray]'", name="ray"
        ) from None
    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConnectionError(f"{address}: expected a Ray cluster, got: {error}") from None
    return ray


def _outcome(ray: Any, reference: Any) -> Outcome:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(problem=f"its Ray task failed: {str(error).splitlines()[0]}")
