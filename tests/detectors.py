"""A tiny detector for tests of scanning: its weights are random, so it finds something in most functions."""

from dataclasses import replace
from pathlib import Path

import torch
from tests.bugs.samples import all_samples

from hyperheat.bugs.calibrated import add_calibration
from hyperheat.bugs.export import export_detector
from hyperheat.bugs.folder import DetectorConfig, new_detector
from hyperheat.bugs.onnx.calibration import HELD_OUT, Calibration, Curve, Point
from hyperheat.nn import VARIANTS
from hyperheat.tensors import Vocabulary

__all__ = ["CALIBRATION", "export_tiny_detector"]

CALIBRATION = Calibration(
    slope=1.0,
    intercept=0.0,
    bug_rate=0.05,
    tiers={"A": 0.5, "B": 0.2},
    curves=(
        Curve(
            data=HELD_OUT,
            functions=200,
            bugs=100,
            bug_rate=0.05,
            error=0.01,
            points=(
                Point(confidence=0.2, precision=0.6, lower=0.5, recall=0.7, false_alarms=0.1),
                Point(confidence=0.5, precision=0.9, lower=0.8, recall=0.4, false_alarms=0.01),
            ),
        ),
    ),
)
"""One under which confidence is the model's own probability."""


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
