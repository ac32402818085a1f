"""Which weights are in the package, and whether a figure was measured with them."""

import json
from pathlib import Path

MODEL = Path(__file__).parents[1] / "src" / "hyperheat" / "model"


def is_built_in(weights: str) -> bool:
    """Whether weights of this checksum are those in the package."""
    manifest = json.loads((MODEL / "manifest.json").read_text(encoding="utf-8"))
    return weights == manifest["files"]["model.safetensors"]["sha256"]


def earlier_note(weights: str) -> list[str]:
    """A paragraph for figures that were measured with other weights than those in the package."""
    if is_built_in(weights):
        return []
    return [f"Measured with an earlier built-in detector, weights {weights[:8]}.", ""]
