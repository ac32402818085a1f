"""Pages of results are made from the figures beside them."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_layer_page_is_made_from_its_json():
    page = runpy.run_path(str(ROOT / "tools" / "write_layer_results.py"))["page"]()
    assert (ROOT / "docs" / "results" / "layer.md").read_text(encoding="utf-8") == page
