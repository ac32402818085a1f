"""Patterns: some cases by hand, and agreement with git on generated ones."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperheat.check.gitignore import Globs


@pytest.mark.parametrize(
    ("lines", "path", "left_out"),
    [
        (["*.py"], "a/b.py", True),
        (["*.py", "!b.py"], "a/b.py", False),
        (["build/"], "build", None),
        (["build/"], "build/", True),
        (["/a.py"], "b/a.py", None),
        (["b/a.py"], "c/b/a.py", None),
        (["**/a.py"], "a.py", True),
        (["b/**/a.py"], "b/c/d/a.py", True),
        (["b/**/a.py"], "b/a.py", True),
        (["b/*/a.py"], "b/c/d/a.py", None),
        (["b/**"], "b", None),
        (["\\#a"], "#a", True),
        (["#a"], "#a", None),
        (["\\!a"], "!a", True),
        (["a  "], "a", True),
        (["a\\ "], "a ", True),
        (["a\\\\ "], "a\\", True),
        (["a\t"], "a", None),
        (["[a-c]x"], "bx", True),
        (["[!a-c]x"], "bx", None),
        (["[]-]x"], "-x", True),
        (["[[:digit:]]"], "7", True),
        (["[a"], "[a", None),
        (["a?"], "aä", None),  # two bytes
        (["a\r"], "a", True),
        (["/"], "a/", None),
    ],
)
def test_patterns_by_hand(lines, path, left_out):
    globs = Globs.of(lines, "/base")
    name = os.fsencode(path.rstrip("/"))
    assert globs.verdict(b"/base/" + name, folder=path.endswith("/")) is left_out


def test_a_byte_order_mark_is_no_part_of_a_pattern():
    assert Globs.read(b"\xef\xbb\xbfa\n", "/").verdict(b"/a", folder=False) is True


def test_patterns_say_nothing_about_paths_outside_of_their_folder():
    assert Globs.of(["*"], "/base").verdict(b"/based/a", folder=False) is None


def test_a_folder_covers_what_is_in_it():
    globs = Globs.of(["tests/", "!tests/keep"], "/p")
    assert globs.cover(Path("/p/tests/deep/a.py"))
    assert globs.cover(Path("/p/tests/keep"))
    assert not globs.cover(Path("/p/src/a.py"))


@pytest.mark.parametrize("glob", ["*a" * 2000 + "b", "**/a/" * 800 + "b", "*?" * 120 + "b", "?" * 900_000])
def test_hostile_patterns_take_little_time(glob):
    globs = Globs.of([glob], "/")
    began = time.perf_counter()
    assert globs.verdict(b"/" + b"a/" * 1000 + b"a" * 250, folder=False) is None
    assert time.perf_counter() - began < 2


NAMES = ("a", "b", "ab", "a.py", "b c", "[a]", "a\\", "é", "x]", "-", "!a", "#b")
_SIGNS = ["/", "/", "*", "*", "**", "**/", "/**", "?", "\\", "[", "]", "!", "#", "py", "."]
_SETS = ["[ab]", "[!a]", "[^b]", "[a-z]", "[]a]", "[[:alpha:]]", "[[:x:]]", "[\\]]", "[/]"]
PIECES = st.sampled_from([*NAMES, *_SIGNS, *_SETS, " ", "\\ ", "\t"])
LINES = st.lists(PIECES, max_size=6).map("".join)
FILES = st.lists(LINES, max_size=4).map("\n".join)
PATHS = (
    [f"{a}/{b}" for a in ("a", "ab", "b c", "é") for b in NAMES]
    + [f"a/b/{name}" for name in NAMES]
    + list(NAMES)
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A repository with a folder `top/` in which every path of PATHS may be asked for."""
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    for name in ("a", "a/b", "a/b/ab", "ab", "b c", "é"):
        (folder / name).mkdir()
    return folder


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=FILES, nested=FILES)
def test_the_meaning_is_that_of_git(tree, top, nested):
    (tree / ".gitignore").write_bytes(top.encode())
    (tree / "a" / ".gitignore").write_bytes(nested.encode())
    outer, inner = (Globs.read(text.encode(), base) for text, base in ((top, tree), (nested, tree / "a")))
    asked = [path for path in PATHS if not path.endswith("\\")]
    expected = _ignored_by_git(tree, asked)
    assert {path for path in asked if _ignored(tree, path, inner, outer)} == expected


def _ignored(tree: Path, path: str, inner: Globs, outer: Globs) -> bool:
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        part = tree.joinpath(*parts[:count])
        for globs in (inner, outer):
            verdict = globs.verdict(os.fsencode(part), folder=part.is_dir())
            if verdict is not None:
                break
        if verdict:
            return True
    return False


def _ignored_by_git(tree: Path, paths: list[str]) -> set[str]:
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=tree,
        input=b"\0".join(map(os.fsencode, paths)),
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}
