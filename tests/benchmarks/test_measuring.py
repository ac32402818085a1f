import time

import numpy as np
import pytest

from benchmarks.collate import measure_collate
from benchmarks.growth import measure_growth
from benchmarks.layer import useful_flops
from benchmarks.timing import interleaved_ms, peak_mb
from benchmarks.workloads import code_like, random_hypergraph, wd50k_like
from hyperheat import HeatConfig, Vocabulary, collate


def test_contestants_take_turns_after_a_warm_up():
    turns: list[str] = []
    ms = interleaved_ms({"a": lambda: turns.append("a"), "b": lambda: turns.append("b")}, repeats=2)
    assert turns == ["a", "b", "a", "b", "a", "b"]
    assert set(ms) == {"a", "b"}
    assert all(value >= 0 for value in ms.values())


def test_two_turns_are_taken_however_slow():
    turns: list[int] = []
    interleaved_ms({"slow": lambda: turns.append(1)}, repeats=50, seconds=0)
    assert len(turns) == 2


def test_the_first_turn_does_not_count():
    waits = iter([0.5, 0.0])
    ms = interleaved_ms({"warms up": lambda: time.sleep(next(waits))}, repeats=1)
    assert ms["warms up"] < 100


def test_peak_memory_sees_a_large_array():
    small, large = (peak_mb(lambda size=size: np.ones(size << 17)) for size in (1, 80))
    if small is None or large is None:
        pytest.skip("the system does not tell the peak memory of a process")
    assert large > small + 60


def test_workloads_have_the_documented_sizes():
    graphs = code_like()
    assert len(graphs) == 16
    assert all(graph.num_edges == 301 for graph in graphs)
    (statements,) = wd50k_like()
    assert (statements.num_nodes, statements.num_edges) == (17_684, 22_738)
    assert 75_000 < statements.num_incidences < 82_000
    assert np.diff(statements.offsets).max() == 67


def test_useful_flops_by_hand():
    """One edge with one incidence: 2 states, 2 names, 2 slots; d = 2, ff = 3."""
    graph = random_hypergraph(np.array([1]), 1, skew=1.0, relations=1, qualifiers=1, seed=0)
    batch = collate([graph], Vocabulary.build([graph])).to_torch()
    config = HeatConfig(dim=2, layers=1, heads=1, ff=3)
    projections = 2 * 2 * 2 * (3 * (2 + 2) + 2 + 2)  # queries, keys, values; qualifiers; messages
    assert useful_flops(config, batch) == projections + 4 * 2 * 2**2 + 4 * 2 * 2 * 3


def test_growth_and_planning_are_measured():
    records = list(measure_growth((200, 400)))
    assert [record["nodes"] for record in records] == [200, 400]
    assert all(record["encode_ms"] > 0 for record in records)
    planning = measure_collate(functions=2, repeats=1)
    assert 0 < planning["collate_share"] < 1
