"""Weights are read as the library of the format reads them, and what is not such a file is refused."""

import json
from contextlib import suppress

import numpy as np
import pytest
from safetensors.numpy import save

from hyperheat.detector.tensor_file import read_tensors

TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.ones((4,), dtype=np.float16),
    "none": np.zeros((0, 3), dtype=np.float32),
    "one": np.array(2.5, dtype=np.float32),
}
CONTENT = save(TENSORS, metadata={"made": "here"})


def file_of(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(shape: object, *span: object, dtype: object = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(span)}


def test_tensors_come_as_they_were_saved():
    found = read_tensors(CONTENT)
    assert found.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(found[name], tensor)
        assert found[name].dtype == tensor.dtype


def test_a_file_may_be_without_tensors():
    assert read_tensors(file_of({})) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got a header of 0 bytes"),
        (b"\xff" * 8, "got a header of 18446744073709551615 bytes"),
        ((3).to_bytes(8, "little") + b"{}", "got a header of 3 bytes"),
        ((2_000_000).to_bytes(8, "little") + b" " * 2_000_000, "got a header of 2000000 bytes"),
        (file_of([]), "expected tensors by name"),
        (file_of({"a": 3}), "a: expected dtype, shape and data_offsets"),
        (
            file_of({"a": entry([1], 0, 4) | {"more": 1}}, bytes(4)),
            "a: expected dtype, shape and data_offsets",
        ),
        (file_of({"a": entry([1], 0, 4, dtype="I32")}, bytes(4)), "expected numbers of type F32 or F16"),
        (file_of({"a": entry([1], 0, 4, dtype=["F32"])}, bytes(4)), "expected numbers of type F32 or F16"),
        (file_of({"a": entry([-1], 0, 4)}, bytes(4)), "expected ints up to"),
        (file_of({"a": entry([True], 0, 4)}, bytes(4)), "expected ints up to"),
        (file_of({"a": entry([1] * 5, 0, 4)}, bytes(4)), "expected a list of at most 4 ints as shape"),
        (file_of({"a": entry([1], 0)}, bytes(4)), "expected two data_offsets, got 1"),
        (file_of({"a": entry([2], 0, 4)}, bytes(4)), "expected the bytes of shape"),
        (file_of({"a": entry([1], 4, 8)}, bytes(4)), "expected the bytes of shape"),
        (file_of({"a": entry([1], 0, 4)}, bytes(5)), "got gaps or overlaps"),
        (file_of({"a": entry([1], 4, 8)}, bytes(8)), "got gaps or overlaps"),
        (file_of({"a": entry([2], 0, 8), "b": entry([1], 4, 8)}, bytes(8)), "got gaps or overlaps"),
        (file_of({}, bytes(1)), "got gaps or overlaps"),
    ],
)
def test_what_is_not_such_a_file_is_refused(content: bytes, message: str):
    with pytest.raises(ValueError, match=message):
        read_tensors(content)


def test_random_damage_is_refused_or_harmless():
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        damaged = bytearray(CONTENT[: int(rng.integers(1, len(CONTENT) + 1))])
        damaged[int(rng.integers(len(damaged)))] = int(rng.integers(256))
        with suppress(ValueError):
            read_tensors(bytes(damaged))
