"""Is this the graph of an exported detector, and harmless? Read from the bytes, before any runtime sees them.

An ONNX file is a protobuf message. It may name files beside it, operators of plug-ins, functions and nested graphs. None
of them are in an exported detector, so a file with any of them is refused. Nor are operators over constants alone, which a
runtime would compute while it loads the file, however large the result. The fields are numbered as in onnx.proto.
"""

from collections.abc import Iterator
from typing import Any

from hyperheat.detector.interface import INPUTS, OUTPUTS

__all__ = ["IR_VERSION", "OPSET", "check_graph"]

OPSET, IR_VERSION = 18, 8

_OPERATORS = {
    *(
        "Add",
        "Cast",
        "Concat",
        "Div",
        "Equal",
        "Gather",
        "Gemm",
        "Identity",
        "LayerNormalization",
        "Log",
        "MatMul",
    ),
    *("Mul", "ReduceMax", "ReduceSum", "Relu", "Reshape", "Softmax", "Split", "Squeeze", "Transpose"),
    *("Unsqueeze", "Where"),
}

_MODEL_IR, _MODEL_GRAPH, _MODEL_OPSETS = 1, 7, 8
_MODEL_FIELDS = {_MODEL_IR, 2, _MODEL_GRAPH, _MODEL_OPSETS}  # 2 is the name of the producer
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 5, 11, 12
_GRAPH_FIELDS = {_GRAPH_NODE, 2, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT}  # 2 is its name
_NODE_INPUT, _NODE_OUTPUT = 1, 2
_NODE_FIELDS = {_NODE_INPUT, _NODE_OUTPUT, 3, 4, 5}  # name, operator, attributes
_ATTRIBUTE_FIELDS = {
    1,
    2,
    3,
    4,
    7,
    8,
    20,
}  # name, numbers, texts, lists of numbers, type; no tensors, no graphs
_TENSOR_FIELDS = {1, 2, 8, 9}  # sizes, type, name, bytes; no data elsewhere


def check_graph(content: bytes) -> None:
    """Refuse a model that is not a plain graph of known operators over known inputs with all data inside."""
    model = _Message(memoryview(content), "model", _MODEL_FIELDS)
    if (version := model.one(_MODEL_IR)) != IR_VERSION:
        raise ValueError(f"model: expected ONNX IR version {IR_VERSION}, got {version}")
    opsets = [
        (_text(opset.one(1, b"")), opset.one(2)) for opset in model.messages(_MODEL_OPSETS, "opset", {1, 2})
    ]
    if opsets != [("", OPSET)]:
        raise ValueError(f"model: expected operators of ONNX, version {OPSET}, got {opsets}")
    (graph,) = model.messages(_MODEL_GRAPH, "graph", _GRAPH_FIELDS)
    weights = {_text(t.one(8)) for t in graph.messages(_GRAPH_INITIALIZER, "weights", _TENSOR_FIELDS)}
    constants, used = set(weights), set()
    for node in graph.messages(_GRAPH_NODE, "node", _NODE_FIELDS):
        operator = _text(node.one(4))
        if operator not in _OPERATORS:
            raise ValueError(f"model: expected operators of an exported detector, got {operator!r}")
        for attribute in node.messages(5, "attribute", _ATTRIBUTE_FIELDS):
            attribute.one(1)
        read = {_text(name) for name in node.fields.get(_NODE_INPUT, [])} - {""}
        if read <= constants:
            if operator != "Cast" or not read <= weights - used:  # weights may be stored in half precision
                raise ValueError(
                    f"model: expected operators over inputs, got {operator} over constants alone"
                )
            used |= read
            constants |= {_text(name) for name in node.fields.get(_NODE_OUTPUT, [])}
    unknown = {_text(value.one(1)) for value in graph.messages(_GRAPH_INPUT, "input", {1, 2})} - INPUTS.keys()
    if unknown:
        raise ValueError(f"model: expected known inputs, got {min(unknown)!r}")
    outputs = tuple(_text(value.one(1)) for value in graph.messages(_GRAPH_OUTPUT, "output", {1, 2}))
    if outputs != OUTPUTS:
        raise ValueError(f"model: expected the outputs {', '.join(OUTPUTS)}, got {', '.join(outputs)}")


class _Message:
    """The fields of one protobuf message, of which only the allowed ones may be there."""

    def __init__(self, data: memoryview, what: str, allowed: set[int]) -> None:
        self.what = what
        self.fields: dict[int, list[Any]] = {}
        for number, value in _fields(data):
            if number not in allowed:
                raise ValueError(f"{what}: expected no field {number} of onnx.proto, got one")
            self.fields.setdefault(number, []).append(value)

    def one(self, number: int, default: Any = None) -> Any:
        """The only value of a field."""
        values = self.fields.get(number, [] if default is None else [default])
        if len(values) != 1:
            raise ValueError(
                f"{self.what}: expected field {number} of onnx.proto once, got it {len(values)} times"
            )
        return values[0]

    def messages(self, number: int, what: str, allowed: set[int]) -> "list[_Message]":
        """The values of a field that are messages."""
        values = self.fields.get(number, [])
        if any(not isinstance(value, memoryview) for value in values):
            raise ValueError(f"{self.what}: expected field {number} of onnx.proto to be a message")
        return [_Message(value, what, allowed) for value in values]


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int, or the bytes of what is longer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
        elif wire in (1, 2, 5):
            size, at = _varint(data, at) if wire == 2 else (8 if wire == 1 else 4, at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise ValueError("model: expected a whole ONNX file, got one that ends early")
        else:
            raise ValueError(f"model: expected an ONNX file, got wire type {wire}")
        yield key >> 3, value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("model: expected a whole ONNX file, got one that ends early")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("model: expected an ONNX file, got a number of more than 10 bytes")


def _text(value: Any) -> str:
    if isinstance(value, int):
        raise ValueError(f"model: expected a text, got {value}")
    return bytes(value).decode("utf-8", "replace")
