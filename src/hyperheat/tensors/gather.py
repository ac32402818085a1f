"""Sums of chosen rows, planned once: the index arrays behind every gather and every aggregation.

Both plans keep the way forth and the way back, since the gradient of a gather is a sum and the gradient of a sum is
a gather. Neither way has scattered writes, so both are fast and give the same bits whatever the number of threads.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

__all__ = ["ArrayT", "PairSums", "Segments", "pair_sums", "segments"]

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
