"""The page of the checker, from figures made up by hand."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperheat.bugs.dataset import HEAD
from hyperheat.detector.alarms import AlarmPoint, Alarms
from hyperheat.detector.calibration import HELD_OUT, REAL_FIXES, Calibration, Curve, Point

ROOT = Path(__file__).parents[2]
writing = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "write_results.py")))
collecting = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "collect_check.py")))


FOUND = Calibration(
    slope=0.9,
    intercept=-1.0,
    bug_rate=0.05,
    min_candidates=6,
    curves=(
        Curve(
            data=HELD_OUT,
            functions=4000,
            bugs=1500,
            error=0.0312,
            points=(
                Point(confidence=0.3, found=900, alarms=50),
                Point(confidence=0.62, found=600, alarms=9),
            ),
        ),
        Curve(
            data=REAL_FIXES,
            functions=400,
            bugs=200,
            error=0.2,
            points=(
                Point(confidence=0.3, found=20, alarms=9),
                Point(confidence=0.62, found=1, alarms=0),
            ),
        ),
    ),
    alarms=Alarms(
        packages=150,
        functions=50_000,
        not_judged=30_000,
        points=(
            AlarmPoint(confidence=0.3, alarms=100, upper=0.0025),
            AlarmPoint(confidence=0.62, alarms=10, upper=0.00032),
        ),
    ),
)
CALIBRATION = {
    "model": "0" * 64,
    "options": {
        "limit": 3000,
        "tag": ["fix"],
        "without": ["test"],
        "functions": 500,
        "realbugs": True,
        "unedited": True,
    },
    "calibration": json.loads(FOUND.to_json()),
    "tiers": dict(FOUND.tiers),
    "empty": {tier: FOUND.why_empty(tier) for tier in ("safe", *"ABC")},
    "kinds": [
        {"data": HELD_OUT, "tier": "B", "kinds": {"clean": [2500, 16], "literal": [200, 50]}},
        {"data": REAL_FIXES, "tier": "B", "kinds": {"clean": [200, 9], "literal": [200, 20]}},
    ],
    "surest": [
        {
            "package": "flask",
            "confidence": 0.95,
            "tier": "B",
            "path": "flask/app.py",
            "function": "f",
            "line": 7,
            "kind": "literal",
            "message": "did you mean `0` instead of `a | 1`?",
        }
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
    assert "50,000 functions of 150 popular packages" in page
    assert "30,000 more functions were not judged" in page
    assert "| A | 1 alarm in 3,000 functions | empty |  |  |  |  |  |" in page
    assert (
        "| B | 1 alarm in 300 functions | 0.300 | 100 | 2 | 2.5 | 900 of 1,500 (60.0 %) | 20 of 200 (10.0 %) |"
        in page
    )
    assert (
        "- Tier A: at 1 alarm in 3,000 functions the model finds 1 of 200 real bugs, too few to tell from chance."
        in page
    )
    assert "| 0.3 per 1,000 | 0.620 | 10 | 0.2 | 0.32 | 600 of 1,500 (40.0 %) | 1 of 200 (0.5 %) |" in page
    assert "| 3 per 1,000 | 0.300 |" in page
    assert "| 0.1 per 1,000 |" not in page
    assert "| 0.950 | flask | `flask/app.py:7` | did you mean `0` instead of `a \\| 1`? |" in page
    assert "- Calibration error on planted bugs, if 5.0 % of functions have a bug: 3.1 %" in page
    assert "the functions with a bug are those before a fix, the others those after the fix." in page
    assert (
        "hyperheat bugs realise refs.jsonl.gz --repos REPOS --out REALBUGS --where fix_like=true --with-clean\n"
        in page
    )
    assert "| literal | 200 | 50 (25.0 %) | 200 | 20 (10.0 %) |" in page
    assert not [line for line in page.splitlines() if "precision" in line]
    assert "| cold scan, empty cache | 18.00 | 410 |" in page
    assert "costs 0.10 s after the start with a worker and the model, 0.40 s after the\nstart alone." in page
    assert "**0.80 times** as long as pylint" in page
    assert "--limit 3000 --bug-rate 0.05 --realbugs REALBUGS --tag fix --without test \\\n" in page
    assert (
        "  --unedited data/unedited_packages.txt --workspace WORK --functions 500 --json > calibration.json\n"
        in page
    )
    assert "python -m benchmarks.check RICH --model MODEL --repeats 3 -j 2 --json" in page


def test_a_page_without_real_fixes_and_pylint(files: list[str], tmp_path: Path):
    held_out = CALIBRATION["calibration"]["curves"][:1]
    less = CALIBRATION | {
        "options": CALIBRATION["options"] | {"tag": [], "without": [], "realbugs": False},
        "calibration": CALIBRATION["calibration"] | {"curves": held_out},
        "kinds": [],
        "surest": [],
    }
    alone = SPEED | {"over_pylint": None, "seconds": {"start": 0.4, "cold": 18.0}, "peak_mb": {"cold": None}}
    (tmp_path / "calibration.json").write_text(json.dumps(less))
    (tmp_path / "speed.json").write_text(json.dumps(alone))
    collecting.main(files[:-1])
    page = writing.check_page(json.loads((tmp_path / "check.json").read_text()))
    assert "real bugs" not in page.replace("may be real bugs", "")
    assert "by kind of bug" not in page
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
            CALIBRATION | {"calibration": CALIBRATION["calibration"] | {"alarms": None}},
            "expected alarms on unedited code, got none",
        ),
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
