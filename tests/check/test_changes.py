"""Changed lines, as git tells them, in repositories that mean well and others."""

import os
import subprocess
from pathlib import Path

import pytest

from hyperheat.check.changes import Changes, ChangesError, OldFile, changes_since, read_old_files

TEXT = "".join(f"line_{number} = {number}\n" for number in range(1, 11))
AUTHOR = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *AUTHOR, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--allow-empty")


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    commit(folder, a=TEXT, b=TEXT)
    return folder


def lines_of(changes: Changes, folder: Path) -> dict[str, list[int]]:
    real = Path(os.path.realpath(folder))
    return {
        os.path.relpath(path, real): [line for lines in ranges for line in lines]
        for path, ranges in changes.lines.items()
    }


def test_changed_added_and_removed_lines(repo):
    edited = (
        TEXT.replace("line_2 = 2\n", "line_2 = 0\n")
        .replace("line_5 = 5\n", "")
        .replace("line_9", "new\nline_9")
    )
    (repo / "a.py").write_text(edited)
    changes = changes_since("HEAD", folder=repo)
    assert lines_of(changes, repo) == {"a.py": [2, 4, 5, 8]}
    assert changes.touch(repo / "a.py", 1, 2)
    assert not changes.touch(repo / "a.py", 3, 3)
    assert changes.touch(repo / "a.py", 5, 7)
    assert not changes.touch(repo / "a.py", 9, 10)
    assert not changes.touch(repo / "b.py", 1, 10)


def test_new_files_count_as_a_whole_unless_ignored(repo):
    (repo / "new.py").write_text(TEXT)
    (repo / "out.py").write_text(TEXT)
    (repo / "staged.py").write_text("x = 1\ny = 2\n")
    (repo / ".gitignore").write_text("out.py\n")
    git(repo, "add", "staged.py")
    changes = changes_since("HEAD", folder=repo)
    assert changes.touch(repo / "new.py", 7, 7)
    assert not changes.touch(repo / "out.py", 1, 10)
    assert lines_of(changes, repo) == {"staged.py": [1, 2]}


def test_a_renamed_file_has_changed_where_it_differs(repo):
    git(repo, "mv", "a.py", "c.py")
    (repo / "c.py").write_text(TEXT.replace("line_3 = 3", "line_3 = 0"))
    git(repo, "mv", "b.py", "d.py")
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {"c.py": [3]}


def test_a_branch_has_changed_since_it_went_apart(repo):
    git(repo, "checkout", "-qb", "work")
    commit(repo, a=TEXT + "more = 1\n")
    git(repo, "checkout", "-q", "main")
    commit(repo, b="other = 1\n" + TEXT)
    git(repo, "checkout", "-q", "work")
    assert lines_of(changes_since("main", folder=repo), repo) == {"a.py": [11]}


def test_a_removed_start_and_a_missing_newline(repo):
    (repo / "a.py").write_text(TEXT.removeprefix("line_1 = 1\n").removesuffix("\n"))
    (repo / "b.py").unlink()
    changes = changes_since("HEAD", folder=repo)
    assert changes.touch(repo / "a.py", 1, 1)
    assert changes.touch(repo / "a.py", 9, 9)
    assert not changes.touch(repo / "a.py", 2, 8)


def test_lines_that_look_like_a_diff_are_passed_over(repo):
    (repo / "a.py").write_text("++ b/b.py\n@@ -1 +1 @@\ndiff --git a/x b/x\n" + TEXT)
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {"a.py": [1, 2, 3]}


@pytest.mark.parametrize(
    "name", ["new\nline.py", "with blank.py", 'quo"te\\.py', "é.py", "byte\udcff.py", "\t.py", "b/x.py"]
)
def test_names_may_hold_anything(repo, name):
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text("x = 1\n")
    assert changes_since("HEAD", folder=repo).touch(repo / name, 1, 1)
    git(repo, "add", "-A")
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {name: [1]}


def test_a_folder_inside_and_a_link_to_it_tell_the_same(repo):
    (repo / "sub").mkdir()
    (repo / "sub/c.py").write_text(TEXT)
    (repo.parent / "link").symlink_to(repo)
    changes = changes_since("HEAD", folder=repo.parent / "link" / "sub")
    assert changes.touch(repo.parent / "link/sub/c.py", 1, 1)
    assert changes == changes_since("HEAD", folder=repo)


def test_what_git_does_not_know_is_told(repo, tmp_path):
    for ref in ("nowhere", "--output=x", "HEAD:a.py", "", "a\nb"):
        with pytest.raises(ChangesError, match=r"not a commit, branch or tag in "):
            changes_since(ref, folder=repo)
    with pytest.raises(ChangesError, match="--since HEAD requires a git repository: not a git repository"):
        changes_since("HEAD", folder=tmp_path)
    assert not (repo / "x").exists()


