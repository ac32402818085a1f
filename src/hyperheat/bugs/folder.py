"""A trained detector as a folder: `model.safetensors`, `config.json`, `vocab.json`. Loading it runs no code."""

import json
from dataclasses import dataclass
from pathlib import Path

from hyperheat.bugs.encoders import EncoderConfig, build_encoder, view_of
from hyperheat.bugs.model import BugModel
from hyperheat.configuration import from_dict, to_dict
from hyperheat.detector.views import View
from hyperheat.files import parse_json, whole_file
from hyperheat.nn.weights import load_weights, save_weights
from hyperheat.tensors import Vocabulary

__all__ = ["DetectorConfig", "TrainedDetector", "load_trained", "new_detector", "save_trained"]

_FORMAT = "hyperheat-bug-detector"


@dataclass(frozen=True, kw_only=True)
class DetectorConfig:
    """What the weights are for."""

    model: EncoderConfig
    binarise: bool = False
    format: str = _FORMAT

    def __post_init__(self) -> None:
        if self.format != _FORMAT:
            raise ValueError(f"format: expected {_FORMAT!r}, got {self.format!r}")


@dataclass(frozen=True, kw_only=True)
class TrainedDetector:
    """A model with all that is needed to ask it."""

    config: DetectorConfig
    vocab: Vocabulary
    model: BugModel

    @property
    def view(self) -> View:
        """How the model reads samples."""
        return view_of(self.config.model, binarise=self.config.binarise)

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def new_detector(config: DetectorConfig, vocab: Vocabulary) -> TrainedDetector:
    """A detector with fresh weights from torch's random numbers."""
    encoder = build_encoder(config.model, vocab)
    return TrainedDetector(
        config=config, vocab=vocab, model=BugModel(encoder, config.model.dim, config.model.dropout)
    )


def save_trained(detector: TrainedDetector, folder: str | Path) -> None:
    """Write a detector; each file appears whole or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    detector.vocab.save(folder / "vocab.json")
    with whole_file(folder / "config.json") as temporary:
        temporary.write_text(json.dumps(to_dict(detector.config), indent=2) + "\n", encoding="utf-8")
    save_weights(detector.model, folder / "model.safetensors")


def load_trained(folder: str | Path) -> TrainedDetector:
    """Read what `save_trained` wrote, and refuse what does not fit."""
    folder = Path(folder)
    path = folder / "config.json"
    try:
        config = from_dict(DetectorConfig, parse_json(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(f"{folder}: expected the folder of a trained detector, got no config.json") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not the configuration of a detector: {error}") from error
    detector = new_detector(config, Vocabulary.load(folder / "vocab.json"))
    load_weights(detector.model, folder / "model.safetensors")
    detector.model.eval()
    return detector
