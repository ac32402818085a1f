"""What an exported detector reads: index arrays, planned in numpy from a batch of samples.

An ONNX graph has a fixed number of operators, a batch any number of sizes. Two plans bring them together:

    rows       edges stand side by side in rows, as in the paper's Appendix A, one array of rows for each of a few widths.
               Edges of one size share a row, and a mask keeps them apart.
    segments   entries that are pooled together are one row of an array, one array for each of a few lengths. Rows of
               equal length need one gather and one reduction, many times faster than scattered writes.

Letters: N nodes, E edges, Q qualifiers, C cells, D width, B rows of a width, L cells in a row, S segments, P positions.
"""

import math
from collections.abc import Sequence

import numpy as np

from hyperheat.detector.batch import BugBatch
from hyperheat.detector.interface import (
    LABELS,
    LOCATIONS,
    MAX_SLOTS,
    NAMES,
    NODES,
    ROWS,
    SAMPLES,
    SEGMENTS,
    Pooled,
)
from hyperheat.hypergraph import Hypergraph
from hyperheat.tensors import Group, HypergraphBatch, Layout, Segments, Vocabulary, collate

__all__ = ["collate_rows", "inputs", "layout_rows"]

_SHARED_ROW = ROWS[0]  # up to this width, several edges share a row


def layout_rows(offsets: np.ndarray) -> Layout:
    """Place edges in rows of the few widths: those of equal size side by side, the rest of a row is padding."""
    sizes = np.diff(offsets) + 1
    if len(sizes) and sizes.max() > MAX_SLOTS:
        raise ValueError(f"edges: expected at most {MAX_SLOTS - 1} incidences, got {sizes.max() - 1}")
    order = np.argsort(sizes, kind="stable")
    distinct, first, counts = np.unique(sizes[order], return_index=True, return_counts=True)
    step = np.searchsorted(ROWS, distinct)
    width_of_step = np.array(ROWS)
    for index in range(1, len(ROWS)):
        width_of_step[index] = distinct[step == index].max(initial=1)
    width = width_of_step[step]
    per_row = np.where(step == 0, _SHARED_ROW // distinct, 1)
    rows = -(-counts // per_row)
    groups = tuple(
        Group(int(rows[step == index].sum()), int(width_of_step[index]), None) for index in range(len(ROWS))
    )
    start_of_size = np.cumsum(rows * width) - rows * width
    rank = np.arange(len(sizes)) - np.repeat(first, counts)  # among the edges of its size
    row, place = np.divmod(rank, np.repeat(per_row, counts))
    ordered = sizes[order]
    start = np.repeat(start_of_size, counts) + row * np.repeat(width, counts) + place * ordered

    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(ordered) - ordered, ordered)
    cell = np.repeat(start, ordered) + within
    edge_of_slot = np.repeat(order, ordered)
    cells = int((rows * width).sum())
    slot, edge = np.full(cells, -1), np.full(cells, -1)
    edge[cell] = edge_of_slot
    slot[cell] = np.where(within == 0, edge_of_slot, len(sizes) + offsets[:-1][edge_of_slot] + within - 1)
    needed = int((sizes**2).sum())
    squares = sum(group.rows * group.width**2 for group in groups)
    return Layout(groups=groups, slot=slot, edge=edge, waste=squares / needed if needed else 1.0)


def collate_rows(graphs: Sequence[Hypergraph], vocab: Vocabulary) -> HypergraphBatch[np.ndarray]:
    """Join graphs into a batch whose attention stands in rows."""
    return collate(graphs, vocab, layout_rows)


def inputs(batch: BugBatch[np.ndarray], dim: int) -> dict[str, np.ndarray]:
    """The arrays of `INPUTS` for a batch that was collated with `collate_rows`, and a model of width `dim`."""
    graphs: HypergraphBatch[np.ndarray] = batch.graphs
    plan, num_nodes = graphs.plan, graphs.num_nodes
    to_nodes, to_edges = _split(plan.receivers, num_nodes, num_nodes + graphs.num_edges)
    texts, variables, swaps = batch.forms
    ends = np.cumsum([len(batch.by_sample.owner), variables, swaps])
    location, variable, first, second = np.split(batch.nodes.owner, ends)
    at_text, at_variable, at_swap = np.split(batch.by_location.owner, [texts, texts + variables])
    return {
        "label": graphs.label,
        "relation": graphs.relation,
        "positions": sinusoids(graphs.positions, dim),
        "own_cell": to_edges.entries,
        "edge_of_cell": plan.edges.owner,
        "location": location,
        "variable": variable,
        "first": first,
        "second": second,
        "text": batch.text.astype(np.int64),
        "text_location": at_text,
        "variable_location": at_variable,
        "swap_location": at_swap,
        "location_sample": batch.by_sample.owner,
        **_rows(graphs),
        **_pool(LABELS, graphs.labels.owner, graphs.labels.tokens),
        **_pool(NAMES, graphs.names.owner, graphs.names.tokens),
        **_pool(NODES, to_nodes),
        **_pool(LOCATIONS, batch.by_location),
        **_pool(SAMPLES, batch.by_sample),
    }


def sinusoids(positions: np.ndarray, dim: int) -> np.ndarray:
    """Fixed encodings of sequence positions [P, D]."""
    frequencies = np.exp(-math.log(10000.0) * np.arange(0, dim, 2) / dim)
    angles = positions[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _rows(graphs: HypergraphBatch[np.ndarray]) -> dict[str, np.ndarray]:
    """For each width the two rows of the table in every cell [B, L, 2], and the edge of every cell [B, L]."""
    found = {}
    start = 0
    for index, group in enumerate(graphs.plan.groups):
        end = start + group.rows * group.width
        shape = group.rows, group.width
        found[f"rows.{index}"] = graphs.plan.slots.pairs[start:end].reshape(*shape, 2)
        found[f"edges.{index}"] = graphs.plan.edges.owner[start:end].reshape(shape)
        start = end
    return found


def _split(segments: Segments[np.ndarray], *ends: int) -> list[Segments[np.ndarray]]:
    """The segments up to each end, as partitions of their own."""
    parts = []
    for first, last in zip((0, *ends), ends, strict=False):
        offsets = segments.offsets[first : last + 1]
        entries = segments.entries[offsets[0] : offsets[-1]]
        owner = segments.owner[:0]  # not read
        parts.append(Segments(owner=owner, offsets=offsets - offsets[0], entries=entries))
    return parts


def _pool(
    pooled: Pooled, segments: Segments[np.ndarray], values: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Arrange the entries of all segments, or what `values` has for them, in arrays by length."""
    entries = segments.entries if values is None else values[segments.entries]
    starts, lengths = segments.offsets[:-1], np.diff(segments.offsets)
    place = np.empty(len(lengths), dtype=np.int64)
    found = {pooled.place: place}
    above = done = 0
    for step, most in enumerate(SEGMENTS):
        chosen = np.flatnonzero((lengths > above) & (lengths <= (most or lengths.max(initial=0))))
        length = lengths[chosen, None]
        within = np.arange(length.max(initial=1))
        real = within < length
        found[pooled.take(step)] = entries[starts[chosen, None] + np.where(real, within, 0)]
        found[pooled.real(step)] = real.astype(np.float32)
        found[pooled.owner(step)] = chosen
        place[chosen] = done + np.arange(len(chosen))
        done += len(chosen)
        above = most
    place[lengths == 0] = done
    return found
