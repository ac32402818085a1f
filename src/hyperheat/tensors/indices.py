"""Index arrays: which rows a gather takes and an aggregation sums, planned once per batch.

`PairSums` and `Segments` keep both directions, because the gradient of a gather is a sum and the gradient of a sum is a
gather. Neither direction needs scattered writes, so both are fast and repeatable to the bit on any number of threads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = [
    "ArrayT",
    "PairSums",
    "Segments",
    "join_columns",
    "map_arrays",
    "pair_sums",
    "renumber",
    "segments",
    "to_tensors",
]

ArrayT = TypeVar("ArrayT")


@dataclass(frozen=True, kw_only=True)
class PairSums(Generic[ArrayT]):
    """Sums of two rows of a table whose last row is zero, and the way back.

    Cell c is `table[pairs[c, 0]] + table[pairs[c, 1]]`; row r of the table goes into `cells[starts[r]:starts[r+1]]`,
    the zero row into none.
    """

    pairs: ArrayT
    starts: ArrayT
    cells: ArrayT


@dataclass(frozen=True, kw_only=True)
class Segments(Generic[ArrayT]):
    """A partition: entry i belongs to segment `owner[i]`, and segment s holds `entries[offsets[s]:offsets[s+1]]`."""

    owner: ArrayT
    offsets: ArrayT
    entries: ArrayT


def pair_sums(pairs: np.ndarray, zero: int) -> PairSums[np.ndarray]:
    """Plan the sums of a table whose row `zero` is the last one."""
    taken = np.flatnonzero(pairs.ravel() != zero)
    by_row = segments(pairs.ravel()[taken], zero)
    starts = np.append(by_row.offsets, by_row.offsets[-1])
    return PairSums(pairs=pairs, starts=starts, cells=taken[by_row.entries] // 2)


def segments(owner: np.ndarray, num_segments: int) -> Segments[np.ndarray]:
    """Plan the partition that puts entry i into segment `owner[i]`; a segment may be empty."""
    offsets = np.zeros(num_segments + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=num_segments), out=offsets[1:])
    return Segments(owner=owner, offsets=offsets, entries=np.argsort(owner, kind="stable"))


def renumber(values: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values below `limit` in rising order, and each value's place among them."""
    used = np.zeros(limit, dtype=bool)
    used[values] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[values]


def join_columns(columns: Sequence[np.ndarray], offsets: np.ndarray) -> np.ndarray:
    """Concatenate columns, each raised by its graph's offset."""
    shift = np.repeat(offsets[:-1], [len(column) for column in columns])
    return np.concatenate(columns).astype(np.int64) + shift


def map_arrays(value: Any, function: Callable[[Any], Any]) -> Any:
    """Rebuild a tree of dataclasses with `function` applied to its arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: map_arrays(getattr(value, f.name), function) for f in fields(value)})
    return function(value) if hasattr(value, "dtype") else value


def to_tensors(value: Any, device: "torch.device | str") -> Any:
    """The same tree of dataclasses with torch tensors on a device instead of numpy arrays."""
    import torch

    return map_arrays(value, lambda array: torch.as_tensor(array).to(device, non_blocking=True))
