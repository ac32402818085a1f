"""`hyperheat demo`: every planted bug is found with its repair, and nothing else."""

import ast
from importlib.resources import files
from pathlib import Path

import pytest

import hyperheat
from hyperheat.cli import app
from hyperheat.cli.demo import demo

EXAMPLE = Path(str(files("hyperheat") / "check" / "example"))
BUGS = {
    "to_text": "isinstance(value, bytes)",
    "is_number": 're.match(r"\\d+(\\.\\d+)?$", text)',
    "first_or": "return item",
    "lookup": "return default",
    "Basket.__init__": "self.items = list(items)",
}
SHOP = (
    "def first_or(items, default=None):\n    for item in items:\n        return items\n    return default\n"
)


def test_the_example_compiles_and_has_as_many_bugs_as_it_says():
    for path in EXAMPLE.glob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"))
    assert "Five functions" in (EXAMPLE / "planted.py").read_text(encoding="utf-8")
    assert len(BUGS) == 5


def test_all_planted_bugs_are_found_and_nothing_else(capfdbinary: pytest.CaptureFixture[bytes]):
    demo()
    text, summary = (part.decode() for part in capfdbinary.readouterr())
    found = text.split("\n\n")
    assert len(found) == len(BUGS)
    for block, (function, repaired) in zip(found, BUGS.items(), strict=True):
        assert "example/planted.py:" in block
        assert block.splitlines()[1].endswith(f" in {function}")
        (repair,) = (line for line in block.splitlines() if line.lstrip().startswith("+ |"))
        assert repaired in repair
    assert "Checked 2 files" in summary
    assert "5 findings: " in summary


def test_the_detector_in_the_package_is_small_and_says_where_it_comes_from():
    folder = Path(str(files("hyperheat") / "model"))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 15_000_000
    card = (folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "held-out packages" in card
    assert "real fixes" in card


def test_a_text_can_be_checked_in_python():
    (found,) = hyperheat.check(SHOP)
    assert (found.rule, found.line) == ("HH101", 3)


def test_a_function_smaller_than_any_that_was_measured_is_not_judged():
    assert hyperheat.check("def has_next(self):\n    return not self._done\n") == []


def test_the_manual_shows_what_the_checker_says(tmp_path, capfdbinary, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "shop.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        app(["check", "--tier", "C", "src/", "--no-cache"])
    assert stop.value.code in (0, 1)  # 1 if the model has a tier A
    page = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    assert f"```text\n{capfdbinary.readouterr().out.decode()}```" in page
