"""A detector as a folder that torch trains and the checker runs. Loading it runs no code.

`detector.manifest` says what is in the folder. The checker runs HEAT and its variants; other encoders run in torch alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import hyperheat
from hyperheat.bugs.encoders import EncoderConfig, build_encoder, view_of
from hyperheat.bugs.model import BugModel
from hyperheat.configuration import from_dict, to_dict
from hyperheat.detector.manifest import (
    CALIBRATION,
    CONFIG_FORMAT,
    FILES,
    FORMAT,
    VERSION,
    WEIGHTS,
    describe_file,
)
from hyperheat.detector.sample import TEXTS
from hyperheat.detector.views import View
from hyperheat.files import parse_json, write_whole_text
from hyperheat.nn.weights import load_weights, save_weights
from hyperheat.tensors import Vocabulary

__all__ = [
    "MODEL_CARD",
    "DetectorConfig",
    "TrainedDetector",
    "load_trained",
    "new_detector",
    "save_trained",
]

MODEL_CARD = "MODEL_CARD.md"
"""What a detector is, for people: added by `bugs export`."""


@dataclass(frozen=True, kw_only=True)
class DetectorConfig:
    """What the weights are for."""

    model: EncoderConfig
    binarise: bool = False
    format: str = CONFIG_FORMAT

    def __post_init__(self) -> None:
        if self.format != CONFIG_FORMAT:
            raise ValueError(f"format: expected {CONFIG_FORMAT!r}, got {self.format!r}")


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
    """Write a detector; each file appears whole or not at all.

    The manifest is written last, so that a folder that was left half-written is refused. Files that were added to an
    earlier detector there, its calibration and model card, are removed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("manifest.json", CALIBRATION, MODEL_CARD):
        (folder / name).unlink(missing_ok=True)
    detector.vocab.save(folder / "vocab.json")
    _write_json(folder / "config.json", {**to_dict(detector.config), "texts": TEXTS})
    save_weights(detector.model, folder / WEIGHTS)
    listed = {name: describe_file(folder / name) for name in FILES}
    manifest = {"format": FORMAT, "version": VERSION, "hyperheat": hyperheat.__version__, "files": listed}
    _write_json(folder / "manifest.json", manifest)


def _write_json(path: Path, content: object) -> None:
    write_whole_text(path, json.dumps(content, indent=1) + "\n")


def load_trained(folder: str | Path) -> TrainedDetector:
    """Read what `save_trained` wrote, and refuse what does not fit."""
    folder = Path(folder)
    path = folder / "config.json"
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
        texts = values.pop("texts", None) if isinstance(values, dict) else None  # older folders have none
        if texts is not None and texts != [list(text) for text in TEXTS]:
            raise ValueError("made by a version with other kinds of rewrites; train it again")
        config = from_dict(DetectorConfig, values)
    except FileNotFoundError:
        raise ValueError(f"{folder}: not the folder of a trained detector: it has no config.json") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not the configuration of a detector: {error}") from error
    detector = new_detector(config, Vocabulary.load(folder / "vocab.json"))
    load_weights(detector.model, folder / WEIGHTS)
    detector.model.float().eval()  # weights that are stored in float16 are computed with in float32
    return detector
