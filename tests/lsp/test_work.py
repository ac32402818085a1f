"""The settings for a document: from its project and the editor, and what is told if they cannot be used."""

from pathlib import Path

import pytest
from tests.check.scores import CALIBRATION

from hyperheat.detector.detector import Detector
from hyperheat.lsp.work import DocumentSettings, SettingsJob, read_for

DETECTOR = Detector(Path(), "fake", "0" * 64, CALIBRATION, "key")


def read(
    folder: Path, name: str | None = "src/a.py", settings: str = "", **options: object
) -> DocumentSettings:
    (folder / "pyproject.toml").write_text(f"[tool.hyperheat]\n{settings}\n")
    path = None if name is None else folder / name
    return read_for(SettingsJob(path=path, folder=folder, options=options), DETECTOR)


def test_the_project_is_asked_first_and_the_editor_wins(tmp_path):
    text = 'tier = "B"\nignore = ["HH4"]\nper-file-ignores = { "src/" = ["HH1", "HH900"] }'
    found = read(tmp_path, settings=text, tier="C")
    assert (found.settings.tier, found.shown, found.problems) == ("C", "src/a.py", ())
    assert found.settings.rules == {"HH201", "HH301", "HH302"}
    assert found.settings.ignores("HH900", tmp_path / "src/a.py")
    other = read(tmp_path, "b.py", settings=text)
    assert (other.settings.tier, other.settings.rules) == ("B", {"HH101", "HH201", "HH301", "HH302"})
    assert not other.settings.ignores("HH900", tmp_path / "b.py")


def test_a_document_that_was_never_saved_has_the_settings_of_the_folder(tmp_path):
    found = read(tmp_path, None, settings='tier = "B"\nexclude = ["*"]')
    assert (found.settings.tier, found.left_out) == ("B", False)


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("src/a.py", False), ("made/a.py", True), (".venv/a.py", True), ("build/x/a.py", True)],
)
def test_what_the_project_excludes_is_left_out(tmp_path, name, left_out):
    assert read(tmp_path, name, settings='exclude = ["made/"]').left_out is left_out


def test_files_outside_of_the_project_are_checked_unless_they_are_installed(tmp_path):
    (tmp_path / "project").mkdir()
    assert not read(tmp_path / "project", str(tmp_path / "other/build/a.py")).left_out
    assert read(tmp_path / "project", "/lib/python3/dist-packages/a.py").left_out


@pytest.mark.parametrize(
    ("settings", "options", "problem"),
    [
        ("tire = 1", {}, "did you mean tier?"),
        ("", {"tier": "E"}, "hyperheat.tier: expected a tier of"),
        ("", {"exclude": "src"}, "hyperheat.exclude: expected a list of texts"),
        ('baseline = "gone.json"', {}, "gone.json"),
        ('baseline = "../known.json"', {}, "expected a file in this folder"),
        ('model = "large"', {}, "start the server with --model large"),
        ("max-alarms = 0", {}, "alarms"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(tmp_path, settings, options, problem):
    found = read(tmp_path, settings=settings, **options)
    assert len(found.problems) == 1
    assert problem in found.problems[0]
    assert found.settings.tier == "A"
    assert found.baseline is None
    assert found.settings.max_alarms is None


def test_the_model_that_a_project_names_may_be_that_of_the_server(tmp_path):
    assert read(tmp_path, settings='model = "fake"').problems == ()
