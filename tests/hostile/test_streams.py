"""Standard streams that are closed or full: no traceback, no other file in their place, the right exit code."""

import os
from pathlib import Path

import pytest
from tests.hostile.projects import GOOD, hyperheat

FOUND = (0, 1)
COMMANDS = {
    "check": ("check", "--no-cache"),
    "json": ("check", "--no-cache", "--show-all", "--output-format", "json", "-o", "out.json"),
    "fix": ("fix", "--no-cache", "--tier", "C"),
    "explain": ("explain", "HH101"),
    "refusal": ("check", "--timeout", "0"),
    "graph": ("graph", "good.py"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, exported_detector: Path, command: str, closing: str):
    (tmp_path / "good.py").write_text(GOOD)
    words = COMMANDS[command]
    if words[0] in ("check", "fix"):
        words = (*words, "--model", str(exported_detector))
    before = ("bash", "-c", f'exec "$@" {closing}', "-")
    ran = hyperheat(*words, cwd=tmp_path, before=before)
    assert ran.code in (FOUND if command != "refusal" else (2,))
    assert "Traceback" not in ran.err
    assert (tmp_path / "good.py").read_text() == GOOD
    if command == "json":
        assert (tmp_path / "out.json").read_text().startswith("{")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize("command", COMMANDS)
def test_full_streams(tmp_path: Path, exported_detector: Path, command: str):
    (tmp_path / "good.py").write_text(GOOD)
    words = COMMANDS[command]
    if words[0] in ("check", "fix"):
        words = (*words, "--model", str(exported_detector))
    errors = hyperheat(*words, cwd=tmp_path, before=("bash", "-c", 'exec "$@" 2>/dev/full', "-"))
    assert errors.code in (FOUND if command != "refusal" else (2,))
    full = hyperheat(*words, cwd=tmp_path, before=("bash", "-c", 'exec "$@" >/dev/full', "-"))
    assert "Traceback" not in full.err
    if command not in ("refusal", "check"):  # which say nothing there
        assert full.code == 2
        assert full.err.endswith("No space left on device\n")
