"""The checks of `tools/check_rewrites.py` on a small sample; the tool itself does it on 5,000 functions."""

import statistics
from itertools import islice

import pytest
from tools.check_rewrites import Report, check, library_functions

from hyperheat.rewrites import KINDS


@pytest.fixture(scope="module")
def report() -> Report:
    small = (item for item in library_functions(seed=1) if len(item[1].source) < 3000)
    return check(islice(small, 150), count=150, inverses=3, seed=1)


def test_rewrites_of_real_functions_compile_change_one_place_and_can_be_undone(report: Report):
    assert report.functions == 150
    assert report.inverses > 300
    assert report.problems == []


def test_every_kind_occurs_in_real_functions(report: Report):
    assert set(report.kinds) == set(KINDS)
    assert statistics.median(report.per_function) > 5


def test_listing_takes_a_few_milliseconds(report: Report):
    assert statistics.median(report.milliseconds) < 5
