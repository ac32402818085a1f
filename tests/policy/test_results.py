"""Pages of results are made from the figures beside them."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = runpy.run_path(str(ROOT / "tools" / "write_results.py"))["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_made_from_their_json(name):
    assert (ROOT / "docs" / "results" / name).read_text(encoding="utf-8") == PAGES[name]()
