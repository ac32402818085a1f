"""Near-duplicates: signatures beside the exact measure, and who stays."""

import numpy as np
import pytest

from hyperheat.bugs.corpus.duplicates import find_near_duplicates, hash_words, jaccard, sign


def words(start: int, end: int) -> np.ndarray:
    return hash_words(f"word{number}" for number in range(start, end))


def duplicates(*sets: np.ndarray) -> list[tuple[int, int]]:
    signatures = np.stack([sign(of_file) for of_file in sets])
    return list(find_near_duplicates(signatures, np.array([len(s) for s in sets]), lambda file: sets[file]))


def test_the_measure():
    assert jaccard(words(0, 30), words(10, 40)) == 20 / 40
    assert jaccard(words(0, 5), words(5, 9)) == 0
    assert jaccard(words(0, 0), words(0, 0)) == 1


@pytest.mark.parametrize("common", [0, 300, 600, 900])
def test_signatures_agree_as_often_as_the_sets(common):
    one, other = words(0, 1000), words(1000 - common, 2000 - common)
    agreement = float((sign(one) == sign(other)).mean())
    assert agreement == pytest.approx(jaccard(one, other), abs=0.13)


def test_a_signature_does_not_depend_on_how_a_set_is_cut():
    parts = [sign(words(0, 3000)), sign(words(3000, 9000))]
    assert (sign(words(0, 9000)) == np.minimum(*parts)).all()


def test_the_first_of_files_that_are_alike_stays():
    alike, other = words(0, 100), words(500, 600)
    assert duplicates(alike, other, words(0, 95), words(2, 100)) == [(2, 0), (3, 0)]


def test_files_just_under_the_threshold_stay():
    assert jaccard(words(0, 100), words(0, 84)) == 0.84
    assert duplicates(words(0, 100), words(0, 84)) == []
    assert duplicates(words(0, 100), words(0, 86)) == [(1, 0)]


def test_a_file_like_a_dropped_one_is_compared_with_those_that_stay():
    first, second, third = words(0, 100), words(7, 107), words(14, 114)
    assert jaccard(first, second) > 0.85 < jaccard(second, third)
    assert jaccard(first, third) < 0.85
    assert duplicates(first, second, third) == [(1, 0)]


def test_small_files_are_never_near_duplicates():
    assert duplicates(words(0, 9), words(0, 9), words(0, 10), words(0, 10)) == [(3, 2)]
