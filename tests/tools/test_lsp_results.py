"""The section on the language server, from figures made up by hand."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_section_has_the_figures_and_the_command():
    section = runpy.run_path(str(ROOT / "tools" / "write_results.py"))["lsp_section"]
    measured = {
        "code": "argparse.py",
        "lines": 1013,
        "functions": 55,
        "repeats": 9,
        "median_ms": {"body": 30.4, "open": 800.0},
        "slowest_ms": {"body": 61.2, "open": 950.0},
        "work_ms": {"body": 24.9, "open": 640.0},
    }
    text = section(measured)
    assert "1,013 lines" in text
    assert "| a statement in a function | 30 | 61 | 25 |" in text
    assert "| open: all functions | 800 | 950 | 640 |" in text
    assert "hover" not in text
    assert "python -m benchmarks.lsp --repeats 9 --json > docs/results/lsp.json" in text
