"""Models by name: where they come from, what cannot be one, and what is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.scans import CLEAN

from hyperheat.check import installed_models, model_check
from hyperheat.check.cache import Cache, CacheError
from hyperheat.check.checker import Checker, check_paths
from hyperheat.check.discovery import FoundFile
from hyperheat.check.installed_models import find_model, load_model
from hyperheat.check.model_check import ModelCheck
from hyperheat.check.scan import scan_files
from hyperheat.check.settings import Settings
from hyperheat.cli.models import models
from hyperheat.detector.detector import load_detector
from hyperheat.workers.outcomes import WorkersError

FUNCTION = """
def area(width, height):
    total = width * width
    if total > height:
        return width
    return total
"""


@pytest.fixture
def user_models(tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, with a model `mine` in it."""
    folder = tmp_path / "models"
    folder.mkdir(mode=0o700)
    shutil.copytree(exported_detector, folder / "mine")
    monkeypatch.setenv(installed_models.MODELS_VARIABLE, str(folder))
    return folder


@pytest.fixture
def package(tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that offers the model `strict`, and cannot be imported."""
    site = tmp_path / "site"
    (site / "acme_models").mkdir(parents=True)
    (site / "acme_models" / "__init__.py").write_text("raise SystemExit('imported')\n")
    shutil.copytree(exported_detector, site / "acme_models" / "strict")
    info = site / "acme_models-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-models\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[hyperheat.models]\nstrict = acme_models.strict\ngone = acme_models.gone\nother = not_installed.at_all\n"
    )
    monkeypatch.syspath_prepend(str(site))
    return site / "acme_models" / "strict"


def test_the_model_in_the_package_has_a_name():
    assert load_model(None) == load_model("built-in") == load_detector()


def test_a_model_of_the_user(user_models: Path):
    detector = load_model("mine")
    assert (detector.name, detector.folder) == ("mine", user_models / "mine")


def test_a_model_of_a_package_is_found_without_importing_it(package: Path):
    model = find_model("strict")
    assert model is not None
    assert (model.folder, model.version, model.source) == (package, "1.2", "the package acme-models 1.2")
    assert load_model("strict").name == "strict"
    assert find_model("gone") is None
    assert "acme_models" not in sys.modules


def test_two_models_of_one_name_are_refused(user_models: Path, package: Path):
    shutil.copytree(package, user_models / "strict")
    with pytest.raises(ValueError, match=r"strict: two models of this name are installed: .* and "):
        load_model("strict")


def test_a_folder_is_taken_if_no_model_has_its_name(
    user_models: Path, exported_detector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("here", "mine"):
        shutil.copytree(exported_detector, tmp_path / name)
    assert load_model("here").folder == tmp_path / "here"
    assert load_model("mine").folder == user_models / "mine"
    assert load_model("./mine").folder == tmp_path / "mine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("/nonexistent", "^/nonexistent: there is no such folder$"),
        ("./absent", r"^\./absent: there is no such folder$"),
        (
            "minne",
            "^minne: no model of this name is installed, and there is no such folder; did you mean mine",
        ),
        ("file.txt", r"^file\.txt: expected the name of an installed model or a folder, got a file$"),
        ("empty", "empty: not a detector: there is no manifest.json in this folder$"),
    ],
)
def test_what_is_no_model_is_told_in_one_sentence(
    user_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=sentence):
        load_model(text)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_a_folder_that_others_can_write_to_is_refused(user_models: Path):
    user_models.chmod(0o777)
    with pytest.raises(CacheError, match="not used for models: it can be written to by others"):
        load_model("mine")


def test_a_project_names_an_installed_model_but_no_folder(user_models: Path, tmp_path: Path):
    project = tmp_path / "project"
    shutil.copytree(user_models / "mine", project / "evil")
    (project / "a.py").write_text(FUNCTION)
    settings = project / "pyproject.toml"
    settings.write_text('[tool.hyperheat]\nmodel = "mine"\n')
    assert check_paths([project]).model.name == "mine"
    settings.write_text('[tool.hyperheat]\nmodel = "./evil"\n')
    with pytest.raises(ValueError, match=r"expected the name of an installed model, got '\./evil'"):
        check_paths([project])


def test_a_folder_of_the_project_does_not_pass_for_a_name(
    tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(exported_detector, tmp_path / "evil")
    (tmp_path / "a.py").write_text(FUNCTION)
    (tmp_path / "pyproject.toml").write_text('[tool.hyperheat]\nmodel = "evil"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="evil: no model of this name is installed"):
        check_paths(["."])
    command = [sys.executable, "-m", "hyperheat", "check", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evil: no model of this name is installed")


def test_a_damaged_model_is_refused_when_all_results_are_cached(
    tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch
):
    model = shutil.copytree(exported_detector, tmp_path / "model")
    (tmp_path / "a.py").write_text(FUNCTION)
    (tmp_path / "b.py").write_text(CLEAN)
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "cache"))

    def scan() -> int:
        detector = load_detector(model)
        checker = Checker(settings=Settings(), detector=detector, root=tmp_path, cache=Cache.open(detector))
        return sum(file.cached for file in checker.scan_paths([tmp_path]).files)

    assert (scan(), scan()) == (0, 2)
    weights = model / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(WorkersError, match=r"model\.safetensors: the file was changed: its sha256 differs"):
        scan()
    content[-1] ^= 1
    weights.write_bytes(content)
    assert scan() == 2


def test_a_sound_model_is_read_once_and_not_at_every_warm_scan(
    tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[Path] = []
    monkeypatch.setattr(model_check, "read_folder", read.append)
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "cache"))
    detector = load_detector(shutil.copytree(exported_detector, tmp_path / "model"))
    cache = Cache.open(detector)

    def compare() -> None:
        check = ModelCheck(detector, cache)
        check.begin()
        check.finish()

    compare()
    compare()
    assert read == [detector.folder]
    os.utime(detector.folder / "vocab.json", (0, 0))
    compare()
    assert read == [detector.folder] * 2


def test_a_model_that_workers_have_loaded_is_not_read_again(
    tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[Path] = []
    monkeypatch.setattr(model_check, "read_folder", read.append)
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "cache"))
    detector = load_detector(shutil.copytree(exported_detector, tmp_path / "model"))
    path = tmp_path / "a.py"
    path.write_text(FUNCTION)

    def scan() -> None:
        files = [FoundFile("a.py", path)]
        list(scan_files(files, detector, jobs=1, cache=Cache.open(detector)))

    scan()
    scan()
    assert read == []
    weights = detector.folder / "model.safetensors"
    os.utime(weights, (0, 0))  # as if they were written again
    scan()
    assert read == [detector.folder]


def test_a_model_that_no_worker_needed_is_not_taken_for_sound(
    tmp_path: Path, exported_detector: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "cache"))
    detector = load_detector(shutil.copytree(exported_detector, tmp_path / "model"))
    (detector.folder / "model.safetensors").write_bytes(b"damaged")
    path = tmp_path / "a.py"
    path.write_text("NOTHING = 1\n")

    def scan() -> None:
        list(scan_files([FoundFile("a.py", path)], detector, jobs=1, cache=Cache.open(detector)))

    scan()
    with pytest.raises(WorkersError, match=r"model\.safetensors"):
        scan()


def test_the_list(user_models: Path, package: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        models()
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line and not line.startswith(" ")] == [
        f"built-in {load_model_version()}",
        "mine",
        "strict 1.2",
    ]
    assert f"  sha256    {load_model('mine').sha256}" in out
    assert "  tier A    at most 1 alarm in 3,000 functions" in out
    assert f"  card      {user_models / 'mine' / 'MODEL_CARD.md'}" in out


def load_model_version() -> str:
    import hyperheat

    return hyperheat.__version__


def test_the_list_names_a_damaged_model(user_models: Path, capsys: pytest.CaptureFixture[str]):
    with (user_models / "mine" / "model.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(SystemExit) as ended:
        models(json=True)
    assert ended.value.code == 2
    own, mine = json.loads(capsys.readouterr().out)
    assert (own["name"], own["problem"]) == ("built-in", None)
    assert set(own["tiers"]) == {"safe", "A", "B", "C"}
    assert "model.safetensors: expected" in mine["problem"]
