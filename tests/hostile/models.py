"""Model folders made to do harm, each with a manifest that fits its files."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

__all__ = ["MODELS", "relist"]

_NESTED = "[" * 100_000
_DOUBLINGS = 27


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


def huge_width(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dim": 10**9}))


def wrong_width(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dim": 8000}))


def doubled_constant(folder: Path) -> None:
    def change(model: ModelProto) -> None:
        seed = numpy_helper.from_array(np.ones(1_024, dtype=np.float32), "seed")
        model.graph.initializer.append(seed)
        _add_doubled(model, "seed")

    _change_graph(folder, change)


def doubled_input(folder: Path) -> None:
    _change_graph(folder, lambda model: _add_doubled(model, "positions"))


def weights_that_are_no_numbers(folder: Path) -> None:
    def change(model: ModelProto) -> None:
        for tensor in model.graph.initializer:
            values = numpy_helper.to_array(tensor)
            if values.dtype == np.float32 and values.ndim == 2:
                tensor.raw_data = np.full_like(values, np.nan).tobytes()

    _change_graph(folder, change)


def weights_beyond_numbers(folder: Path) -> None:
    def change(model: ModelProto) -> None:
        for tensor in model.graph.initializer:
            values = numpy_helper.to_array(tensor)
            if values.dtype == np.float32 and values.ndim == 2:
                tensor.raw_data = np.full_like(values, 3e38).tobytes()

    _change_graph(folder, change)


def answers_of_another_shape(folder: Path) -> None:
    def change(model: ModelProto) -> None:
        _rename_output(model, "choices", "one")
        model.graph.node.append(helper.make_node("Concat", ["one", "one"], ["choices"], axis=0))

    _change_graph(folder, change)


def _add_doubled(model: ModelProto, name: str) -> None:
    """Add to the answers the greatest entry of something that was doubled many times, times zero."""
    graph = model.graph
    for constant, values in (("flat", np.array([-1])), ("zero", np.array([0.0], dtype=np.float32))):
        graph.initializer.append(numpy_helper.from_array(values, constant))
    graph.node.insert(0, helper.make_node("Reshape", [name, "flat"], ["double.0"]))
    for step in range(_DOUBLINGS):
        before = f"double.{step}"
        graph.node.insert(
            step + 1, helper.make_node("Concat", [before, before], [f"double.{step + 1}"], axis=0)
        )
    _rename_output(model, "choices", "single")
    graph.node.extend(
        [
            helper.make_node("ReduceMax", [f"double.{_DOUBLINGS}"], ["greatest"], keepdims=1),
            helper.make_node("Mul", ["greatest", "zero"], ["nothing"]),
            helper.make_node("Add", ["single", "nothing"], ["choices"]),
        ]
    )


def _rename_output(model: ModelProto, name: str, new: str) -> None:
    for node in model.graph.node:
        for place, output in enumerate(node.output):
            if output == name:
                node.output[place] = new


def _change_graph(folder: Path, change: Callable[[ModelProto], None]) -> None:
    model = onnx.load(folder / "model.onnx")
    change(model)
    assert all(tensor.data_location == TensorProto.DEFAULT for tensor in model.graph.initializer)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


MODELS: dict[Callable[[Path], None], str] = {
    nested_config: "config.json",
    nested_vocabulary: "vocab.json",
    huge_width: "config.json",
    wrong_width: "model.onnx",
    doubled_constant: "model.onnx",
    doubled_input: "model.onnx",
    weights_that_are_no_numbers: "model.onnx",
    weights_beyond_numbers: "model.onnx",
    answers_of_another_shape: "model.onnx",
}
"""What is done to a folder, and the file that the refusal names."""
