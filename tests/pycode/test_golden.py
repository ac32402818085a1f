"""Graphs of snippets against hand-checked golden files, and the page made from them."""

import re

import pytest
from tests.pycode.golden import PAGE, PICTURE, Golden, golden_files, make_page, make_picture


@pytest.mark.parametrize("golden", golden_files(), ids=lambda golden: golden.name)
def test_graph(golden: Golden, update_golden: bool):
    if update_golden:
        golden.write()
    else:
        assert golden.actual_lines().splitlines() == golden.lines.splitlines()


def test_page_is_up_to_date(update_golden: bool):
    if update_golden:
        PAGE.write_text(make_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == make_page()


def test_picture_shows_the_same_words(update_golden: bool):
    if update_golden:
        PICTURE.write_text(make_picture(), encoding="utf-8")
    else:  # the last digits of its coordinates depend on the machine
        assert words(PICTURE.read_text(encoding="utf-8")) == words(make_picture())


def words(picture: str) -> list[str]:
    return re.findall("<title>(.*?)</title>", picture)
