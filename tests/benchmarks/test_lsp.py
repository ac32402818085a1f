"""The benchmark of the language server: its steps, and which part of a file it takes."""

import json

import pytest

from benchmarks import lsp

TEXT = (
    '"""Text."""\n\n\ndef area(width, height):\n    return width * width\n\n\n'
    "class C:\n    def f(self, a):\n        return a\n"
)


def test_whole_statements_are_cut():
    assert lsp.cut_lines(TEXT, 1) == '"""Text."""\n'
    assert lsp.cut_lines(TEXT, 2) == TEXT[: TEXT.index("\n\n\nclass") + 1]
    assert lsp.cut_lines(TEXT, 9) == lsp.cut_lines(TEXT, 10_000) == TEXT


def test_every_step_is_measured_and_printed(exported_detector, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    path = tmp_path / "code.py"
    path.write_text(TEXT)
    lsp.main(path, model=exported_detector, repeats=1, json=True)
    content = json.loads(capsys.readouterr().out)
    assert (content["code"], content["lines"], content["functions"]) == ("code.py", 10, 2)
    assert set(content["median_ms"]) == set(content["slowest_ms"]) == set(lsp.STEPS)
    assert all(0 <= spent < 100_000 for spent in content["median_ms"].values())


def test_a_file_without_functions_is_refused(tmp_path, capsys):
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    with pytest.raises(SystemExit):
        lsp.main(path, repeats=1)
    assert "expected a function of several lines, got none" in capsys.readouterr().err
