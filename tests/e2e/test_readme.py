"""What the README shows is what happens."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hyperheat", *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=120)


def test_the_python_block_runs_and_its_comment_is_true():
    (code,) = (block for block in blocks("python") if "HeatEncoder" in block)
    scope: dict = {}
    exec(code, scope)
    assert "states.nodes [6, 64], states.edges [2, 64]" in code
    assert scope["states"].nodes.shape == (6, 64)
    assert scope["states"].edges.shape == (2, 64)


def test_the_demo_prints_what_the_readme_shows():
    (block,) = (block for block in blocks("console") if block.startswith("$ make demo"))
    shown = block.splitlines()[1:]
    assert run("demo").stdout.splitlines() == shown
    assert "hyperheat demo" in (ROOT / "Makefile").read_text()


def test_the_first_screen_does_not_need_a_package_index():
    lines = [line for block in blocks("console") for line in block.splitlines()]
    installs = [line for line in lines if "pip install" in line]
    assert installs
    assert all(re.match(r"\$ pip install '?\.", line) for line in installs)
    assert "not on PyPI" in README
    for page in (ROOT / "docs").rglob("*.md"):
        commands = re.findall(r"^\$ pip install (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert all(re.match(r"'?\.|'?(hyperheat\[train\] @ )?git\+", command) for command in commands), page


def test_the_home_page_shows_what_the_readme_shows():
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shown = [
        line.partition("  #")[0]
        for block in re.findall(r"```\w+\n(.*?)```", home, flags=re.DOTALL)
        for line in block.splitlines()
    ]
    known = {line.partition("  #")[0] for line in README.splitlines()}
    assert shown
    assert set(shown) <= known


def test_the_architecture_page_names_every_package_and_no_forbidden_import():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "hyperheat"
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"\w+", row)}
    packages = {path.parent.name for path in source.glob("*/__init__.py")}
    modules = {path.stem for path in source.glob("[!_]*.py")}
    assert packages <= named <= packages | modules
    drawing = (ROOT / "docs" / "architecture-folders.svg").read_text(encoding="utf-8")
    for importer, imported in re.findall(r'id="(\w+)-(\w+)"', drawing):
        texts = [path.read_text(encoding="utf-8") for path in (source / importer).rglob("*.py")]
        imports = rf"^\s*from hyperheat(\.{imported}\b| import .*\b{imported}\b)"
        assert any(re.search(imports, text, re.MULTILINE) for text in texts), f"{importer} -> {imported}"


def test_the_figures_of_the_checker_are_those_that_were_measured():
    content = json.loads((ROOT / "docs" / "results" / "check.json").read_text())
    updating = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "update_examples.py")))
    assert updating.worth(content) in " ".join(README.split())


def test_the_figures_of_completion_are_those_that_were_measured():
    rows, degrees = (
        json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text()) for name in ("kg", "kg-degree")
    )
    chosen = ("HEAT around each question", "StarE's")
    row = next(row for row in rows if (row["row"], row["protocol"]) == chosen)
    text = " ".join(README.split())
    assert f"one core for {row['minutes']:.0f} minutes, HEAT over the statements around each question" in text
    assert f"reaches {row['mrr']:.3f} MRR on WD50K(100)" in text
    alone = degrees["mrr"]["vectors alone"]["both"]
    assert f"without the graph, the first of ours has {alone:.3f}:" in text


def test_the_commands_of_the_checker_work(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "area.py").write_text("def area(width, height):\n    return width * height\n")
    lines = [line for block in blocks("console") for line in block.splitlines()]
    lines = [line for line in lines if re.match(r"\$ hyperheat (check|fix)", line)]
    assert len(lines) == 3
    for line in lines:
        words = line.partition("#")[0].removeprefix("$ hyperheat ").split()
        command = [sys.executable, "-m", "hyperheat", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr


def test_the_graph_command_works():
    (line,) = (line for block in blocks("console") for line in block.splitlines() if "| hyperheat" in line)
    match = re.fullmatch(r"\$ echo '(.*)' \| hyperheat (.*)", line)
    assert match is not None
    done = run(*match[2].split(), stdin=match[1] + "\n")
    assert done.returncode == 0, done.stderr
    assert "__sub__" in done.stdout


def test_the_import_command_works(tmp_path):
    (line,) = (line for block in blocks("console") for line in block.splitlines() if "kg import" in line)
    words = line.removeprefix("$ hyperheat ").split()
    (tmp_path / "statements.csv").write_text(
        "head,relation,tail,q:degree\nEinstein,educated at,ETH Zurich,diploma\nCurie,educated at,Sorbonne,\n"
    )
    command = [sys.executable, "-m", "hyperheat", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert any((tmp_path / "data").iterdir())


def test_the_ten_lines_from_a_data_frame_work(tmp_path, monkeypatch, capsys):
    (code,) = (block for block in blocks("python") if "kg.fit" in block)
    assert len([line for line in code.splitlines() if line.strip()]) == 10
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "src" / "hyperheat" / "kg" / "demo" / "data" / "train.csv", "statements.csv")
    scope: dict = {}
    exec(code, scope)
    printed = capsys.readouterr().out
    held_out = len(scope["frame"]) - len(scope["model"].statements)
    assert 60 < held_out <= 77  # a tenth, as far as no name loses its last statement
    assert f"the statements: {held_out} statements" in printed
    (found,) = scope["again"].predict(scope["questions"])["answer"]
    assert found in ("Massachusetts Institute of Technology", "Princeton University")
    assert (
        "together with.1" not in scope["model"].relations.names
    )  # as pandas calls the second column of a name


def test_the_bug_commands_work(tmp_path):
    lines = [line for block in blocks("console") for line in block.splitlines() if "hyperheat bugs" in line]
    assert [line.split()[3] for line in lines] == ["corpus", "train"]
    shutil.copytree(ROOT / "tests" / "bugs" / "corpus" / "project", tmp_path / "src")
    small = "--set model.layers=1 train.max_steps=2 train.warmup=1 train.validate_every=2 validation=20"
    for line, extra in zip(lines, ("--workers 1", small), strict=True):
        command = [
            sys.executable,
            "-m",
            "hyperheat",
            *line.removeprefix("$ hyperheat ").split(),
            *extra.split(),
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "best" / "model.safetensors").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_make_target_that_is_named_exists():
    named = set(re.findall(r"`?make (\w+)", README + (ROOT / "CONTRIBUTING.md").read_text()))
    done = subprocess.run(
        ["make", "-n", *sorted(named)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_link_leads_to_a_file():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_name_in_the_documentation_exists():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        dotted = set(re.findall(r"(?:`|\[|::: )(hyperheat(?:\.\w+)+)(?=[`\]\s(])", text))
        for name in dotted - {"hyperheat.xml", "hyperheat.sarif"}:
            assert _exists(name), f"{page.name}: {name}"
        for path in re.findall(r"`((?!src/)(?:\w+/)+\w+\.py)`", text):
            assert (ROOT / "src" / "hyperheat" / path).exists() or (ROOT / path).exists(), (
                f"{page.name}: {path}"
            )


def _exists(name: str) -> bool:
    """Whether a dotted name is that of a module, or of something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False
