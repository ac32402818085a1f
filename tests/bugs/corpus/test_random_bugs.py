"""Which bugs are drawn."""

from collections import Counter
from random import Random

import pytest

from hyperheat.bugs.corpus import CorpusError, CorpusSettings
from hyperheat.pycode import extract
from hyperheat.rewrites import candidates
from hyperheat.rewrites.planting import choose_bugs, rank, seeded

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


@pytest.mark.parametrize(("field", "value"), [("clean", 0.0), ("clean", 1.5), ("functions_per_package", 0)])
def test_settings_that_mean_nothing_are_refused(field, value):
    with pytest.raises(CorpusError, match=f"{field}: expected .*, got {value}"):
        CorpusSettings(**{field: value})
