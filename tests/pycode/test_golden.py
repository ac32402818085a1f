"""Graphs of snippets against hand-checked golden files, and the page made from them."""

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
        PICTURE.write_text(
            make_picture(), encoding="utf-8"
        )  # not compared: its last digits depend on the machine
    else:
        assert PAGE.read_text(encoding="utf-8") == make_page()
