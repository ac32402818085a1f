"""Attention layouts: how the slots of all edges are arranged in dense rows.

Edge e of k incidences takes l = k + 1 slots: its own state, then its incidences. A layout places the slots of every
edge side by side into rows of a few widths; slots that share a row attend to each other only where they
belong to the same edge.

    by_size   only edges of equal size share rows, so there is no padding. Several tiny edges share a row, so that
              it is long enough for the attention kernel; the mask between them is the same for all rows.
    packed    the paper's greedy packing (Appendix A): first-fit decreasing into the widths 16, 64, 256, 768, 1024,
              with padding and a mask per row.

Letters: E edges, I incidences, S = E + I slots (first the edge states, then the incidences), C cells.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["WIDTHS", "Group", "Layout", "by_size", "packed"]

WIDTHS = (16, 64, 256, 768, 1024)

# Row width for edges of l slots, l = 1 .. 12: measured on CPU, where an attention call costs much per row and head.
_ROW_WIDTH = (16, 16, 36, 32, 20, 36, 28, 32, 36, 20, 44, 48)


@dataclass(frozen=True, slots=True)
class Group:
    """`rows` x `width` cells. With `block`, every row holds width / block edges of that size and no padding."""

    rows: int
    width: int
    block: int | None


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The groups, and what each of their cells holds: a slot (or -1 for padding) and its edge (or -1)."""

    groups: tuple[Group, ...]
    slot: np.ndarray
    edge: np.ndarray
    waste: float
    """Cells^2 of the rows over slots^2 of the edges: how much more attention is computed than needed."""


def by_size(offsets: np.ndarray) -> Layout:
    """Group edges by exact size; small ones share rows without padding."""
    widths = np.diff(offsets) + 1
    order = np.argsort(widths, kind="stable")
    sizes, counts = np.unique(widths, return_counts=True)
    groups: list[Group] = []
    for l, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        per_row = _ROW_WIDTH[l - 1] // l if l <= len(_ROW_WIDTH) else 1
        full, rest = divmod(count, per_row)
        if full:
            groups.append(Group(full, per_row * l, l))
        if rest and per_row > 1:
            groups.append(Group(rest, l, l))
    return _layout(groups, order, widths, offsets, row_starts=None)


def packed(offsets: np.ndarray, widths: tuple[int, ...] = WIDTHS) -> Layout:
    """Pack edges into rows of the given widths, greedily, the largest first, each into the first row with room.

    Edges wider than the last width get rows of their exact size: nothing is cut.
    """
    sizes = np.diff(offsets) + 1
    order = np.argsort(-sizes, kind="stable")
    row_width, row_of_edge, start_in_row = _first_fit(sizes[order], widths)
    by_row = np.lexsort((start_in_row, row_of_edge, row_width[row_of_edge]))
    distinct, counts = np.unique(row_width, return_counts=True)
    groups = [
        Group(
            r, w, None if w in widths else w
        )  # a row beyond the last width is one edge, which needs no mask
        for w, r in zip(distinct.tolist(), counts.tolist(), strict=True)
    ]
    new_row = np.empty(len(row_width), dtype=np.int64)
    new_row[np.argsort(row_width, kind="stable")] = np.arange(len(row_width))
    row_start = np.concatenate([[0], np.cumsum(np.sort(row_width))])
    starts = (row_start[new_row[row_of_edge]] + start_in_row)[by_row]
    return _layout(groups, order[by_row], sizes, offsets, row_starts=starts)


def _first_fit(sizes: np.ndarray, widths: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First-fit decreasing in O(E log E): a tournament tree finds the first row with enough room.

    Returns the width of every row, and for every edge its row and its first cell in the row.
    """
    leaves = 1 << max(1, int(len(sizes) - 1).bit_length())
    room = [0] * (2 * leaves)  # room[i] = the most room in any open row below tree node i
    row_width: list[int] = []
    row_of_edge = np.empty(len(sizes), dtype=np.int64)
    start_in_row = np.empty(len(sizes), dtype=np.int64)
    for i, size in enumerate(sizes.tolist()):
        if room[1] >= size:
            position = 1
            while position < leaves:
                position = 2 * position if room[2 * position] >= size else 2 * position + 1
            row = position - leaves
        else:
            row = len(row_width)
            row_width.append(next((w for w in widths if w >= size), size))
            position = leaves + row
            room[position] = row_width[row]
        row_of_edge[i], start_in_row[i] = row, row_width[row] - room[position]
        room[position] -= size
        while position > 1:
            position //= 2
            room[position] = max(room[2 * position], room[2 * position + 1])
    return np.array(row_width, dtype=np.int64), row_of_edge, start_in_row


def _layout(
    groups: list[Group],
    order: np.ndarray,
    widths: np.ndarray,
    offsets: np.ndarray,
    row_starts: np.ndarray | None,
) -> Layout:
    """Fill the cells with the slots of the edges in `order`, one after the other or from the given cells on."""
    num_edges = len(widths)
    ordered_widths = widths[order]
    first = np.cumsum(ordered_widths) - ordered_widths  # of each edge, in a stream without padding
    edge = np.repeat(order, ordered_widths)
    within = np.arange(int(widths.sum())) - np.repeat(first, ordered_widths)
    slot = np.where(within == 0, edge, num_edges + offsets[:-1][edge] + within - 1)
    cells = sum(group.rows * group.width for group in groups)
    squares = sum(group.rows * group.width**2 for group in groups)
    needed = int((widths.astype(np.int64) ** 2).sum())
    if row_starts is not None:
        cell = np.repeat(row_starts, ordered_widths) + within
        slot_of_cell, edge_of_cell = np.full(cells, -1), np.full(cells, -1)
        slot_of_cell[cell], edge_of_cell[cell] = slot, edge
        slot, edge = slot_of_cell, edge_of_cell
    return Layout(groups=tuple(groups), slot=slot, edge=edge, waste=squares / needed if needed else 1.0)
