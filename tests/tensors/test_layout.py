import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from hyperheat.tensors import Group, by_size, packed


def offsets_of(widths):
    """Offsets of edges that take the given numbers of slots."""
    return np.concatenate([[0], np.cumsum(np.array(widths, dtype=np.int64) - 1)])


def check_places(layout, widths):
    """Every slot stands in exactly one cell, the slots of an edge side by side in one row, its state first."""
    num_edges, num_slots = len(widths), sum(widths)
    assert sorted(layout.slot[layout.slot >= 0].tolist()) == list(range(num_slots))
    assert ((layout.slot >= 0) == (layout.edge >= 0)).all()
    offsets = offsets_of(widths)
    start = 0
    for group in layout.groups:
        cells = slice(start, start + group.rows * group.width)
        start = cells.stop
        for slots, edges in zip(
            layout.slot[cells].reshape(-1, group.width),
            layout.edge[cells].reshape(-1, group.width),
            strict=True,
        ):
            for edge in np.unique(edges[edges >= 0]).tolist():
                place = np.flatnonzero(edges == edge)
                assert place.tolist() == list(range(place[0], place[0] + widths[edge]))
                expected = [edge, *range(num_edges + offsets[edge], num_edges + offsets[edge + 1])]
                assert slots[place].tolist() == expected
            if group.block is not None:
                assert (edges.reshape(-1, group.block) == edges[:: group.block, None]).all()
    assert start == len(layout.slot)


widths_strategy = st.lists(st.integers(1, 30) | st.integers(31, 1500), max_size=40)


@given(widths_strategy)
@settings(max_examples=60, deadline=None)
def test_by_size_places_every_slot_without_padding(widths):
    layout = by_size(offsets_of(widths))
    check_places(layout, widths)
    assert len(layout.slot) == sum(widths)


@given(widths_strategy)
@settings(max_examples=60, deadline=None)
def test_packed_places_every_slot(widths):
    layout = packed(offsets_of(widths))
    check_places(layout, widths)
    assert all(group.width in (16, 64, 256, 768, 1024) or group.width > 1024 for group in layout.groups)


def test_the_papers_example_fills_one_row():
    layout = packed(offsets_of([7, 9]))
    assert [(group.rows, group.width) for group in layout.groups] == [(1, 16)]
    assert layout.edge.tolist() == [1] * 9 + [0] * 7
    assert layout.waste == pytest.approx(256 / (81 + 49))


def test_the_largest_edges_choose_their_rows_first():
    layout = packed(offsets_of([3, 60, 17, 10, 1]))
    assert [(group.rows, group.width) for group in layout.groups] == [(2, 64)]
    assert layout.edge[:64].tolist() == [1] * 60 + [0] * 3 + [4]  # 60 + 3 + 1
    assert layout.edge[64:].tolist() == [2] * 17 + [3] * 10 + [-1] * 37


def test_edges_beyond_the_last_width_are_not_cut():
    layout = packed(offsets_of([1500, 2]))
    assert layout.groups == (Group(1, 16, None), Group(1, 1500, 1500))


def test_waste_of_exact_groups_counts_shared_rows():
    assert by_size(offsets_of([100] * 3)).waste == 1.0
    assert by_size(offsets_of([4] * 8)).waste == 32**2 / (8 * 4**2)
    assert by_size(offsets_of([])).waste == packed(offsets_of([])).waste == 1.0


def first_fit_naive(widths, row_widths=(16, 64, 256, 768, 1024)):
    """Algorithm 1 of the appendix, word for word: the rows as lists of edge widths."""
    rows = []
    for width in sorted(widths, reverse=True):
        for row in rows:
            if row[0] - sum(row[1]) >= width:
                row[1].append(width)
                break
        else:
            rows.append((next((w for w in row_widths if w >= width), width), [width]))
    return sorted((size, sorted(held)) for size, held in rows)


@given(widths_strategy)
@settings(max_examples=60, deadline=None)
def test_packed_is_the_papers_algorithm(widths):
    layout = packed(offsets_of(widths))
    rows, start = [], 0
    for group in layout.groups:
        for _ in range(group.rows):
            edges = layout.edge[start : start + group.width]
            rows.append((group.width, sorted(widths[e] for e in np.unique(edges[edges >= 0]))))
            start += group.width
    assert sorted(rows) == first_fit_naive(widths)


def optimal_cells(widths, row_widths):
    """The appendix's integer program: the least sum of L_j^2 over used rows, each edge in one, none overfull."""
    rows = [size for size in row_widths for _ in widths]  # at most one row of each width per edge
    n, k = len(widths), len(rows)
    cost = np.concatenate([np.zeros(n * k), np.square(rows)])  # variables: x_ij, then y_j
    each_edge_once = np.hstack([np.kron(np.eye(n), np.ones(k)), np.zeros((n, k))])
    not_overfull = np.hstack([np.kron(np.array(widths), np.eye(k)), -np.diag(rows)])
    solution = milp(
        cost,
        constraints=[LinearConstraint(each_edge_once, 1, 1), LinearConstraint(not_overfull, -np.inf, 0)],
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
    )
    assert solution.success
    return round(solution.fun)


@given(st.lists(st.integers(1, 64), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_greedy_packing_is_bounded_by_the_optimum(widths):
    layout = packed(offsets_of(widths), (16, 64))
    greedy = sum(group.rows * group.width**2 for group in layout.groups)
    best = optimal_cells(widths, (16, 64))
    assert best <= greedy <= 1.5 * best


def test_greedy_packing_can_be_beaten():
    """First-fit decreasing is not optimal: 7+5+4 and 6+5+5 fill two rows of 16, the greedy order needs three."""
    widths = [7, 6, 5, 5, 5, 4]
    greedy = sum(group.rows * group.width**2 for group in packed(offsets_of(widths), (16,)).groups)
    assert (greedy, optimal_cells(widths, (16,))) == (3 * 256, 2 * 256)
