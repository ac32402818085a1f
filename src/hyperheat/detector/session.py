"""The files of an exported detector, checked, and its model, ready to run.

Beside onnxruntime this imports little, so that the model can be loaded while the rest is imported.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperheat.detector.checks import check_graph
from hyperheat.detector.manifest import key_of, list_files, read_files
from hyperheat.workers.limits import Limits, confined

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["LoadedModel", "ModelError", "load_model", "reason_of"]

_MAX_SECONDS = 60.0
_MAX_MEMORY = 1 << 30


class ModelError(ValueError):
    """A file of a detector that cannot be used, in one sentence that begins with its name."""


def _is_out_of_memory(reason: str) -> bool:
    """Whether what onnxruntime says means that it was refused memory."""
    return "bad_alloc" in reason or "Failed to allocate memory" in reason or "bad allocation" in reason


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
    listed = list_files(folder)
    files = read_files(folder, listed)
    model, path = files["model.onnx"], folder / "model.onnx"
    try:
        with confined(seconds=_MAX_SECONDS, memory=_MAX_MEMORY):
            check_graph(model)
            session = _start(model, threads)
    except (MemoryError, TimeoutError) as error:
        raise ModelError(f"{path}: cannot be loaded: {_too_much(error)}") from None
    except ValueError as error:
        raise ModelError(f"{path}: not an exported detector: {error}") from None
    return LoadedModel(
        folder=folder,
        session=session,
        sha256=str(listed["model.onnx"]["sha256"]),
        key=key_of(listed),
        config=files["config.json"],
        vocab=files["vocab.json"],
    )


def _start(model: bytes, threads: int) -> "InferenceSession":
    from hyperheat.detector.runtime import onnxruntime

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
    except Exception as error:
        raise ValueError(f"onnxruntime does not take it: {reason_of(error)}") from None


def reason_of(error: Exception) -> str:
    """What onnxruntime says about a model, whose errors share no class; raises MemoryError if memory was refused."""
    reason = str(error).partition("\n")[0]
    if isinstance(error, MemoryError) or _is_out_of_memory(reason):
        raise MemoryError from None
    return reason[:200]


def _too_much(error: MemoryError | TimeoutError) -> str:
    if isinstance(error, TimeoutError):
        return f"it took more than {_MAX_SECONDS:g} s"
    return Limits(seconds=_MAX_SECONDS, memory=_MAX_MEMORY).out_of_memory()[0]
