"""A trained model as a folder, of which no file is code:

config.json              the parts of the model
model.safetensors        its weights
names.json               entities, relations and labels
statements.safetensors   the statements that it was trained on, which its encoder reads
tokenizer.json           of labels, where they are read
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from hyperheat.files import parse_json, whole_file
from hyperheat.kg.neural.labels import BpeLabels
from hyperheat.kg.neural.model import ModelConfig, Names, StatementModel
from hyperheat.kg.statements import Statements
from hyperheat.nn.weights import load_weights, save_weights
from hyperheat.options import from_dict, to_dict

__all__ = ["TrainedModel", "load_model", "save_model"]

T = TypeVar("T")
_COLUMNS = ("subject", "relation", "object", "offsets", "qualifier", "value")


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedModel:
    """A model with all that is needed to ask it."""

    config: ModelConfig
    names: Names
    statements: Statements
    """what the encoder reads: the distinct statements of the training data"""
    model: StatementModel

    @classmethod
    def new(cls, config: ModelConfig, names: Names, statements: Statements) -> "TrainedModel":
        """A model with fresh weights from torch's random numbers."""
        return cls(config=config, names=names, statements=statements, model=StatementModel(config, names))

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def save_model(trained: TrainedModel, folder: str | Path) -> None:
    """Write a model; each file appears whole or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = asdict(trained.names)
    tokenizer = names.pop("tokenizer")
    texts = {"config.json": json.dumps(to_dict(trained.config), indent=2), "names.json": json.dumps(names)}
    if tokenizer is not None:
        texts["tokenizer.json"] = tokenizer
    for name, text in texts.items():
        with whole_file(folder / name) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
    with whole_file(folder / "statements.safetensors") as temporary:
        columns = {name: np.ascontiguousarray(getattr(trained.statements, name)) for name in _COLUMNS}
        save_file(columns, temporary)
    save_weights(trained.model, folder / "model.safetensors")


def load_model(folder: str | Path) -> TrainedModel:
    """Read what `save_model` wrote, and refuse what does not fit."""
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder}: expected the folder of a trained model, got no config.json")
    config = _read(folder / "config.json", lambda values: from_dict(ModelConfig, values))
    tokenizer = _read_tokenizer(folder / "tokenizer.json") if isinstance(config.labels, BpeLabels) else None
    names = _read(folder / "names.json", lambda values: _names(values, tokenizer))
    path = folder / "statements.safetensors"
    try:
        columns = {name: array for name, array in load_file(path).items() if name in _COLUMNS}
        statements = Statements(entities=names.entities, relations=names.relations, **columns)
    except (SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the statements of a model: {error}") from error
    trained = TrainedModel.new(config, names, statements)
    load_weights(trained.model, folder / "model.safetensors")
    trained.model.eval()
    return trained


def _names(values: dict[str, Any], tokenizer: str | None) -> Names:
    labels = dict(values["labels"])
    entities, relations = tuple(values["entities"]), tuple(values["relations"])
    for text in (*entities, *relations, *labels, *labels.values()):
        if not isinstance(text, str):
            raise ValueError(f"expected names and labels, got {text!r}")
    return Names(entities=entities, relations=relations, labels=labels, tokenizer=tokenizer)


def _read_tokenizer(path: Path) -> str:
    from tokenizers import Tokenizer

    text = path.read_bytes().decode("utf-8", "replace")
    try:
        Tokenizer.from_str(text)
    except Exception as error:  # the package has no class of its own for what it cannot read
        raise ValueError(f"{path}: not a tokenizer: {error}") from error
    return text


def _read(path: Path, build: Callable[[Any], T]) -> T:
    try:
        return build(parse_json(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: not a file of a trained model: {error}") from error