def test_a_missing_git_is_told(repo, monkeypatch):
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(ChangesError, match="expected the program to run"):
        changes_since("HEAD", folder=repo)


TRAPS = [
    "core.fsmonitor",
    "diff.external",
    "diff.bad.command",
    "filter.bad.clean",
    "filter.b.ad.process",
    "hook",
]


@pytest.mark.parametrize("trap", TRAPS)
def test_no_configuration_of_a_repository_runs_a_program(repo, tmp_path, trap):
    program, sprung = tmp_path / "trap.sh", tmp_path / "sprung"
    program.write_text(f"#!/bin/sh\necho $0 >> {sprung}\ncat\n")
    program.chmod(0o755)
    if trap == "hook":
        (repo / ".git/hooks").mkdir(exist_ok=True)
        program.rename(repo / ".git/hooks/post-index-change")
    else:
        git(repo, "config", trap, str(program))
    if trap == "filter.bad.clean":
        git(repo, "config", "filter.bad.required", "true")
    (repo / ".git/info/attributes").write_text("a.py filter=bad diff=bad\nb.py filter=b.ad\n")
    for name in ("a.py", "b.py"):
        (repo / name).write_text(TEXT + "more = 1\n")
    (repo / "b.py").write_text(TEXT)  # as it was, but for its time, which makes git refresh its index
    os.utime(repo / "b.py", (1, 1))
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {"a.py": [11]}
    assert not sprung.exists()
    subprocess.run(["git", "diff", "HEAD"], cwd=repo, capture_output=True)
    assert sprung.exists()  # a trap that is none would test nothing


def test_no_setting_of_a_repository_changes_what_is_read(repo):
    for name, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.relative": "true",
        "diff.interHunkContext": "9",
        "diff.context": "9",
        "diff.wordRegex": ".",
        "color.ui": "always",
        "core.quotePath": "false",
    }.items():
        git(repo, "config", name, value)
    (repo / ".gitattributes").write_text("*.py -diff\n")  # binary, as far as git goes
    (repo / "é.py").write_text("x = 1\n")
    git(repo, "add", "é.py")
    (repo / "a.py").write_text(TEXT.replace("line_2", "two").replace("line_5", "five"))
    (repo / "sub").mkdir()
    assert lines_of(changes_since("HEAD", folder=repo / "sub"), repo) == {"a.py": [2, 5], "é.py": [1]}


def old_of(changes: Changes, folder: Path) -> dict[str, str]:
    """The paths of files before, by their paths now."""
    real = Path(os.path.realpath(folder))
    return {os.path.relpath(now, real): os.path.relpath(old.path, real) for now, old in changes.old.items()}


def contents(files) -> dict[str, bytes | str]:
    return {old.path.name: data for old, data in read_old_files(files, max_bytes=1_000)}


def test_earlier_versions_are_those_of_the_merge_base_under_their_old_names(repo):
    git(repo, "checkout", "-qb", "work")
    git(repo, "mv", "a.py", "c.py")
    (repo / "c.py").write_text(TEXT + "more = 1\n")
    git(repo, "rm", "-q", "b.py")
    (repo / "new.py").write_text("x = 1\n")
    git(repo, "add", "new.py")
    changes = changes_since("main", folder=repo)
    assert old_of(changes, repo) == {"c.py": "a.py"}
    assert changes.before(repo / "c.py") == changes.old[Path(os.path.realpath(repo)) / "c.py"]
    assert changes.before(repo / "new.py") is None
    assert [file.path.name for file in changes.removed] == ["b.py"]
    assert contents([*changes.old.values(), *changes.removed]) == {
        "a.py": TEXT.encode(),
        "b.py": TEXT.encode(),
    }


@pytest.mark.parametrize("name", ["new\nline.py", "with blank.py", 'quo"te\\.py', "é.py", "\t.py", "b/x.py"])
def test_earlier_versions_of_files_with_any_name(repo, name):
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text(TEXT)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")
    (repo / name).write_text(TEXT + "more = 1\n")
    changes = changes_since("HEAD", folder=repo)
    assert old_of(changes, repo) == {name: name}
    assert contents(changes.old.values()) == {os.path.basename(name): TEXT.encode()}


def test_contents_that_cannot_be_had_are_told(repo):
    commit(repo, a="x" * 2_000, b=TEXT, c="")
    for name in "abc":
        (repo / f"{name}.py").write_text("y = 1\n")
    changes = changes_since("HEAD", folder=repo)
    gone = OldFile(repo, repo / "gone.py", "0123456789abcdef" * 2 + "01234567")
    assert contents([*changes.old.values(), gone]) == {
        "a.py": "expected at most 1000 bytes, got 2000",
        "b.py": TEXT.encode(),
        "c.py": b"",
        "gone.py": "git does not have it",
    }
    nowhere = OldFile(repo / "nowhere", repo / "nowhere/a.py", gone.blob)
    ((_, reason),) = read_old_files([nowhere], max_bytes=10)
    assert isinstance(reason, str)
    assert "nowhere" in reason


