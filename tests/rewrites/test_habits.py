"""Bugs drawn by what people confuse."""

from collections import Counter
from random import Random

import pytest

from hyperheat.pycode import extract
from hyperheat.rewrites import candidates
from hyperheat.rewrites.habits import learn_habits
from hyperheat.rewrites.planting import choose_bugs

SOURCE = """
def clamp(value, lowest, highest, lowest_known):
    width = highest - lowest
    if value >= lowest and not width:
        return lowest, 1
    return min(value, highest)
"""
REWRITES = candidates(extract(SOURCE).functions[0])


def record(kind: str, right: str, wrong: str, weight: float = 1.0) -> dict[str, object]:
    return {"kind": kind, "after_text": right, "before_text": wrong, "weight": weight}


RECORDS = [
    *[record("comparison-operator", ">=", ">")] * 60,
    *[record("comparison-operator", ">=", "==")] * 20,
    *[record("variable-misuse", "lowest", "highest", weight=0.5)] * 80,
    *[record("boolean-operator", "not ", "")] * 40,
]
HABITS = learn_habits(RECORDS)
DRAWN = [HABITS.draw(REWRITES, Random(seed)) for seed in range(4_000)]


def test_what_is_learnt_can_be_kept_in_a_record():
    assert HABITS.kinds == {"boolean-operator": 40, "comparison-operator": 80, "variable-misuse": 40}
    assert HABITS.confusions["comparison-operator"] == {">= -> ==": 20, ">= -> >": 60}
    assert HABITS.confusions["boolean-operator"] == {"not -> ": 40}
    assert "variable-misuse" not in HABITS.confusions


def test_kinds_come_up_as_often_as_people_confuse_them():
    kinds = Counter(rewrite.kind for rewrite in DRAWN)
    assert kinds["comparison-operator"] / 4_000 == pytest.approx(0.5, abs=0.03)
    assert kinds["variable-misuse"] / 4_000 == pytest.approx(0.25, abs=0.03)
    assert 0 < kinds["literal"] < 40  # never seen, and possible all the same


def test_confusions_come_up_as_often_as_people_make_them():
    wrong = Counter(r.replacement for r in DRAWN if r.kind == "comparison-operator")
    assert wrong[">"] / wrong["=="] == pytest.approx(3, rel=0.15)
    assert 0 < wrong["<"] < 0.02 * wrong.total()
    removed = Counter(r.original for r in DRAWN if r.kind == "boolean-operator")
    assert removed["not ..."] > 0.9 * removed.total()


def test_names_that_share_a_word_are_preferred():
    wrong = Counter(r.replacement for r in DRAWN if r.kind == "variable-misuse" and r.original == "lowest")
    others = [count for name, count in wrong.items() if name != "lowest_known"]
    assert wrong["lowest_known"] / (sum(others) / len(others)) == pytest.approx(4, rel=0.3)


def test_bugs_are_planted_by_habit():
    planted = [choose_bugs(REWRITES, 0.25, Random(seed), HABITS) for seed in range(1_000)]
    first = Counter(bugs[0].kind for bugs in planted)
    assert first["comparison-operator"] / 1_000 == pytest.approx(0.5, abs=0.06)
    assert all(len(bugs) == len(set(bugs)) == 3 for bugs in planted)


def test_a_reference_without_texts_is_refused():
    with pytest.raises(ValueError, match="say what was confused, got one without after_text"):
        learn_habits([{"kind": "literal", "before_text": "0"}])
