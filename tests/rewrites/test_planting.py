"""Which bugs are drawn, and what becomes of a function with several of them."""

import inspect
import json
import shlex
import textwrap
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from hyperheat.pycode import extract, extract_function
from hyperheat.rewrites import apply_edits, candidates
from hyperheat.rewrites.planting import choose_bugs, choose_together, plant, rank, seeded

SOURCE = """
def clamp(value, low, high):
    width = high - low
    if value < low and width > 0:
        return low
    return min(value, high)
"""
REWRITES = candidates(extract(SOURCE).functions[0])


def test_kinds_come_up_equally_often_and_then_locations():
    drawn = [choose_bugs(REWRITES, 0.5, Random(seed))[0] for seed in range(4_000)]
    kinds = Counter(rewrite.kind for rewrite in drawn)
    expected = 4_000 / len({rewrite.kind for rewrite in REWRITES})
    assert len(kinds) == len({rewrite.kind for rewrite in REWRITES}) >= 5
    assert all(abs(count - expected) < 0.15 * expected for count in kinds.values())
    comparisons = Counter(r.location for r in drawn if r.kind == "comparison-operator")
    assert len(comparisons) == 2
    assert abs(comparisons.most_common()[0][1] - expected / 2) < 0.15 * expected


def test_no_bug_is_drawn_twice():
    chosen = choose_bugs(REWRITES, 1 / 1000, Random(0))
    assert len(chosen) == len(REWRITES) == len(set(chosen))


@pytest.mark.parametrize(("clean", "bugs"), [(1.0, 0.0), (0.8, 0.25), (0.5, 1.0), (0.4, 1.5), (0.25, 3.0)])
def test_the_share_of_clean_samples_is_kept(clean, bugs):
    counts = [len(choose_bugs(REWRITES, clean, Random(seed))) for seed in range(2_000)]
    assert sum(counts) / len(counts) == pytest.approx(bugs, abs=0.05)
    assert set(counts) <= {int(bugs), int(bugs) + 1}


def test_every_key_has_its_own_random_numbers():
    first = seeded(0, "package", "path", 3).random()
    assert first == seeded(0, "package", "path", 3).random() != seeded(1, "package", "path", 3).random()
    assert rank(0, "a") != rank(0, "b")


def test_bugs_that_are_planted_at_once_can_be_taken_back():
    """Each repair is a candidate of the function with all bugs, and all together restore it."""
    sources = [
        SOURCE,
        *(inspect.getsource(function) for function in (json.loads, textwrap.wrap, shlex.shlex.read_token)),
    ]
    planted = lost = 0
    for source in sources:
        module = extract(textwrap.dedent(source))
        function = module.functions[0]
        for seed in range(40):
            bugs = choose_together(candidates(function), 0.4, Random(seed))
            text, repairs = plant(bugs, function.source)
            back = sorted((edit for repair in repairs for edit in repair.edits), key=lambda edit: edit.start)
            assert apply_edits(back, text) == function.source
            found = set(candidates(extract_function(text, function, module.facts)))
            planted += len(bugs)
            lost += sum(repair not in found for repair in repairs)
    assert planted > 500
    assert lost < 0.03 * planted  # a bug may change what the other candidates are


def test_one_bug_is_planted_as_its_rewrite_does_it():
    function = extract(SOURCE).functions[0]
    for rewrite in REWRITES:
        assert plant([rewrite], function.source) == (
            rewrite.apply(function.source),
            [rewrite.inverse(function.source)],
        )


def test_bugs_that_are_planted_at_once_do_not_touch_and_are_not_too_many():
    for seed in range(200):
        bugs = choose_together(REWRITES, 1.0, Random(seed))
        assert 2 <= len(bugs) <= 10
        for one, other in pairwise(bugs):
            assert one.edits[-1].end < other.edits[0].start
    assert {len(choose_together(REWRITES, 1e-9, Random(seed))) for seed in range(20)} == {1}
