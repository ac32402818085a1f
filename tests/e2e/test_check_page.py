"""What docs/check.md shows is what happens, and the files for CI do what they say."""

import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from tests.check.made_repairs import commit_all
from tests.cli.scans import BUGGY, Project, project

from hyperheat.check.settings import Settings, load_settings
from hyperheat.cli.outputs import _SUFFIXES
from hyperheat.report import RULES
from hyperheat.report.formats import FORMATS

__all__ = ["project"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


COMMANDS = [
    line.partition("#")[0].removeprefix("$ ").strip()
    for block in blocks("console")
    for line in block.splitlines()
    if line.startswith("$ hyperheat")
]


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(project: Project, command: str):
    (project.folder / "src").mkdir()
    (project.folder / "src" / "shop.py").write_text(BUGGY)
    (project.folder / "known.json").write_text('{"version": 1}')
    commit_all(project.folder)
    project.patch.setattr(
        "hyperheat.check.repairs.run_jobs", lambda work, jobs, **_: [(job, work(job)) for job in jobs]
    )
    words = shlex.split(command.partition("<")[0].partition(">")[0])
    project.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BUGGY.encode())))
    project.patch.setattr("hyperheat.cli.watch.watch.__kwdefaults__", {"sleep": interrupt})
    code, _, err = project.run(*words[1:])
    assert code in ((130,) if "--watch" in words else (0, 1)), err


def test_the_tables_are_complete():
    assert re.findall(r"^\| (HH\d+) \| ([\w-]+) \|", PAGE, re.MULTILINE) == [
        (rule.id, rule.name) for rule in RULES.values()
    ]
    rows = re.findall(r"^\| `(\w+)` \| (?:`(\.\w+)`)? ?\|", PAGE, re.MULTILINE)
    endings = {format: ending for ending, format in _SUFFIXES.items()}
    assert dict(rows) == {name: endings.get(name, "") for name in FORMATS}


def test_the_settings_can_be_read_and_are_all_shown(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text(blocks("toml")[0])
    load_settings(tmp_path / "pyproject.toml")
    names = {field.name.replace("_", "-") for field in fields(Settings)} - {"source"}
    assert all(re.search(rf"\b{name} = ", blocks("toml")[0]) for name in names)


def test_the_python_block_runs(exported_detector: Path, monkeypatch, capsys):
    from hyperheat.detector.detector import load_detector

    detector = load_detector(exported_detector)
    monkeypatch.setattr("hyperheat.check.checker._builtin_detector", lambda: detector)
    (block,) = (block for block in blocks("python") if "import hyperheat" in block)
    exec(block)
    lines = capsys.readouterr().out.splitlines()
    assert all(re.match(r"\d .*`.* tier [A-D], .+$", line) for line in lines), lines


def test_the_snippets_name_inputs_and_hooks_that_exist():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    workflow, config = (yaml.safe_load(block) for block in blocks("yaml"))
    (used,) = (step["with"] for step in workflow if step["uses"].startswith("<owner>"))
    assert set(used) <= set(ACTION["inputs"])
    assert config["repos"][0]["hooks"] == [{"id": hook["id"]}]


def test_the_hook_checks_the_files_that_it_is_given(project: Project):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    project.write(a=BUGGY)
    (project.folder / "build").mkdir()
    (project.folder / "build" / "b.py").write_text(BUGGY)
    words = [*hook["entry"].split()[1:], "a.py", "build/b.py"]
    code, out, _ = project.run(*words)
    assert code == 1
    assert "a.py:2" in out
    assert "b.py" not in out


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, ["check", "--output-format", "github", "--", "."]),
        (
            {
                "paths": "src *",
                "since": "origin/a;b *",
                "options": "--strict --ignore a;b",
                "sarif": "my report.sarif",
            },
            [
                *("check", "--output-format", "github", "--since=origin/a;b *"),
                *("--output", "sarif:my report.sarif", "--strict", "--ignore", "a;b", "--", "src", "*"),
            ],
        ),
    ],
    ids=["defaults", "all"],
)
def test_the_action_calls_the_command(tmp_path: Path, inputs: dict[str, str], words: list[str]):
    program = tmp_path / "hyperheat" / "bin" / "hyperheat"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    values = {name: facts["default"] for name, facts in ACTION["inputs"].items()} | inputs
    step = ACTION["runs"]["steps"][-1]
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], value)
        for name, value in step["env"].items()
    }
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        env={**os.environ, **environment, "RUNNER_TEMP": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == words


def test_every_input_of_the_action_is_used():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name in ACTION["inputs"]:
        assert f"${{{{ inputs.{name} }}}}" in text
    assert "${{" not in "".join(step.get("run", "") for step in ACTION["runs"]["steps"])
