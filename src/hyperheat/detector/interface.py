"""What goes into an exported detector and what comes out: names, types and sizes.

Letters: S segments.
"""

from dataclasses import dataclass

import numpy as np

__all__ = [
    "INPUTS",
    "LABELS",
    "LOCATIONS",
    "MAX_SLOTS",
    "NAMES",
    "NODES",
    "OUTPUTS",
    "ROWS",
    "SAMPLES",
    "SEGMENTS",
    "Pooled",
]

ROWS = (16, 32, 64, 128, 256, 512, 1024, 2048)
"""The widths of rows; wide rows end where the longest edge of the batch does."""

SEGMENTS = (1, 2, 4, 8, 16, 64, 256, 1024, None)
"""The longest segment of each array; None is any length."""

MAX_SLOTS = ROWS[-1]
"""Slots of the largest edge that is read: attention inside one edge takes memory with the square of them."""


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """The names of the inputs that say which entries are pooled together."""

    name: str

    def take(self, step: int) -> str:
        """The entries of each segment [S_step, length], the first one again where a segment is shorter."""
        return f"{self.name}.take.{step}"

    def real(self, step: int) -> str:
        """One for an entry and zero for a repetition [S_step, length]."""
        return f"{self.name}.real.{step}"

    def owner(self, step: int) -> str:
        """The segment of each row [S_step]."""
        return f"{self.name}.owner.{step}"

    @property
    def place(self) -> str:
        """The row of each segment [S] in all arrays below each other; for an empty one, the row of zeros after them."""
        return f"{self.name}.place"


LABELS, NAMES, NODES, LOCATIONS, SAMPLES = _POOLED = tuple(
    Pooled(name=name) for name in ("labels", "names", "nodes", "locations", "samples")
)

_COLUMNS = (
    *("label", "relation", "own_cell", "edge_of_cell"),
    *("location", "variable", "first", "second", "text"),
    *("text_location", "variable_location", "swap_location", "location_sample"),
)

INPUTS: dict[str, tuple[type, int]] = {
    **dict.fromkeys(_COLUMNS, (np.int64, 1)),
    "positions": (np.float32, 2),
    **{f"rows.{index}": (np.int64, 3) for index in range(len(ROWS))},
    **{f"edges.{index}": (np.int64, 2) for index in range(len(ROWS))},
    **{pooled.place: (np.int64, 1) for pooled in _POOLED},
    **{pooled.take(step): (np.int64, 2) for pooled in _POOLED for step in range(len(SEGMENTS))},
    **{pooled.real(step): (np.float32, 2) for pooled in _POOLED for step in range(len(SEGMENTS))},
    **{pooled.owner(step): (np.int64, 1) for pooled in _POOLED for step in range(len(SEGMENTS))},
}
"""Type and rank of every array that an exported detector may ask for; each asks for those that its variant needs."""

OUTPUTS = ("choices", "rewrites")
