"""The page of the checker, from figures made up by hand."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperheat.bugs.dataset import HEAD

ROOT = Path(__file__).parents[2]
writing = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "write_results.py")))
collecting = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "collect_check.py")))


def point(confidence: float, precision: float) -> dict[str, float]:
    lower = round(precision - 0.1, 3)
    return {
        "confidence": confidence,
        "precision": precision,
        "lower": lower,
        "recall": 0.4,
        "false_alarms": 0.0062,
    }


def curve(data: str, *points: dict[str, float]) -> dict[str, Any]:
    counts = {"functions": 4000, "bugs": 1500, "bug_rate": 0.05}
    return {"data": data, **counts, "error": 0.0312, "points": list(points)}


def tier(data: str, name: str, point: dict[str, float] | None) -> dict[str, Any]:
    return {"data": data, "tier": name, "point": point, "kinds": {"clean": [2500, 16], "literal": [200, 50]}}


CALIBRATION = {
    "model": "0" * 64,
    "options": {"limit": 3000, "tag": ["fix"], "without": ["test"], "realbugs": True},
    "calibration": {
        "format": "hyperheat-calibration",
        "slope": 0.9,
        "intercept": -1.0,
        "bug_rate": 0.05,
        "min_candidates": 6,
        "tiers": {"A": 0.62, "B": 0.3},
        "curves": [
            curve("held-out packages", point(0.3, 0.512), point(0.62, 0.803), point(0.99, 0.97)),
            curve("real fixes", point(0.3, 0.2)),
        ],
    },
    "tiers": [
        tier("held-out packages", "A", point(0.62, 0.803)),
        tier("held-out packages", "B", point(0.3, 0.512)),
        tier("real fixes", "A", None),
        tier("real fixes", "B", point(0.3, 0.2)),
    ],
}
SPEED = {
    "code": "rich",
    "files": 100,
    "lines": 38500,
    "repeats": 3,
    "jobs": 2,
    "seconds": {"start": 0.4, "ready": 0.7, "cold": 18.0, "warm": 1.1, "changed": 0.8, "pylint": 22.5},
    "changed_after": {"start": 0.4, "ready": 0.1},
    "over_pylint": 0.8,
    "peak_mb": {"cold": 410, "pylint": 300},
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "calibration.json").write_text(json.dumps(CALIBRATION))
    (tmp_path / "speed.json").write_text(json.dumps(SPEED))
    settings = {"refs": "refs.jsonl.gz", "where": ["fix_like=true"], "with_clean": True}
    (tmp_path / "manifest.json").write_text(json.dumps({**HEAD, "shards": [], "settings": settings}))
    named = [f"--{name}={tmp_path / name}.json" for name in ("calibration", "speed")]
    return [*named, f"--out={tmp_path}", f"--realbugs={tmp_path}"]


def test_the_page_has_the_figures_and_the_commands(files: list[str], tmp_path: Path):
    collecting.main(files)
    page = writing.check_page(json.loads((tmp_path / "check.json").read_text()))
    counted = "**25.0 %** (50 of 200) | 0.64 % (16 of 2,500)"
    assert f"| held-out packages | A | 0.620 | {counted} | 80.3 % | 70.3 % |" in page
    assert f"| real fixes | A | 0.620 | {counted} | too few were found to say |  |" in page
    assert "- Calibration error on held-out packages: 3.1 %." in page
    assert "the functions with a bug are those before a fix, the others those after the fix." in page
    assert (
        "hyperheat bugs realise refs.jsonl.gz --repos REPOS --out REALBUGS --where fix_like=true --with-clean\n"
        in page
    )
    assert "if 5.0 % of functions have a bug" in page
    assert "| literal | 200 | 50 (25.0 %) | 200 | 50 (25.0 %) |" in page
    assert "| 0.990 | 97.0 % | 87.0 % | 40.0 % | 0.62 % |  |  |  |  |" in page
    assert "| cold scan, empty cache | 18.00 | 410 |" in page
    assert "costs 0.10 s after the start with a worker and the model, 0.40 s after the\nstart alone." in page
    assert "**0.80 times** as long as pylint" in page
    assert "--limit 3000 --bug-rate 0.05 --realbugs REALBUGS --tag fix --without test --json" in page
    assert "python -m benchmarks.check RICH --model MODEL --repeats 3 -j 2 --json" in page


def test_a_page_without_real_fixes_and_pylint(files: list[str], tmp_path: Path):
    held_out = CALIBRATION["calibration"]["curves"][:1]
    less = CALIBRATION | {
        "options": {"limit": 3000, "tag": [], "without": [], "realbugs": False},
        "calibration": CALIBRATION["calibration"] | {"curves": held_out},
        "tiers": CALIBRATION["tiers"][:2],
    }
    alone = SPEED | {"over_pylint": None, "seconds": {"start": 0.4, "cold": 18.0}, "peak_mb": {"cold": None}}
    (tmp_path / "calibration.json").write_text(json.dumps(less))
    (tmp_path / "speed.json").write_text(json.dumps(alone))
    collecting.main(files[:-1])
    page = writing.check_page(json.loads((tmp_path / "check.json").read_text()))
    assert "Real fixes" not in page
    assert "REALBUGS" not in page.partition("```sh")[2]
    assert "times** as long" not in page
    assert "| cold scan, empty cache | 18.00 |  |" in page


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("calibration", SPEED, "expected the output of hyperheat bugs calibrate --json"),
        ("speed", CALIBRATION, "expected the output of python -m benchmarks.check --json"),
        ("calibration", CALIBRATION | {"calibration": {}}, "expected the format 'hyperheat-calibration'"),
        (
            "calibration",
            CALIBRATION | {"options": {"realbugs": False}},
            "expected the folder that was given to",
        ),
    ],
)
def test_other_files_are_refused(
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: Any,
    message: str,
):
    (tmp_path / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(SystemExit):
        collecting.main(files)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "check.json").exists()
