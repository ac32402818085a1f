"""A project whose settings, ignore files and links mean harm: what they may not do, and how little they may cost."""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.hostile.projects import GOOD, hyperheat

from hyperheat.check.discovery import Selection, discover
from hyperheat.check.settings import SettingsError, find_settings, load_settings, processors

MAX_MEMORY = 250_000_000


@contextmanager
def little_memory() -> Iterator[None]:
    """The most memory that this process had must not grow by more than a cap."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MAX_MEMORY


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "good.py").write_text(GOOD)
    (folder / "pyproject.toml").write_text(f"[tool.hyperheat]\n{text}\n")
    return folder


@pytest.mark.parametrize("named", [(), ("--baseline", "known.json")], ids=["settings", "link"])
@pytest.mark.parametrize("link", [False, True], ids=["path", "link"])
def test_settings_and_links_choose_no_file_to_overwrite(tmp_path, exported_detector, named, link):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = write(tmp_path / "clone", f"baseline = '{'known.json' if link else '../victim'}'")
    (folder / "known.json").symlink_to("../victim")
    words = ("check", "--model", str(exported_detector), "--write-baseline", *named)
    assert hyperheat(*words, cwd=folder).code == 2
    assert victim.read_text() == "precious"


def test_settings_overwrite_nothing_of_the_project_either(tmp_path, exported_detector):
    folder = write(tmp_path / "clone", "baseline = 'good.py'")
    ran = hyperheat("check", "--model", str(exported_detector), "--write-baseline", cwd=folder)
    assert (ran.code, (folder / "good.py").read_text()) == (2, GOOD)
    assert "--write-baseline requires --baseline FILE" in ran.err


@pytest.mark.parametrize("target", ["report.json", "out/report.json"])
def test_a_report_is_not_written_through_a_link(tmp_path, exported_detector, target):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "report.json").write_text("precious")
    folder = write(tmp_path / "clone", "")
    (folder / "report.json").symlink_to("../outside/report.json")
    (folder / "out").symlink_to("../outside")
    ran = hyperheat("check", "--model", str(exported_detector), "-o", target, cwd=folder)
    assert ran.code == 2
    assert f"{target}: not written: " in ran.err
    assert (outside / "report.json").read_text() == "precious"


def test_a_baseline_of_settings_lies_in_the_project(tmp_path):
    folder = write(tmp_path / "clone", "baseline = '/etc/passwd'")
    with pytest.raises(SettingsError, match=r"baseline: expected a file in this folder, got '/etc/passwd'$"):
        load_settings(folder / "pyproject.toml")


def test_settings_start_no_more_processes_than_there_are_processors(tmp_path):
    folder = write(tmp_path / "clone", "jobs = 10000")
    assert load_settings(folder / "pyproject.toml").jobs == processors()


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 40_000) + " = 1",
        f"[{'.'.join('a' * 40_000)}]",
        f"x = {{{'.'.join('a' * 40_000)} = 1}}",
        "x = " + "9" * 10_000,
        "x = " + "{a = " * 5_000,
        "".join(f"[a{'.b' * 100}.c{i}]\n" for i in range(4_000)),
    ],
    ids=["key", "table", "inline", "number", "nested", "tables"],
)
def test_settings_cost_little_whatever_they_hold(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    start = time.process_time()
    with little_memory(), suppress(SettingsError):
        assert find_settings(tmp_path) is None
    assert time.process_time() - start < 15


def test_lists_in_settings_have_an_end(tmp_path):
    folder = write(tmp_path, f"exclude = {[f'*{number}*' for number in range(1_001)]}")
    with pytest.raises(SettingsError, match="exclude: expected at most 1000 entries, got 1001"):
        load_settings(folder / "pyproject.toml")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs files of another user")
def test_settings_of_somebody_else_above_the_project_do_not_count(tmp_path, monkeypatch):
    write(tmp_path / "shared", "ignore = ['HH']")
    project = tmp_path / "shared" / "mine" / "src"
    project.mkdir(parents=True)
    assert find_settings(project) == tmp_path / "shared" / "pyproject.toml"
    os.chown(tmp_path / "shared" / "pyproject.toml", 12345, 12345)
    assert find_settings(project) is None
    os.chown(project, 12345, 12345)
    assert find_settings(project) is not None  # those of the owner of what is scanned


def test_large_and_nested_ignore_files_are_skipped_and_named(tmp_path):
    folder = tmp_path
    (tmp_path / ".git").mkdir()
    pattern = "*a[b-z]*{}*\n"
    for depth in range(12):
        (folder / ".gitignore").write_text("".join(pattern.format(number) for number in range(70_000)))
        folder = folder / f"d{depth}"
        folder.mkdir()
    for number in range(200):
        (folder / f"m{number}.py").write_text(GOOD)
    start = time.process_time()
    with little_memory():
        found = discover(["."], root=tmp_path, selection=Selection())
    assert time.process_time() - start < 10
    assert len(found.files) == 200
    assert len(found.errors) == 12
    assert found.errors[0].reason.startswith("expected at most 200000 bytes, got ")


def test_many_small_ignore_files_count_together(tmp_path):
    folder = tmp_path
    (tmp_path / ".git").mkdir()
    for depth in range(4):
        (folder / ".gitignore").write_text("".join(f"x*{depth}{number}\n" for number in range(4_000)))
        folder = folder / "d"
        folder.mkdir()
    (folder / "m.py").write_text(GOOD)
    found = discover(["."], root=tmp_path, selection=Selection())
    assert [error.reason for error in found.errors] == [
        "expected at most 10000 patterns with those above, got 12000"
    ] * 2


def test_work_on_patterns_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("hyperheat.check.discovery._MAX_SECONDS", 0.2)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("".join(f"*a*{number}*b\n" for number in range(3_000)))
    for number in range(100):
        (tmp_path / f"a{number}.py").write_text(GOOD)
    with pytest.raises(ValueError, match=r"took more than 0\.2 s; try --no-gitignore, --exclude"):
        discover(["."], root=tmp_path, selection=Selection())


def test_names_and_endings_are_looked_up(tmp_path):
    (tmp_path / ".git").mkdir()
    lines = [line for number in range(4_000) for line in (f"n{number}.py", f"*.e{number}")]
    (tmp_path / ".gitignore").write_text("\n".join([*lines, "m1.py", "!m1.py", "*2.py"]))
    for number in range(500):
        (tmp_path / f"m{number}.py").write_text(GOOD)
    start = time.process_time()
    found = discover(["."], root=tmp_path, selection=Selection())
    assert time.process_time() - start < 2
    assert {file.shown for file in found.files} >= {"m1.py", "m3.py"}
    assert len(found.files) == 450
