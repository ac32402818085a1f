"""Bugs that are planted: one at a time, or several at once."""

from random import Random

from hyperheat.pycode import extract
from hyperheat.rewrites import candidates
from hyperheat.rewrites.planting import choose_bugs, choose_together, plant

SOURCE = """\
def f(left, right, items):
    total = 0
    for item in items:
        if item > left and not right:
            total += g(item, left)
    return total - 1
"""


def test_one_at_a_time_no_bug_is_drawn_twice():
    rewrites = candidates(extract(SOURCE).functions[0])
    bugs = choose_bugs(rewrites, 0.1, Random(0))
    assert len(bugs) == 9
    assert len(set(bugs)) == 9


def test_bugs_planted_together_are_undone_one_by_one():
    (function,) = extract(SOURCE).functions
    for seed in range(20):
        bugs = choose_together(candidates(function), 0.2, Random(seed))
        broken, repairs = plant(bugs, function.source)
        assert len(repairs) == len(bugs)
        for repair in repairs:
            if repair.original not in ("", "...", "not ..."):
                assert broken[repair.location.start : repair.location.end] == repair.original
        for repair in reversed(repairs):  # from the end, so that the places of the others stay
            broken = repair.apply(broken)
        assert broken == function.source
