"""The training loop: a task gives `fit` a `Job`. Read `loop.py` first, then the files in the order it names them."""

from hyperheat.train.job import Job
from hyperheat.train.log import draw_curves, read_metrics
from hyperheat.train.loop import TrainingError, TrainOutcome, fit
from hyperheat.train.run import TrainSettings

__all__ = [
    "Job",
    "TrainOutcome",
    "TrainSettings",
    "TrainingError",
    "draw_curves",
    "fit",
    "read_metrics",
]
