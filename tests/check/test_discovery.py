"""Which files are found, and what becomes of everything else that a folder may hold."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from hyperheat.check import discovery as module
from hyperheat.check.discovery import Selection, discover, is_left_out
from hyperheat.check.gitignore import Globs


def make(root: Path, *paths: str, **contents: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(contents.get(path, "x = 1\n"))


def found(root: Path, *paths: str, **options) -> list[str]:
    result = discover(paths or ["."], root=root, selection=Selection(**options))
    assert result.errors == ()
    return [file.shown for file in result.files]


def errors(root: Path, *paths: str) -> dict[str, str]:
    result = discover(paths or ["."], root=root, selection=Selection())
    assert all(error.rule == "HH901" for error in result.errors)
    assert len({error.path for error in result.errors}) == len(result.errors)
    return {error.path: error.reason for error in result.errors}


def test_python_files_are_found_in_order_and_once(tmp_path):
    make(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a/w.pyw", "a/stub.pyi", "notes.txt")
    assert found(tmp_path) == ["a/b/c.py", "a/w.pyw", "a/z.py", "b.py"]
    assert found(tmp_path, "a", ".", "b.py") == found(tmp_path)
    assert found(tmp_path, str(tmp_path / "a")) == ["a/b/c.py", "a/w.pyw", "a/z.py"]


def test_a_file_outside_of_the_root_is_shown_with_its_whole_path(tmp_path):
    make(tmp_path, "here/a.py", "there/b.py")
    assert found(tmp_path / "here", "../there", ".") == [str(tmp_path / "there/b.py"), "a.py"]


def test_folders_without_own_code_are_left_out_unless_named(tmp_path):
    make(
        tmp_path,
        ".venv/a.py",
        "build/b.py",
        "x.egg-info/c.py",
        "src/__pycache__/d.py",
        "own/pyvenv.cfg",
        "own/e.py",
    )
    make(tmp_path, "src/build.py", "node_modules/f.py")
    assert found(tmp_path) == ["src/build.py"]
    assert found(tmp_path, "build", "own") == ["build/b.py", "own/e.py"]
    assert found(tmp_path, exclude=Globs.of(["!build/"], tmp_path)) == ["build/b.py", "src/build.py"]


def test_exclude_globs_and_named_files(tmp_path):
    make(tmp_path, "src/a.py", "src/gen/b.py", "src/gen/deep/c.py", "gen.py")
    exclude = Globs.of(["src/gen/", "/gen.py"], tmp_path)
    assert found(tmp_path, exclude=exclude) == ["src/a.py"]
    named = ("src/gen/deep/c.py", "gen.py")
    assert found(tmp_path, *named, exclude=exclude) == ["gen.py", "src/gen/deep/c.py"]
    assert found(tmp_path, *named, "src/a.py", exclude=exclude, force_exclude=True) == ["src/a.py"]


def test_a_named_file_needs_no_suffix(tmp_path):
    make(tmp_path, "script")
    assert found(tmp_path, "script") == ["script"]


def test_a_stub_is_skipped_and_other_files_are_refused(tmp_path):
    make(tmp_path, "a.py", "stub.pyi", "table.csv")
    result = discover(["a.py", "stub.pyi"], root=tmp_path, selection=Selection())
    assert [file.shown for file in result.files] == ["a.py"]
    assert [(error.path, error.rule) for error in result.errors] == [("stub.pyi", "HH901")]
    with pytest.raises(ValueError, match=r"^table\.csv: not a Python file"):
        discover(["a.py", "table.csv"], root=tmp_path, selection=Selection())
    excluded = Selection(exclude=Globs.of(["*.csv"], tmp_path), force_exclude=True)
    assert discover(["table.csv"], root=tmp_path, selection=excluded).files == ()


def test_ignore_files_of_all_levels_are_obeyed(tmp_path):
    make(tmp_path, "a.py", "src/a.py", "src/keep/a.py", "src/out/a.py", "src/b.py", "src/in/b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.py\n/src/out/\n")
    (tmp_path / "src/.gitignore").write_text("/b.py\n")
    (tmp_path / "src/keep/.gitignore").write_text("!a.py\n")
    expected = ["src/in/b.py", "src/keep/a.py"]
    assert found(tmp_path) == expected
    assert found(tmp_path, "src") == expected
    assert found(tmp_path, "src/in", "src/out/a.py") == ["src/in/b.py", "src/out/a.py"]
    assert len(found(tmp_path, gitignore=False)) == 6


def test_ignore_files_end_at_a_repository(tmp_path):
    make(tmp_path, "inner/a.py", "b.py")
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / "inner/.git").write_text("gitdir: elsewhere\n")
    assert found(tmp_path) == ["inner/a.py"]
    assert found(tmp_path, "inner") == ["inner/a.py"]


def test_a_missing_path_is_no_clean_scan(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^srcc: no such file or folder$"):
        found(tmp_path, "srcc")
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        found(tmp_path, "a\0b")


def test_links_and_loops(tmp_path):
    make(tmp_path, "tree/src/a.py", "outside/b.py")
    tree = tmp_path / "tree"
    links = {"loop": ".", "again.py": "src/a.py", "self.py": "self.py", "none.py": "gone.py", "none": "gone"}
    links |= {
        "out": "../outside",
        "out.py": "../outside/b.py",
        "passwd": "../outside/b.py",
        ".venv": "../outside",
    }
    for name, target in links.items():
        (tree / name).symlink_to(target)
    assert errors(tree) == {
        "self.py": "not followed: a link that leads to nothing",
        "none.py": "not followed: a link that leads to nothing",
        "out": "not followed: a link that leads out of what is scanned",
        "out.py": "not followed: a link that leads out of what is scanned",
    }
    files = discover(["."], root=tree, selection=Selection()).files
    assert [file.shown for file in files] == ["src/a.py"]
    assert found(tree, "out.py", "out") == ["out.py", "out/b.py"]  # named, so followed
    assert list(errors(tree, "self.py")) == ["self.py"]


def test_pipes_sockets_and_devices_are_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket.py"))
    make(tmp_path, "folder.py/a.py")
    assert errors(tmp_path, ".", "/dev/zero") == {
        "pipe.py": "expected a regular file, got a pipe",
        "socket.py": "expected a regular file, got a socket",
        "/dev/zero": "expected a regular file, got a device",
    }


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "large"])
def test_a_strange_ignore_file_is_told_and_not_obeyed(tmp_path, kind):
    make(tmp_path, "a.py", "patterns")
    (tmp_path / "patterns").write_text("*.py\n")
    path = tmp_path / ".gitignore"
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to("patterns"),
        "large": lambda: path.write_text("*.py\n" * 200_001),
    }[kind]()
    result = discover(["."], root=tmp_path, selection=Selection())
    assert [file.shown for file in result.files] == ["a.py"]
    assert [error.path for error in result.errors] == [".gitignore"]


def test_large_files_are_skipped(tmp_path):
    make(tmp_path, "a.py", "b.py")
    (tmp_path / "b.py").write_bytes(b"#" * 1_000_001)
    assert errors(tmp_path) == {"b.py": "expected at most 1000000 bytes, got 1000001"}


def test_names_may_hold_anything(tmp_path):
    names = [b"new\nline.py", b"\x1b[31m.py", b"byte\xff.py", b" .py", b"-n.py"]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(b"")
    (tmp_path / ".gitignore").write_bytes(b"*\xff.py\n")
    assert found(tmp_path) == sorted(os.fsdecode(name) for name in names if b"\xff" not in name)
    assert "byte\udcff.py" in found(tmp_path, gitignore=False)


def test_folders_that_cannot_be_listed_and_files_that_vanish_cost_only_themselves(tmp_path, monkeypatch):
    make(tmp_path, "a/x.py", "b/y.py", "b/gone.py", "c/z.py")
    listing, add = os.scandir, module._Search._add

    def scandir(folder):
        if Path(folder).name == "a":
            raise PermissionError(13, "Permission denied", str(folder))
        return listing(folder)

    def vanish(search, path):
        if path.name == "gone.py":
            path.unlink()
        add(search, path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(module._Search, "_add", vanish)
    result = discover(["."], root=tmp_path, selection=Selection())
    assert [file.shown for file in result.files] == ["b/y.py", "c/z.py"]
    assert {error.path: error.reason for error in result.errors} == {
        "a": "cannot be read: permission denied",
        "b/gone.py": "cannot be read: no such file or directory",
    }


def test_very_deep_folders_end_with_a_reason(tmp_path):
    make(tmp_path, "a.py")
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert list(errors(tmp_path).values()) == ["cannot be read: file name too long"]


def test_whether_a_search_would_find_a_file_can_be_asked_for_one_file(tmp_path):
    make(
        tmp_path,
        *(".git/config", "a.py", "src/b.py", "src/made/c.py", "build/d.py", "own/pyvenv.cfg", "own/e.py"),
        *("src/out/f.py", "sub/.git/config", "sub/out/g.py"),
    )
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "src" / ".gitignore").write_text("/made\n")
    every = sorted(path for path in tmp_path.rglob("*.py"))
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"gitignore": False},
        {"exclude": Globs.of(["b.py", "!build/"], tmp_path)},
    )
    for options in cases:
        expected = [tmp_path / name for name in found(tmp_path, **options)]
        selection = Selection(**options)
        assert [p for p in every if not is_left_out(p, root=tmp_path, selection=selection)] == expected
    inside = Selection()
    assert is_left_out(tmp_path / "src" / "out" / "new.py", root=tmp_path / "src", selection=inside)
    assert not is_left_out(tmp_path / "src" / "new.py", root=tmp_path / "src", selection=inside)
