"""The folder of a detector, which `check --model` takes: its manifest, and files that are those of the manifest.

model.safetensors   the weights            vocab.json         the subtokens
config.json         sizes and parts        calibration.json   what was measured on held-out code, added later
manifest.json       size and sha256 of these

Importing this needs no numpy, so that a scan whose results are all known starts at once.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hyperheat
from hyperheat.files import SkippedFile, parse_json, read_regular

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "CALIBRATION",
    "CONFIG_FORMAT",
    "FILES",
    "FORMAT",
    "VERSION",
    "WEIGHTS",
    "LoadedModel",
    "ModelError",
    "describe_file",
    "key_of",
    "list_files",
    "load_detector_files",
    "read_folder",
    "read_listed",
]

FORMAT, VERSION = "hyperheat-detector", 2
"""What the manifest says it is."""

CONFIG_FORMAT = "hyperheat-bug-detector"
"""What config.json says it is."""

WEIGHTS = "model.safetensors"

FILES = (WEIGHTS, "vocab.json", "config.json")
"""What the manifest lists with size and sha256."""

CALIBRATION = "calibration.json"
"""A file that may be added to the folder and its manifest later."""

_MAX_BYTES = {WEIGHTS: 1 << 28, "vocab.json": 1 << 25, "config.json": 1 << 20, CALIBRATION: 1 << 22}


class ModelError(ValueError):
    """A file of a detector that cannot be used, in one sentence that begins with its name."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """What is in the folder of a detector."""

    folder: Path
    weights: "dict[str, np.ndarray]"
    sha256: str
    """That of the weights."""
    key: str
    """Names the content of the folder."""
    config: bytes
    vocab: bytes


def load_detector_files(folder: str | Path) -> LoadedModel:
    """Read a folder; raises ValueError in one sentence if a file is damaged or not what it should be."""
    from hyperheat.detector.tensor_file import read_tensors

    folder = Path(folder)
    listed = list_files(folder)
    files = {name: read_listed(folder / name, listed[name]) for name in FILES}
    try:
        weights = read_tensors(files[WEIGHTS])
    except ValueError as error:
        raise ModelError(f"{folder / WEIGHTS}: not the weights of a detector: {error}") from None
    return LoadedModel(
        folder=folder,
        weights=weights,
        sha256=str(listed[WEIGHTS]["sha256"]),
        key=key_of(listed),
        config=files["config.json"],
        vocab=files["vocab.json"],
    )


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of a detector by name, if they are those of its manifest: `FILES`, perhaps `CALIBRATION`."""
    return {name: read_listed(folder / name, entry) for name, entry in list_files(folder).items()}


def key_of(listed: Mapping[str, dict[str, Any]]) -> str:
    """A name for the files that a manifest lists and for this version: results under one key can be compared."""
    digests = [str(listed[name].get("sha256")) for name in sorted(listed)]
    return hashlib.sha256("\0".join([hyperheat.__version__, *digests]).encode()).hexdigest()


def list_files(folder: Path) -> dict[str, dict[str, Any]]:
    """What the manifest of a detector says of each file."""
    path = folder / "manifest.json"
    try:
        manifest = parse_json(_read(path, 1 << 16))
    except FileNotFoundError:
        raise ValueError(f"{folder}: not a detector: there is no manifest.json in this folder") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except SkippedFile as error:
        raise ValueError(f"{path}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not a manifest: {error}") from None
    if isinstance(manifest, dict) and manifest.get("format") == "hyperheat-onnx-detector":
        raise ValueError(
            f"{folder}: this detector has the old format with model.onnx; export it again with `hyperheat bugs export`"
        )
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path}: expected the format {FORMAT!r}, got something else")
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"{path}: expected version {VERSION} of the format, got {manifest.get('version')!r:.50}"
        )
    listed = manifest.get("files")
    if not isinstance(listed, dict) or set(listed) - {CALIBRATION} != set(FILES):
        raise ValueError(f"{path}: expected entries for the files {', '.join(FILES)}, got other ones")
    if not all(isinstance(entry, dict) for entry in listed.values()):
        raise ValueError(f"{path}: expected size and sha256 of every file, got something else")
    return listed


def describe_file(path: Path) -> dict[str, object]:
    """What the manifest says of a file."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def read_listed(path: Path, entry: dict[str, Any]) -> bytes:
    """A file of a detector, if it is what the manifest says."""
    size, digest = entry.get("bytes"), entry.get("sha256")
    try:
        content = _read(path, _MAX_BYTES[path.name])
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a file of {size} bytes, got none") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except SkippedFile as error:
        raise ValueError(f"{path}: {error}") from None
    if len(content) != size:
        raise ValueError(f"{path}: expected {size} bytes as in the manifest, got {len(content)}")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{path}: the file was changed: its sha256 differs from that in the manifest")
    return content


def _read(path: Path, limit: int) -> bytes:
    path.stat()  # raises FileNotFoundError, or another OSError
    return read_regular(path, max_bytes=limit)
