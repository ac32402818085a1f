"""Model folders made to do harm, each with a manifest that fits its files."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

__all__ = ["MODELS", "relist"]

_NESTED = "[" * 100_000
_WEIGHTS = "model.safetensors"


def relist(folder: Path) -> None:
    """Make the manifest fit the files, as one who means harm would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        content = (folder / name).read_bytes()
        entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (folder / "manifest.json").write_text(json.dumps(manifest))


def nested_config(folder: Path) -> None:
    (folder / "config.json").write_text(_NESTED)


def nested_vocabulary(folder: Path) -> None:
    (folder / "vocab.json").write_text(_NESTED)


def nested_header(folder: Path) -> None:
    (folder / _WEIGHTS).write_bytes(len(_NESTED).to_bytes(8, "little") + _NESTED.encode())


def huge_width(folder: Path) -> None:
    _change_model(folder, dim=10**9)


def huge_vocabulary(folder: Path) -> None:
    vocab = json.loads((folder / "vocab.json").read_text())
    vocab["names"] += [f"name{number}" for number in range(100_000)]
    (folder / "vocab.json").write_text(json.dumps(vocab))


def wrong_width(folder: Path) -> None:
    _change_model(folder, dim=8000)


def many_layers(folder: Path) -> None:
    _change_model(folder, layers=256)


def huge_shape(folder: Path) -> None:
    """A tensor of 16 TB, which the file has no bytes for."""
    _change_header(folder, lambda entry: entry.update(shape=[1 << 21, 1 << 21]))


def bytes_of_another_tensor(folder: Path) -> None:
    _change_header(
        folder, lambda entry: entry.update(data_offsets=[0, np.subtract(*entry["data_offsets"][::-1]).item()])
    )


def huge_header(folder: Path) -> None:
    (folder / _WEIGHTS).write_bytes((1 << 62).to_bytes(8, "little") + b"{}")


def weights_that_are_no_numbers(folder: Path) -> None:
    _change_weights(folder, lambda values: np.full_like(values, np.nan))


def weights_beyond_numbers(folder: Path) -> None:
    _change_weights(folder, lambda values: np.full_like(values, 3e38))


def weights_of_another_shape(folder: Path) -> None:
    _change_weights(folder, lambda values: np.ascontiguousarray(values.T))


def _change_model(folder: Path, **settings: int) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model"]["HeatConfig"] |= settings
    (folder / "config.json").write_text(json.dumps(config))


def _change_weights(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    tensors = load_file(folder / _WEIGHTS)
    save_file({name: change(x) if x.ndim == 2 else x for name, x in tensors.items()}, folder / _WEIGHTS)


def _change_header(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what the header says of the last tensor."""
    content = (folder / _WEIGHTS).read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    change(header[max(header.keys() - {"__metadata__"}, key=lambda name: header[name]["data_offsets"])])
    changed = json.dumps(header).encode()
    (folder / _WEIGHTS).write_bytes(len(changed).to_bytes(8, "little") + changed + content[8 + size :])


MODELS: dict[Callable[[Path], None], str] = {
    nested_config: "config.json",
    nested_vocabulary: "vocab.json",
    nested_header: _WEIGHTS,
    huge_width: "config.json",
    huge_vocabulary: _WEIGHTS,
    wrong_width: _WEIGHTS,
    many_layers: _WEIGHTS,
    huge_shape: _WEIGHTS,
    bytes_of_another_tensor: _WEIGHTS,
    huge_header: _WEIGHTS,
    weights_that_are_no_numbers: _WEIGHTS,
    weights_beyond_numbers: _WEIGHTS,
    weights_of_another_shape: _WEIGHTS,
}
"""What breaks a model, and the file that is named."""
