"""Reading what may not be a file, and writing whole files."""

import os
import stat

import pytest

from hyperheat.files import SkippedFile, read_regular, refuse_links, whole_file, write_whole


def test_reading(tmp_path):
    (tmp_path / "a").write_bytes(b"123")
    assert read_regular(tmp_path / "a", max_bytes=3) == b"123"
    with pytest.raises(SkippedFile, match=r"^expected at most 2 bytes, got 3$"):
        read_regular(tmp_path / "a", max_bytes=2)


def test_what_is_no_file_does_not_keep_the_reader_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, reason in {
        "pipe": "expected a regular file, got a pipe",
        "link": "expected a regular file, got a pipe",
        "loop": "cannot be read: too many levels of symbolic links",
        "gone": "cannot be read: no such file or directory",
        "": "expected a regular file, got a folder",
        "/dev/zero": "expected a regular file, got a device",
        "nul\0": "cannot be read: embedded null byte",
    }.items():
        with pytest.raises(SkippedFile) as error:
            read_regular(os.path.join(tmp_path, name), max_bytes=10)
        assert str(error.value) == reason


def test_writing_keeps_the_mode_replaces_a_link_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write_whole(tmp_path / "a", b"new")
    write_whole(tmp_path / "link", b"other")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert (tmp_path / "link").read_bytes() == b"other"
    assert not (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a", "link"]


def test_a_writer_that_makes_a_private_file_of_its_own_changes_no_mode(tmp_path):
    (tmp_path / "plain").touch()
    usual = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    for mode in (None, 0o640):
        with whole_file(tmp_path / "a", mode=mode) as temporary:
            temporary.unlink()
            temporary.touch(mode=0o600)
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == (mode or usual)


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="expected a regular file or nothing, got a pipe"):
        write_whole(tmp_path / "pipe", b"new")
    with pytest.raises(OSError, match="got a folder"):
        write_whole(tmp_path, b"new")


def test_links_that_lead_out_are_refused_and_others_are_not(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside / "sub", outside):
        folder.mkdir(parents=True)
    (inside / "away").symlink_to(outside)
    (inside / "here").symlink_to("sub")
    (inside / "file").symlink_to("sub/a")
    for path in (inside / "sub" / "a", inside / "here" / "a", outside / "a"):
        refuse_links(path, inside)
    with pytest.raises(OSError, match=r"file: not written: it is a link"):
        refuse_links(inside / "file", inside)
    with pytest.raises(OSError, match=rf"expected a file in {inside}, got a link to {outside / 'a'}"):
        refuse_links(inside / "away" / "a", inside)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]
