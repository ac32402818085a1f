"""The files of an exported detector, checked, and its model, ready to run.

Beside onnxruntime this imports little, so that the model can be loaded while the rest is imported.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperheat.bugs.onnx.checks import check_graph
from hyperheat.bugs.onnx.manifest import key_of, read_files, read_manifest

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["LoadedModel", "load_model"]


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """What is in the folder of an exported detector."""

    folder: Path
    session: "InferenceSession"
    sha256: str
    """That of the model file."""
    key: str
    """Names the content of the folder."""
    config: bytes
    vocab: bytes


def load_model(folder: str | Path, *, threads: int = 1) -> LoadedModel:
    """Read what `export_detector` wrote; refuse files that are damaged, of another kind or not harmless."""
    folder = Path(folder)
    listed = read_manifest(folder)
    files = read_files(folder, listed)
    model = files["model.onnx"]
    try:
        check_graph(model)
        session = _start(model, threads)
    except ValueError as error:
        raise ValueError(f"{folder}: not an exported detector: {error}") from error
    return LoadedModel(
        folder=folder,
        session=session,
        sha256=str(listed["model.onnx"]["sha256"]),
        key=key_of(listed),
        config=files["config.json"],
        vocab=files["vocab.json"],
    )


def _start(model: bytes, threads: int) -> "InferenceSession":
    from hyperheat.bugs.onnx.runtime import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # more takes time and gains nothing
    options.graph_optimization_level = level
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # it would keep what the largest sample needed
    options.enable_mem_reuse = False  # planning it takes five times as long as all the rest of loading
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes share no base but this
        raise ValueError(f"onnxruntime does not take it: {str(error).splitlines()[0]}") from None
