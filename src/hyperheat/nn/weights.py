"""The weights of a module as a safetensors file: no pickle, so loading runs no code."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from hyperheat.files import whole_file

__all__ = ["load_weights", "save_weights"]


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
