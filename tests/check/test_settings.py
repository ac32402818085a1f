"""Settings: where they are looked for, what they may say, and which of two wins."""

from dataclasses import fields
from pathlib import Path

import pytest

from hyperheat.check.gitignore import Globs
from hyperheat.check.settings import (
    Settings,
    SettingsError,
    find_settings,
    load_settings,
    override_settings,
)

MODEL = "tool.hyperheat.model: expected the name of an installed model, got {}; a folder can only be given with --model"


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_all_settings_are_read(tmp_path):
    path = write(
        tmp_path,
        """
        [tool.hyperheat]
        select = ["HH1", "HH301", "HH302"]
        ignore = ["HH302"]
        exclude = ["gen/"]
        per-file-ignores = { "tests/" = ["HH3"], "*_old.py" = ["HH"] }
        max-alarms = 0.9
        model = "strict-2"
        tier = "B"
        fail-on = "C"
        baseline = "known.json"
        jobs = 2
        strict = true
        gitignore = false
        force-exclude = true
        """,
    )
    settings = load_settings(path)
    assert settings == Settings(
        select=("HH101", "HH301", "HH302"),
        ignore=("HH302",),
        exclude=Globs.of(["gen/"], tmp_path),
        per_file_ignores=(
            (Globs.of(["tests/"], tmp_path), ("HH301", "HH302")),
            (Globs.of(["*_old.py"], tmp_path), ("HH101", "HH201", "HH301", "HH302", "HH401")),
        ),
        max_alarms=0.9,
        model="strict-2",
        tier="B",
        fail_on="C",
        baseline=tmp_path / "known.json",
        jobs=2,
        strict=True,
        gitignore=False,
        force_exclude=True,
        source=path,
    )
    untouched = [f.name for f in fields(Settings) if getattr(settings, f.name) == f.default]
    assert untouched == ["min_confidence"]  # which excludes the other
    assert settings.rules_for(tmp_path / "src/a.py") == {"HH101", "HH301"}
    assert settings.rules_for(tmp_path / "tests/deep/a.py") == {"HH101"}
    assert settings.rules_for(tmp_path / "src/a_old.py") == set()


def test_the_nearest_file_with_a_table_is_found_inside_of_the_repository(tmp_path):
    write(tmp_path, "[tool.hyperheat]\n")
    root = write(tmp_path / "repo", "[tool.hyperheat]\njobs = 2\n")
    write(tmp_path / "repo/part", "[tool.other]\n")
    inner = write(tmp_path / "repo/own", "[tool.hyperheat]\njobs = 3\n")
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/part/a.py").touch()
    assert find_settings(tmp_path / "repo/part/a.py") == root
    assert find_settings(tmp_path / "repo/own") == inner
    root.unlink()
    assert find_settings(tmp_path / "repo/part") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("max_alarm = 0.9", "tool.hyperheat.max_alarm: did you mean max-alarms?"),
        ("max-alarms = 0", "tool.hyperheat.max-alarms: expected alarms per 1,000 functions, above 0, got 0"),
        ("model = 'models/mine'", MODEL.format("'models/mine'")),
        ("model = '..'", MODEL.format("'..'")),
        ("model = '/tmp/model'", MODEL.format("'/tmp/model'")),
        ("model = 3", MODEL.format("3")),
        ("min-confidence = true", "tool.hyperheat.min-confidence: expected a number from 0 to 1, got True"),
        ("jobs = 0", "tool.hyperheat.jobs: expected a whole number from 1, got 0"),
        ("tier = 'D'", "tool.hyperheat.tier: expected a tier of A, B, C, got 'D'"),
        ("tier = ['A']", "tool.hyperheat.tier: expected a tier of A, B, C, got ['A']"),
        ("strict = 1", "tool.hyperheat.strict: expected true or false, got 1"),
        ("select = 'HH101'", "tool.hyperheat.select: expected a list of texts, got 'HH101'"),
        ("ignore = ['HH110']", "tool.hyperheat.ignore: unknown rule 'HH110': did you mean HH101?"),
        ("baseline = 3", "tool.hyperheat.baseline: expected the path of a file, got 3"),
        ("per-file-ignores = ['a']", "tool.hyperheat.per-file-ignores: expected rules by glob, got ['a']"),
        (
            "max-alarms = 0.9\nmin-confidence = 0.5",
            "tool.hyperheat: min-confidence and max-alarms cannot be used together",
        ),
    ],
)
def test_mistakes_are_told_in_one_sentence(tmp_path, text, sentence):
    path = write(tmp_path, f"[tool.hyperheat]\n{text}\n")
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    assert str(error.value) == f"{path}: {sentence}"


@pytest.mark.parametrize("text", [b"[tool", b"\xff", b"a = " + b"[" * 5000, b"[tool]\nhyperheat = 3\n"])
def test_files_that_are_no_settings(tmp_path, text):
    (tmp_path / "pyproject.toml").write_bytes(text)
    sentences = "not valid TOML: |the TOML is nested too deeply|tool.hyperheat: expected a table"
    with pytest.raises(SettingsError, match=rf"pyproject\.toml: ({sentences})"):
        find_settings(tmp_path)


def test_the_command_line_wins(tmp_path):
    settings = Settings(min_confidence=0.5, tier="B", exclude=Globs.of(["x"], "/elsewhere"))
    options = {"max-alarms": 0.8, "tier": None, "exclude": ("y",), "jobs": 4, "baseline": Path("b.json")}
    assert override_settings(settings, options, folder=tmp_path) == Settings(
        max_alarms=0.8,
        tier="B",
        exclude=Globs.of(["y"], tmp_path),
        jobs=4,
        baseline=tmp_path / "b.json",
    )
    with pytest.raises(SettingsError, match=r"^--jobs: expected a whole number from 1, got -1$"):
        override_settings(settings, {"jobs": -1}, folder=tmp_path)
    with pytest.raises(SettingsError, match="command line: min-confidence and max-alarms"):
        override_settings(settings, {"max-alarms": 0.8, "min-confidence": 0.1}, folder=tmp_path)
