"""Suggestions for misspelled names."""

import doctest

from hyperheat import spelling
from hyperheat.spelling import ask, did_you_mean, nearest


def test_the_examples_are_true():
    assert doctest.testmod(spelling).failed == 0


def test_the_most_similar_names_come_first():
    assert nearest("MayReed", ["MayWrite", "AstNode", "MayRead"], most=2) == ["MayRead"]


def test_no_similar_name_gives_the_other_text():
    assert did_you_mean("zzz", ["dim"]) == ""
    assert ask([], otherwise="there is none") == "there is none"


def test_a_huge_name_takes_no_time():
    assert did_you_mean("x" * 10_000_000, ["dim"] * 100) == ""
