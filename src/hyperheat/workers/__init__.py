"""Work in processes that may hang, run out of memory or crash without harm to the rest."""

from hyperheat.workers.limits import Limits, time_limit
from hyperheat.workers.pool import Lost, WorkersError, run_jobs

__all__ = ["Limits", "Lost", "WorkersError", "run_jobs", "time_limit"]
