"""The folder of an exported detector: its manifest, and files that are those of the manifest.

Nothing here needs numpy, so that a scan whose results are all known starts at once.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hyperheat
from hyperheat.files import SkippedFile, parse_json, read_regular

__all__ = [
    "CALIBRATION",
    "FILES",
    "FORMAT",
    "describe_file",
    "key_of",
    "list_files",
    "read_files",
    "read_folder",
    "read_listed",
]

FORMAT = "hyperheat-onnx-detector"

FILES = ("model.onnx", "vocab.json", "config.json")
"""What the manifest lists with size and sha256."""

CALIBRATION = "calibration.json"
"""A file that may be added to the folder and its manifest later, with what was measured on held-out code."""

_MAX_BYTES = 1 << 28


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an exported detector, by name, if they are those of its manifest: `FILES`, perhaps `CALIBRATION`."""
    return read_files(folder, list_files(folder))


def read_files(folder: Path, listed: Mapping[str, dict[str, Any]]) -> dict[str, bytes]:
    """The files that a manifest lists."""
    return {name: read_listed(folder / name, entry) for name, entry in listed.items()}


def key_of(listed: Mapping[str, dict[str, Any]]) -> str:
    """A name for the files that a manifest lists and for this version: results under one key can be compared."""
    digests = [str(listed[name].get("sha256")) for name in sorted(listed)]
    return hashlib.sha256("\0".join([hyperheat.__version__, *digests]).encode()).hexdigest()


def list_files(folder: Path) -> dict[str, dict[str, Any]]:
    """What the manifest of an exported detector says of each file."""
    path = folder / "manifest.json"
    try:
        manifest = parse_json(_read(path, 1 << 16))
    except FileNotFoundError:
        raise ValueError(
            f"{folder}: expected an exported detector, got a folder without manifest.json"
        ) from None
    except OSError as error:
        raise ValueError(
            f"{path}: expected the manifest of an exported detector, got: {error.strerror}"
        ) from None
    except SkippedFile as error:
        raise ValueError(f"{path}: expected the manifest of an exported detector, got: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not a manifest: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path}: expected the format {FORMAT!r}, got something else")
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
    """A file of an exported detector, if it is what the manifest says."""
    size, digest = entry.get("bytes"), entry.get("sha256")
    try:
        content = _read(path, _MAX_BYTES)
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a file of {size} bytes, got none") from None
    except OSError as error:
        raise ValueError(f"{path}: expected a file of {size} bytes, got: {error.strerror}") from None
    except SkippedFile as error:
        raise ValueError(f"{path}: {error}") from None
    if len(content) != size:
        raise ValueError(f"{path}: expected {size} bytes as in the manifest, got {len(content)}")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{path}: expected the sha256 of the manifest, got another: the file was changed")
    return content


def _read(path: Path, limit: int) -> bytes:
    path.stat()  # raises FileNotFoundError, or what else is in the way
    return read_regular(path, max_bytes=limit)
