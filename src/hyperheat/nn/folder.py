"""An encoder as a folder: `model.safetensors`, `config.json`, `vocab.json`. No pickle, so loading runs no code."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from hyperheat.files import parse_json, whole_file
from hyperheat.nn.config import HeatConfig
from hyperheat.nn.heat import HeatEncoder
from hyperheat.tensors import Vocabulary

__all__ = ["load_encoder", "load_weights", "save_encoder", "save_weights"]


def save_encoder(encoder: HeatEncoder, folder: str | Path) -> None:
    """Write an encoder; each file appears whole or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    encoder.vocab.save(folder / "vocab.json")
    with whole_file(folder / "config.json") as temporary:
        temporary.write_text(json.dumps(encoder.config.to_dict(), indent=2) + "\n", encoding="utf-8")
    save_weights(encoder, folder / "model.safetensors")


def load_encoder(folder: str | Path) -> HeatEncoder:
    """Read what `save_encoder` wrote."""
    folder = Path(folder)
    vocab = Vocabulary.load(folder / "vocab.json")
    try:
        values = parse_json((folder / "config.json").read_text(encoding="utf-8"))
        config = HeatConfig.from_dict(values)
        absent = config.to_dict().keys() - values.keys()
        if absent:
            raise ValueError(f"expected all settings, got none for {', '.join(sorted(absent))}")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / 'config.json'}: not a configuration: {error}") from error
    encoder = HeatEncoder(config, vocab)
    load_weights(encoder, folder / "model.safetensors")
    return encoder


def save_weights(module: nn.Module, path: str | Path) -> None:
    """Write the state dict of a module, whole or not at all."""
    with whole_file(path) as temporary:
        save_file(module.state_dict(), temporary)


def load_weights(module: nn.Module, path: str | Path) -> None:
    """Read what `save_weights` wrote, in its precision; refuse weights that are missing, misshapen or not finite."""
    try:
        weights = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path}: not a safetensors file: {error}") from error
    expected = module.state_dict()
    for name in sorted(expected.keys() | weights.keys()):
        shapes = [tuple(side[name].shape) if name in side else None for side in (expected, weights)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"{path}: {name}: expected shape {shapes[0]}, got {shapes[1]}")
        bad = int((~torch.isfinite(weights[name])).sum())
        if bad:
            raise ValueError(f"{path}: {name}: expected finite numbers, got {bad} that are NaN or infinite")
    precisions = [tensor.dtype for tensor in weights.values() if tensor.is_floating_point()]
    module.to(precisions[0] if precisions else None).load_state_dict(weights)
