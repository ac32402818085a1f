"""Sums of chosen rows, planned once: the index arrays behind every gather and every aggregation.

Both plans keep the way forth and the way back, since the gradient of a gather is a sum and the gradient of a sum is
a gather. Neither way has scattered writes, so both are fast and give the same bits whatever the number of threads.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

__all__ = ["ArrayT", "RowSums", "Segments", "row_sums", "segments"]

ArrayT = TypeVar("ArrayT")


@dataclass(frozen=True, kw_only=True)
class RowSums(Generic[ArrayT]):
    """A 0/1 matrix and its transpose: row r sums `columns[offsets[r]:offsets[r+1]]` of a table, and column c of the
    table goes into `rows[starts[c]:starts[c+1]]`."""

    offsets: ArrayT
    columns: ArrayT
    starts: ArrayT
    rows: ArrayT


@dataclass(frozen=True, kw_only=True)
class Segments(Generic[ArrayT]):
    """A partition: entry i belongs to segment `owner[i]`, and segment s holds `entries[offsets[s]:offsets[s+1]]`."""

    owner: ArrayT
    offsets: ArrayT
    entries: ArrayT


def row_sums(offsets: np.ndarray, columns: np.ndarray, num_columns: int) -> RowSums[np.ndarray]:
    """Plan the sums over `columns[offsets[r]:offsets[r+1]]` of a table of `num_columns` rows."""
    by_column = segments(columns, num_columns)
    row_of_entry = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return RowSums(
        offsets=offsets, columns=columns, starts=by_column.offsets, rows=row_of_entry[by_column.entries]
    )


def segments(owner: np.ndarray, num_segments: int) -> Segments[np.ndarray]:
    """Plan the partition that puts entry i into segment `owner[i]`; a segment may be empty."""
    offsets = np.zeros(num_segments + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=num_segments), out=offsets[1:])
    return Segments(owner=owner, offsets=offsets, entries=np.argsort(owner, kind="stable"))
