"""`hyperheat doctor`: what it tells, and which problems it finds."""

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from tests.cli.scans import BUGGY, CLEAN, Project

import hyperheat
from hyperheat.detector.detector import load_detector
from hyperheat.extras import EXTRAS

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def healthy(project: Project, exported_detector: Path) -> Project:
    """A project with a detector that has all of its files, and a cache of its own."""
    detector = load_detector(exported_detector)
    project.patch.setattr("hyperheat.check.installed_models.load_model", lambda text, setting=None: detector)
    project.patch.setenv("HYPERHEAT_CACHE", str(project.folder / "cache"))
    return project


def facts(project: Project, *words: str) -> tuple[int, list[tuple[str, str, bool]]]:
    code, out, err = project.run("doctor", "--format", "json", *words)
    assert err == ""
    return code, [(fact["about"], fact["text"], fact["problem"]) for fact in json.loads(out)]


def test_all_is_well(healthy: Project):
    code, told = facts(healthy)
    assert code == 0
    assert not any(problem for _, _, problem in told)
    text = {about: [t for a, t, _ in told if a == about] for about, _, _ in told}
    assert text["hyperheat"][0].startswith(f"{hyperheat.__version__}, ")
    assert re.search(r"reads the syntax of Python 3\.\d+ and older", text["python"][1])
    assert re.fullmatch(r"sha256 [0-9a-f]{64}; all files are those of the manifest", text["model"][1])
    assert "tier A" in text["model"][2]
    assert text["cache"] == [f"{healthy.folder / 'cache'}, 0.0 MB in 0 files", "writable"]
    assert [line.partition(":")[0] for line in text["extras"]] == list(EXTRAS)
    code, out, _ = healthy.run("doctor")
    assert out.startswith("hyperheat  ")
    assert "\nmodel      " in out


def test_functions_that_are_not_judged_are_counted(healthy: Project):
    healthy.write(a=BUGGY, b=CLEAN, c="what?")
    code, told = facts(healthy, "a.py", "b.py", "c.py")
    assert code == 0
    assert [text for about, text, _ in told if about == "functions"] == [
        "3 in 2 files, 2 of them judged",
        "33% not judged: fewer than 1 candidate changes, or IPython commands",
        "1 files could not be checked: see hyperheat check",
    ]


def test_a_damaged_model_is_a_problem(project: Project, exported_detector: Path):
    folder = shutil.copytree(exported_detector, project.folder / "damaged")
    with (folder / "model.safetensors").open("ab") as file:
        file.write(b"x")
    project.patch.setattr(
        "hyperheat.check.installed_models.load_model", lambda text, setting=None: load_detector(folder)
    )
    code, told = facts(project, "a.py")
    assert code == 1
    ((about, text, _),) = [fact for fact in told if fact[2]]
    assert about == "model"
    assert "model.safetensors: expected " in text
    assert "PROBLEM: " in project.run("doctor").out


def test_a_cache_that_cannot_be_used_is_a_problem(healthy: Project):
    cache = healthy.folder / "cache"
    cache.mkdir()
    allowed = os.access
    healthy.patch.setattr(os, "access", lambda path, mode: Path(path) != cache and allowed(path, mode))
    code, told = facts(healthy)
    assert code == 1
    assert ("cache", f"{cache} cannot be written: results are not kept", True) in told
    healthy.patch.undo()
    healthy.patch.chdir(healthy.folder)
    cache.chmod(0o777)
    healthy.patch.setenv("HYPERHEAT_CACHE", str(cache))
    code, told = facts(healthy)
    assert code == 1
    assert any(
        about == "cache" and "can be written to by others" in text for about, text, problem in told if problem
    )


def test_settings_that_cannot_be_used_are_a_problem(healthy: Project):
    _, told = facts(healthy)
    assert ("settings", "none: the defaults apply", False) in told
    path = healthy.folder / "pyproject.toml"
    path.write_text("[tool.hyperheat]\ntier = 'B'\n")
    assert ("settings", str(path), False) in facts(healthy)[1]
    path.write_text("[tool.hyperheat]\ntier = 'Z'\n")
    code, told = facts(healthy)
    assert code == 1
    ((about, text, _),) = [fact for fact in told if fact[2]]
    assert (about, text.startswith(f"{path}: tool.hyperheat.tier: expected a tier of")) == ("settings", True)


def test_missing_packages_are_named_with_what_installs_them(healthy: Project):
    healthy.patch.setitem(EXTRAS, "web", ("starlette", "not-there"))
    _, told = facts(healthy)
    sentence = "web: not-there not installed; to get it: pip install 'hyperheat[web]'"
    assert ("extras", sentence, False) in told


def test_extras_are_those_of_the_project():
    listed = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    listed = {name: [re.split(r"[>=\[]", line)[0] for line in lines] for name, lines in listed.items()}
    del listed["dev"]
    assert {name: [p for p in packages if p != "hyperheat"] for name, packages in listed.items()} == {
        name: list(packages) for name, packages in EXTRAS.items()
    }
