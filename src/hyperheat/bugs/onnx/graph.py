"""An ONNX graph as it grows: each method adds one operator and returns the name of its output."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper

from hyperheat.detector.checks import IR_VERSION, OPSET
from hyperheat.detector.interface import INPUTS

__all__ = ["Graph", "Precision"]

Precision = Literal["float32", "float16"]

_TYPES = {np.int64: TensorProto.INT64, np.float32: TensorProto.FLOAT}


class Graph:
    """Operators in the order of computing. Values are known by name."""

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._nodes: list[NodeProto] = []
        self._inputs: dict[str, ValueInfoProto] = {}
        self._weights: dict[str, TensorProto] = {}
        self._constants: dict[tuple, str] = {}

    def input(self, name: str) -> str:
        """One of the arrays of `INPUTS`."""
        dtype, rank = INPUTS[name]
        axes = [f"{name}.axis{axis}" for axis in range(rank)]
        self._inputs.setdefault(name, helper.make_tensor_value_info(name, _TYPES[dtype], axes))
        return name

    def weight(self, name: str, value: np.ndarray) -> str:
        """A matrix of weights, stored in the chosen precision and used in float32."""
        if name not in self._weights:
            stored = value.astype(self._precision)
            self._weights[name] = numpy_helper.from_array(stored, name)
        if self._precision == "float32":
            return name
        key = ("cast", name)
        if key not in self._constants:
            self._constants[key] = self.op("Cast", name, to=TensorProto.FLOAT)
        return self._constants[key]

    def constant(self, value: Any, dtype: type = np.int64) -> str:
        """A small fixed array."""
        array = np.array(value, dtype=dtype)
        key = (dtype, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"constant.{len(self._constants)}"
            self._weights[name] = numpy_helper.from_array(array, name)
            self._constants[key] = name
        return self._constants[key]

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """One operator with one output."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """One operator with several outputs."""
        names = [f"{kind}.{len(self._nodes)}.{index}" for index in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def concat(self, values: Sequence[str], axis: int) -> str:
        """Values behind each other."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def reshape(self, value: str, *shape: int) -> str:
        """Another shape: 0 keeps a size and -1 takes the rest, which does not work where both may be zero."""
        return self.op("Reshape", value, self.constant(shape))

    def model(self, outputs: dict[str, str]) -> ModelProto:
        """The finished graph, whose outputs [X] are the given values under new names."""
        for name, value in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [name]))
        results = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"{name}.axis0"]) for name in outputs
        ]
        graph = helper.make_graph(
            self._nodes, "detector", list(self._inputs.values()), results, list(self._weights.values())
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="hyperheat",
        )
        checker.check_model(model)
        return model
