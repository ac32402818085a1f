"""`python -m benchmarks.extract` on a small folder."""

import json
from pathlib import Path

import pytest

from benchmarks.extract import main as bench_extract


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text("def f(x):\n    return len(x) + unknown(x)\n" * 50)
    (tmp_path / "old.py").write_text("print 'x'\n")
    (tmp_path / "notes.txt").write_text("no code")
    return tmp_path


def test_json_has_all_measures(folder: Path, capsys: pytest.CaptureFixture[str]):
    bench_extract(json=True, paths=[folder])
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in ("calls", "calls_resolved", "files", "files_failed")} == {
        "calls": 100,
        "calls_resolved": 50,
        "files": 2,
        "files_failed": 1,
    }
    assert found["functions_per_second"] > 0
    assert found["kb_per_second"] > 0
    assert found["cost_over_parse_and_tokenize"] > 0


def test_the_table_is_readable(folder: Path, capsys: pytest.CaptureFixture[str]):
    bench_extract(paths=[folder / "good.py"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "calls resolved to formal names  50 of 100 (50.0%)"
    assert lines[4] == "files                           1, of which 0 give no graph"


def test_a_missing_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        bench_extract(paths=[tmp_path / "none"])
    assert stop.value.code == 2
    assert "no such file or folder" in capsys.readouterr().err
