"""Repositories whose settings are hostile, and those that lack objects."""

import os
import shutil
from collections import Counter

import pytest

from hyperheat.bugs.mining import GitError, Mining, Repository, mine
from hyperheat.bugs.mining.repository import Objects, cloning

PLUS = "def f(left, right):\n    both = left + right\n    return both, left, right\n"
MINUS = PLUS.replace("+", "-")
OTHER = PLUS.replace("def f", "def g")


def mined_paths(folder, counts=None, **settings):
    found = mine(Repository.open(folder), Mining(**settings), Counter() if counts is None else counts)
    return [record["path"] for record in found]


@pytest.fixture
def fixed(history):
    history.commit("begin", {"a.py": PLUS, "b.py": OTHER})
    history.commit("Fix a", {"a.py": MINUS})
    history.commit("Fix b", {"b.py": OTHER.replace("+", "*")})
    return history


@pytest.fixture
def partial(fixed, tmp_path):
    """A clone without any contents, whose remote is gone."""
    fixed.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "partial"
    fixed.git("clone", "--quiet", "--bare", "--filter=blob:none", fixed.folder.as_uri(), str(target))
    return target


def sign(history):
    """Give the last commit something that looks like a signature."""
    lines = history.git("cat-file", "commit", "HEAD").split("\n")
    at = lines.index("")
    begin, end = "-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"
    (history.folder / "signed").write_text(
        "\n".join([*lines[:at], f"gpgsig {begin}", " ", " abcd", f" {end}", *lines[at:], ""])
    )
    sha = history.git("hash-object", "-t", "commit", "-w", "signed")
    history.git("update-ref", "refs/heads/main", sha)


def test_the_program_for_signatures_is_not_run(fixed, tmp_path):
    program, made = tmp_path / "program", tmp_path / "made"
    program.write_text(f"#!/bin/sh\ntouch '{made}'\n")
    program.chmod(0o755)
    sign(fixed)
    for name in ("gpg.program", "core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        fixed.git("config", name, str(program))
    fixed.git("config", "log.showSignature", "true")
    fixed.git("log", "-1", "HEAD")
    assert made.exists(), "expected the settings to be hostile"
    made.unlink()
    assert mined_paths(fixed.folder, all_refs=True) == ["b.py", "a.py"]
    assert not made.exists()


def test_absent_objects_are_not_fetched_by_a_program(partial, fixed, tmp_path):
    made = tmp_path / "made"
    for name, value in (("remote.origin.url", f"ext::touch {made}"), ("protocol.ext.allow", "always")):
        fixed.git("--git-dir", str(partial), "config", name, value)
    counts = Counter()
    assert mined_paths(partial, counts) == []
    assert counts["a version of the file is missing"] == 2
    assert not made.exists()


def test_a_partial_clone_gives_what_it_has(partial, fixed):
    for revision in ("HEAD:a.py", "HEAD~2:a.py"):
        fixed.git("--git-dir", str(partial), "cat-file", "-e", revision)  # fetches it
    shutil.move(fixed.folder, fixed.folder.with_name("gone"))
    counts = Counter()
    assert mined_paths(partial, counts) == ["a.py"]
    assert counts["a version of the file is missing"] == 1
    repository = Repository.open(partial)
    with Objects(repository) as objects:
        assert objects.read("HEAD:a.py") is None, "expected names of the repository to be unknown"
        last = next(repository.changes()).sha
        assert [objects.read(f"{last}:{path}") for path in ("b.py", "a.py")] == [None, MINUS.encode()]


def test_a_damaged_object_is_like_an_absent_one(fixed):
    id = fixed.git("rev-parse", "HEAD:b.py")
    damaged = fixed.folder / ".git" / "objects" / id[:2] / id[2:]
    whole = damaged.read_bytes()
    damaged.chmod(0o644)
    damaged.write_bytes(whole[: len(whole) // 2])
    with Objects(Repository.open(fixed.folder)) as objects:
        contents = [objects.read(name) for name in (id, fixed.git("rev-parse", "HEAD:a.py"))]
    assert contents == [None, MINUS.encode()]
    assert mined_paths(fixed.folder) == ["a.py"]


def test_shallow_and_linked_repositories(fixed, tmp_path):
    shallow = tmp_path / "shallow"
    fixed.git("clone", "--quiet", "--depth=2", fixed.folder.as_uri(), str(shallow))
    assert mined_paths(shallow) == ["b.py"]
    fixed.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    assert mined_paths(tmp_path / "linked") == ["b.py", "a.py"]


def test_only_usual_protocols_are_cloned(fixed, tmp_path):
    for address in (fixed.folder.as_uri(), f"ext::touch {tmp_path / 'made'}"):
        with pytest.raises(GitError, match="not allowed"):
            cloning().run("clone", "--bare", "--", address, str(tmp_path / "clone"))
    assert sorted(os.listdir(tmp_path)) == ["repos"]
