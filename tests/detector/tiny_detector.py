"""A tiny detector for tests of scanning: its weights are random, so it finds something in most functions."""

from dataclasses import replace
from pathlib import Path

import torch
from tests.check.scores import CALIBRATION as TIERED
from tests.detector.samples import all_samples

from hyperheat.bugs.export import export_detector
from hyperheat.bugs.trained_detector import DetectorConfig, new_detector
from hyperheat.detector.alarms import AlarmPoint
from hyperheat.detector.calibration import add_calibration
from hyperheat.nn import VARIANTS
from hyperheat.tensors import Vocabulary

__all__ = ["CALIBRATION", "export_tiny_detector"]

assert TIERED.alarms is not None
_FINE = (AlarmPoint(confidence=(50 + i) / 1000, alarms=25_000 - 100 * i, upper=1 / 31) for i in range(150))
CALIBRATION = replace(TIERED, alarms=replace(TIERED.alarms, points=(*_FINE, *TIERED.alarms.points[1:])))
"""The same tiers, with a rate of its own for each confidence in tier C, where most findings are."""
assert CALIBRATION.tiers == TIERED.tiers


def export_tiny_detector(folder: Path) -> Path:
    """Write the detector into a folder; it is the same every time."""
    vocab = Vocabulary.build(sample.graph for sample in all_samples())
    config = replace(VARIANTS["heat"], dim=16, layers=2, heads=4, ff=24)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        detector = new_detector(DetectorConfig(model=config), vocab)
        for parameter in detector.model.parameters():  # logits that differ
            torch.nn.init.normal_(parameter, std=0.3 if parameter.dim() == 2 else 0.5)
    detector.model.eval()
    export_detector(detector, folder, facts={}, licence="MIT")
    add_calibration(folder, CALIBRATION)
    return folder
