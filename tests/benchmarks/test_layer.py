"""`python -m benchmarks.layer`, as users run it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_layers_give_the_promised_records():
    options = {"--workload": "code", "--dim": "128", "--layers": "1", "--repeats": "1", "--threads": "1"}
    words = [word for option in options.items() for word in option]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.layer", *words, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [(r["workload"], r["dim"], r["layers"], r["pass"]) for r in records] == [
        ("code", 128, 1, "forward"),
        ("code", 128, 1, "forward+backward"),
    ]
    for record in records:
        assert record["ms"] > 0
        assert record["speedup_over_paper"] > 1
        assert 0 < record["share_of_limit"] < 2
        assert record["peak_mb"] is None or record["peak_mb"] < record["paper_peak_mb"]
        assert set(record["others_ms"]) >= {"paper", "paper, lean", "AllSetTransformer"}
