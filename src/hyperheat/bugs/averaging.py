"""The mean of trained detectors: one network that costs no more than each of them.

Detectors that went on from the same weights, each with other samples, often lie in one valley of the loss, and their mean
lies deeper in it than any of them. Processes that train apart and are averaged from time to time also wait for each
other less than those that share every step.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from hyperheat.bugs.trained_detector import DetectorConfig, TrainedDetector, load_trained, new_detector

__all__ = ["average_detectors"]


def average_detectors(folders: Sequence[str | Path], shares: Sequence[float] = ()) -> TrainedDetector:
    """The weighted mean of detectors of one kind with one vocabulary; all count alike unless their shares are given."""
    if len(folders) < 2:
        raise ValueError(f"model: expected at least two detectors, got {len(folders)}")
    shares = [*shares] or [1.0] * len(folders)
    if len(shares) != len(folders) or not all(share > 0 for share in shares):
        raise ValueError(f"share: expected {len(folders)} numbers above 0, got {shares}")
    detectors = [load_trained(folder) for folder in folders]
    first = detectors[0]
    for folder, other in zip(folders[1:], detectors[1:], strict=True):
        if _kind(other) != _kind(first):
            raise ValueError(
                f"{folder}: expected a detector like {folders[0]}, got another network or vocabulary"
            )
    states = [detector.model.state_dict() for detector in detectors]
    mean = new_detector(first.config, first.vocab)
    mean.model.load_state_dict({name: _mean([state[name] for state in states], shares) for name in states[0]})
    return mean


def _kind(detector: TrainedDetector) -> tuple[DetectorConfig, str]:
    """What the weights of a detector mean; dropout has no weights."""
    model = replace(detector.config.model, dropout=0.0)
    return replace(detector.config, model=model), detector.vocab.fingerprint


def _mean(tensors: Sequence[torch.Tensor], shares: Sequence[float]) -> torch.Tensor:
    weighted = [share * tensor.double() for share, tensor in zip(shares, tensors, strict=True)]
    return (torch.stack(weighted).sum(0) / sum(shares)).to(tensors[0].dtype)
