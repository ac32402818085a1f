"""The weights of a detector, read from safetensors without torch: eight bytes of length, a JSON header, the numbers.

https://huggingface.co/docs/safetensors describes the format. The header is not trusted: every claim is checked against the
bytes that follow.
"""

import math
from typing import Any

import numpy as np

from hyperheat.files import parse_json

__all__ = ["read_tensors"]

_TYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}
_MAX_HEADER = 1 << 20
_MAX_AXES, _MAX_SIZE = 4, 1 << 31


def read_tensors(content: bytes) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file by name, as views of its bytes; raises ValueError if it is not one."""
    size = int.from_bytes(content[:8], "little")
    data = memoryview(content)[8 + size :]
    if len(content) < 8 or size > min(_MAX_HEADER, len(content) - 8):
        raise ValueError(f"expected a safetensors file, got a header of {size} bytes")
    header = parse_json(content[8 : 8 + size])
    if not isinstance(header, dict):
        raise ValueError("expected tensors by name in the header, got something else")
    header.pop("__metadata__", None)  # for people
    tensors, spans = {}, []
    for name, entry in header.items():
        dtype, shape, (start, end) = _described(name, entry)
        if not 0 <= start <= end <= len(data) or end - start != dtype.itemsize * math.prod(shape):
            raise ValueError(f"{name}: expected the bytes of shape {shape}, got those from {start} to {end}")
        tensors[name] = np.frombuffer(data[start:end], dtype).reshape(shape)
        spans.append((start, end))
    spans.sort()
    if [0, *(end for _, end in spans)] != [*(start for start, _ in spans), len(data)]:
        raise ValueError(
            "expected one tensor after the other up to the end of the file, got gaps or overlaps"
        )
    return tensors


def _described(name: str, entry: Any) -> tuple[np.dtype, tuple[int, ...], tuple[int, int]]:
    """Type, shape and place of a tensor."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name:.200}: expected dtype, shape and data_offsets, got something else")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in _TYPES:
        raise ValueError(f"{name:.200}: expected numbers of type {' or '.join(_TYPES)}, got another type")
    for key, most in (("shape", _MAX_AXES), ("data_offsets", 2)):
        values = entry[key]
        if not isinstance(values, list) or len(values) > most:
            raise ValueError(
                f"{name:.200}: expected a list of at most {most} ints as {key}, got something else"
            )
        if not all(type(value) is int and 0 <= value <= _MAX_SIZE for value in values):
            raise ValueError(f"{name:.200}: expected ints up to {_MAX_SIZE} as {key}, got something else")
    if len(entry["data_offsets"]) != 2:
        raise ValueError(f"{name:.200}: expected two data_offsets, got {len(entry['data_offsets'])}")
    start, end = entry["data_offsets"]
    return _TYPES[entry["dtype"]], tuple(entry["shape"]), (start, end)
