"""The one training loop: a task hands a `Job` to `fit`. Read `loop.py` first, then the files in the order it names them."""

from hyperheat.train.curves import draw_curves
from hyperheat.train.job import Job
from hyperheat.train.loop import Outcome, TrainingError, fit
from hyperheat.train.metrics import read_metrics
from hyperheat.train.override import cook, from_dict, override, to_dict
from hyperheat.train.settings import TrainSettings

__all__ = [
    "Job",
    "Outcome",
    "TrainSettings",
    "TrainingError",
    "cook",
    "draw_curves",
    "fit",
    "from_dict",
    "override",
    "read_metrics",
    "to_dict",
]
