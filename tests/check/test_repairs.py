"""Repairs: which go together, and what is written or refused."""

import fcntl
import os
import stat
from pathlib import Path

import pytest
from tests.check.made_repairs import AREA, FIXED, SCALE, SOURCE, commit_all, make_finding, make_repair

from hyperheat.check.repairs import FixError, Repair, find_problems, write_repair


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that git has, with repairs to be done."""
    (tmp_path / "a.py").write_text(SOURCE)
    commit_all(tmp_path)
    return tmp_path / "a.py"


def write(repair: Repair, *, allow_dirty: bool = False) -> None:
    write_repair(repair, root=repair.file.path.parent, allow_dirty=allow_dirty)


def refusal(repair: Repair, *, root: Path | None = None, allow_dirty: bool = False) -> str:
    """Why a repair is not done; the file must be as before."""
    before = repair.file.path.read_bytes() if repair.file.path.exists() else None
    with pytest.raises(FixError) as error:
        write_repair(repair, root=root or repair.file.path.parent, allow_dirty=allow_dirty)
    assert (repair.file.path.read_bytes() if repair.file.path.exists() else None) == before
    return str(error.value)


def test_all_functions_are_repaired_at_once(file):
    repair = make_repair(file)
    assert repair.after == FIXED
    assert repair.done == (AREA, SCALE)
    write(repair)
    assert file.read_text() == FIXED
    assert sorted(os.listdir(file.parent)) == [".git", "a.py"]


def test_of_one_function_the_surest_is_taken_and_the_others_wait(file):
    surer = make_finding((2, 12, 2, 17, "height"), confidence=0.95)
    repair = make_repair(file, findings=(AREA, surer, SCALE))
    assert repair.done == (surer, SCALE)
    assert repair.left == (AREA,)
    assert repair.after.splitlines()[1] == "    return height * width"


def test_overlapping_edits_are_not_joined(file):
    wider = make_finding((2, 12, 2, 25, "height * width"), function="other", confidence=0.5)
    touching = make_finding((2, 25, 2, 25, " + 1"), function="third", confidence=0.4)
    repair = make_repair(file, findings=(wider, AREA, touching))
    assert (repair.done, repair.left) == ((AREA, touching), (wider,))
    assert repair.after.splitlines()[1] == "    return width * height + 1"


def test_a_result_that_is_no_python_is_told(file):
    broken = make_repair(file, findings=(make_finding((2, 18, 2, 19, "not")),))
    (_, problem), (_, none) = find_problems([broken, make_repair(file)])
    assert problem == "expected Python after the repair, got: <source>:2: not valid Python 3: invalid syntax"
    assert none is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#\ndef f(a, é): return a * a\n".encode(), "#\ndef f(a, é): return a * é\n".encode()),
        (
            b"\xef\xbb\xbf#\rdef f(a, \xc3\xa9): return a * a",
            b"\xef\xbb\xbf#\rdef f(a, \xc3\xa9): return a * \xc3\xa9",
        ),
        (
            b"# coding: latin-1\ndef f(a, \xe9): return a * a\r\n",
            b"# coding: latin-1\ndef f(a, \xe9): return a * \xe9\r\n",
        ),
    ],
    ids=["utf-8", "byte order mark and a carriage return", "latin-1 and mixed line ends"],
)
def test_encoding_marks_and_line_ends_stay(tmp_path, before, after):
    (tmp_path / "a.py").write_bytes(before)
    (tmp_path / "a.py").chmod(0o750)
    repair = make_repair(tmp_path / "a.py", before, (make_finding((2, 25, 2, 26, "é"), function="f"),))
    write(repair, allow_dirty=True)
    assert (tmp_path / "a.py").read_bytes() == after
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o750


def test_a_repair_that_the_encoding_cannot_hold_is_refused(tmp_path):
    text = "# coding: ascii\ndef f(a, b): return a * a\n"
    with pytest.raises(FixError, match="the repair cannot be written in ascii"):
        make_repair(tmp_path / "a.py", text, (make_finding((2, 25, 2, 26, "é"), function="f"),))


def test_an_encoding_that_does_not_lead_back_is_refused(tmp_path):
    data = b"# coding: utf-7\ndef f(a, b): return a * a # +AGE-\n"  # which is the letter a, written at length
    with pytest.raises(FixError, match="the encoding utf-7 does not lead back to the same bytes"):
        make_repair(tmp_path / "a.py", data, (make_finding((2, 25, 2, 26, "b"), function="f"),))


def test_a_file_that_changed_since_the_scan_is_refused(file):
    repair = make_repair(file)
    file.write_text(SOURCE + "\n")
    reason = "the file has changed since it was scanned"
    assert refusal(repair, allow_dirty=True) == reason
    file.unlink()
    assert refusal(repair, allow_dirty=True) == "cannot be read: no such file or directory"


def test_only_files_that_git_has_are_written(file):
    hint = "; commit it first, or use --allow-dirty"
    new = file.with_name("new.py")
    new.write_text(SOURCE)
    assert refusal(make_repair(new)) == "the file is not tracked by git" + hint
    file.with_name(".gitignore").write_text("new.py\n")
    assert refusal(make_repair(new)) == "the file is not tracked by git" + hint
    file.write_text(SOURCE + "# more\n")
    assert refusal(make_repair(file, SOURCE + "# more\n")) == "the file has uncommitted changes" + hint
    write(make_repair(new), allow_dirty=True)
    assert new.read_text() == FIXED


def test_outside_of_a_repository_the_reason_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "GIT_CEILING_DIRECTORIES", str(tmp_path.parent)
    )  # not obeyed, so that it cannot hide one
    (tmp_path / "a.py").write_text(SOURCE)
    assert "git cannot read the file: not a git repository" in refusal(make_repair(tmp_path / "a.py"))


def test_a_name_with_the_signs_of_a_pattern_is_only_itself(tmp_path):
    for name in ("[a].py", ":(top)a.py", "a.py"):
        (tmp_path / name).write_text(SOURCE)
    commit_all(tmp_path)
    (tmp_path / "a.py").write_text(SOURCE + "# more\n")
    for name in ("[a].py", ":(top)a.py"):
        write(make_repair(tmp_path / name))
        assert (tmp_path / name).read_text() == FIXED


def test_links_are_followed_inside_of_the_root_only(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
        (folder / "a.py").write_text(SOURCE)
    (root / "out.py").symlink_to(outside / "a.py")
    (root / "folder").symlink_to(outside)
    (root / "in.py").symlink_to("a.py")
    for name in ("out.py", "folder/a.py"):
        reason = f"expected a file in {root}, got a link to {outside / 'a.py'}"
        assert refusal(make_repair(root / name), root=root, allow_dirty=True) == reason
    write_repair(make_repair(root / "in.py"), root=root, allow_dirty=True)
    assert (root / "in.py").is_symlink()
    assert (root / "a.py").read_text() == FIXED
    assert (outside / "a.py").read_text() == SOURCE
    write_repair(make_repair(outside / "a.py"), root=root, allow_dirty=True)  # named by the user
    assert (outside / "a.py").read_text() == FIXED


def test_two_runs_do_not_repair_a_folder_at_once(file):
    descriptor = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert "another `hyperheat fix` is already running here" in refusal(make_repair(file))
    os.close(descriptor)
    write(make_repair(file))


def test_what_a_killed_run_left_is_removed(file):
    for name in (".a.py.123-0a1b2c3d.tmp", ".a.py.tmp", ".b.py.123-0a1b2c3d.tmp", ".a.py.1-xx.tmp"):
        file.with_name(name).write_text("half")
    write(make_repair(file))
    left = [".a.py.1-xx.tmp", ".a.py.tmp", ".b.py.123-0a1b2c3d.tmp", ".git", "a.py"]
    assert sorted(os.listdir(file.parent)) == left


def test_a_full_disk_leaves_the_old_file(file, monkeypatch):
    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    assert refusal(make_repair(file)) == "cannot be written: No space left on device"
    assert sorted(os.listdir(file.parent)) == [".git", "a.py"]