def test_many_contents_are_read_in_pieces(repo, monkeypatch):
    monkeypatch.setattr("hyperheat.check.changes._CHUNK", 250)
    texts = {f"n{number}": f"{number}\n" * 50 for number in range(9)}
    commit(repo, **texts)
    for name in texts:
        (repo / f"{name}.py").write_text("y = 1\n")
    found = contents(changes_since("HEAD", folder=repo).old.values())
    assert found == {f"{name}.py": text.encode() for name, text in texts.items()}


def test_the_earlier_version_of_a_file_that_did_not_change_can_be_found(repo):
    (repo / "b.py").write_text("x = 1\n")
    (repo / "link.py").symlink_to("a.py")
    git(repo, "add", "link.py")
    git(repo, "commit", "-qm", "x", "link.py")
    (repo / "link.py").unlink()
    changes = changes_since("HEAD", folder=repo)
    for name in ("a.py", "b.py"):
        found = changes.find_before(repo / name)
        assert found is not None
        assert contents([found]) == {name: TEXT.encode()}
    assert changes.find_before(repo / "new.py") is None
    assert changes.find_before(repo / "link.py") is None
    assert changes.find_before(repo.parent / "outside.py") is None


def test_a_shallow_clone_is_told(repo, tmp_path):
    commit(repo, a=TEXT + "more = 1\n")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    shallow = tmp_path / "shallow"
    with pytest.raises(ChangesError, match=r"HEAD~1: not a commit, .* it is a shallow clone: fetch more"):
        changes_since("HEAD~1", folder=shallow)
    git(shallow, "checkout", "-q", "--orphan", "other")
    git(shallow, "commit", "-qm", "x")
    (shallow / "b.py").write_text(TEXT + "more = 1\n")
    changes = changes_since("main", folder=shallow)
    assert changes.notes == ("No merge base with main in this shallow clone: compared with main itself.",)
    assert lines_of(changes, shallow) == {"b.py": [11]}
    git(repo, "checkout", "-q", "--orphan", "other")
    git(repo, "commit", "-qm", "x")
    assert changes_since("main", folder=repo).notes == (
        "No merge base with main: compared with main itself.",
    )


def test_objects_that_a_partial_clone_lacks_are_told_and_not_fetched(repo, tmp_path):
    commit(repo, a="before = 1\n" + TEXT)
    commit(repo, a="after = 1\n" + TEXT)
    git(repo, "config", "uploadpack.allowFilter", "true")
    url = f"file://{repo}"
    git(tmp_path, "clone", "-q", "--filter=blob:none", url, "partial")
    with pytest.raises(ChangesError, match="git cannot compare it with HEAD~1: "):
        changes_since("HEAD~1", folder=tmp_path / "partial")


def test_a_submodule_without_its_recorded_commit_is_told(repo, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-qb", "main")
    commit(inner, m=TEXT)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(repo)
    (repo / "sub" / "m.py").write_text(TEXT + "more = 1\n")
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {"sub/m.py": [11]}
    git(repo, "update-index", "--cacheinfo", f"160000,{'12' * 20},sub")
    git(repo, "commit", "-qm", "x")
    changes = changes_since("HEAD", folder=repo)
    (note,) = changes.notes
    assert note.startswith("The submodule sub was not compared: ")
    assert changes.lines == {}


def test_no_configuration_of_a_submodule_runs_a_program(repo, tmp_path):
    program, sprung = tmp_path / "trap.sh", tmp_path / "sprung"
    program.write_text(f"#!/bin/sh\necho $0 >> {sprung}\ncat\n")
    program.chmod(0o755)
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-qb", "main")
    commit(inner, m=TEXT)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(repo)
    sub = repo / "sub"
    git(sub, "config", "filter.bad.clean", str(program))
    git(sub, "config", "core.fsmonitor", str(program))
    (repo / ".git/modules/sub/info").mkdir(exist_ok=True)
    (repo / ".git/modules/sub/info/attributes").write_text("m.py filter=bad\n")
    (sub / "m.py").write_text(TEXT + "more = 1\n")
    assert lines_of(changes_since("HEAD", folder=repo), repo) == {"sub/m.py": [11]}
    assert not sprung.exists()
    subprocess.run(["git", "diff", "HEAD"], cwd=sub, capture_output=True)
    assert sprung.exists()  # a trap that is none would test nothing
