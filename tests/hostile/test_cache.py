"""A project that brings a cache along: it decides nothing, and nothing is written where its links lead."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from tests.hostile.projects import GOOD, hyperheat

from hyperheat.check.cache import CacheError, make_secret, read_secret, refuse_shared

EVIL = "__import__('os').system('echo owned')"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "good.py").write_text(GOOD)
    return folder


@pytest.mark.parametrize("name", ["CACHEDIR.TAG", ".gitignore"])
@pytest.mark.parametrize("option", [(), ("--cache-dir", ".hyperheat_cache")], ids=["default", "named"])
def test_links_in_the_cache_of_a_project_are_not_followed(clone, tmp_path, exported_detector, name, option):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    cache = clone / ".hyperheat_cache"
    cache.mkdir(mode=0o755)
    (cache / name).symlink_to(victim)
    assert hyperheat("check", "--model", str(exported_detector), *option, cwd=clone).code in (0, 1)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["CACHEDIR.TAG", "secret", ""])
def test_pipes_in_a_cache_do_not_hang_the_scan(clone, exported_detector, name):
    cache = clone / ".hyperheat_cache"
    if name:
        cache.mkdir(mode=0o755)
    os.mkfifo(cache / name)
    ran = hyperheat(
        "check", "--model", str(exported_detector), "--cache-dir", ".hyperheat_cache", cwd=clone, seconds=30
    )
    assert ran.code in ((0, 1) if name else (2,))


@pytest.mark.parametrize("in_place", [True, False], ids=["same folder", "moved"])
def test_a_committed_cache_decides_nothing(clone, tmp_path, exported_detector, in_place):
    """An attacker scans the same file with the same model, changes what was found, and commits the cache."""
    words = ("--model", str(exported_detector), "--cache-dir", ".hyperheat_cache")
    show = ("check", *words, "--show-all", "--output-format", "json")
    theirs = str(tmp_path / "theirs")
    assert hyperheat(*show, cwd=clone, HYPERHEAT_CACHE=theirs).code in (0, 1)
    for path in clone.glob(".hyperheat_cache/*/*.json"):
        if path.name != "model.json":
            forge(path)
    if not in_place:
        clone = clone.rename(tmp_path / "moved")
    shutil.copy(tmp_path / "theirs" / "secret", clone / ".hyperheat_cache" / "secret")
    honest = hyperheat(*show, "--no-cache", cwd=clone)
    assert json.loads(hyperheat(*show, cwd=clone).out)["findings"] == json.loads(honest.out)["findings"] != []
    hyperheat("fix", *words, "--tier", "C", "--unsafe-fixes", "--write", "--allow-dirty", cwd=clone)
    assert EVIL not in (clone / "good.py").read_text()


def forge(path: Path) -> None:
    """Make every repair of an entry put in a call of the shell, with a hash that needs no secret."""
    content = path.read_bytes().partition(b"\n")[2]
    values = json.loads(content)
    for function in values["record"]["known"].values():
        for place in function["places"]:
            for repair in place["repairs"]:
                repair["confidence"] = 0.999
                for edit in repair["edits"]:
                    edit[2] = EVIL
    content = json.dumps(values).encode()
    path.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def test_a_cache_of_others_is_refused_in_a_sentence(clone, tmp_path, exported_detector):
    cache = tmp_path / "shared"
    cache.mkdir()
    cache.chmod(0o777)
    ran = hyperheat("check", "--model", str(exported_detector), "--cache-dir", str(cache), cwd=clone)
    assert ran.code == 2
    assert ran.err == (
        f"{cache}: not used as a cache: it can be written to by others (mode 0777); "
        "remove it, or name another folder with --cache-dir\n"
    )
    assert list(cache.iterdir()) == []
    link = tmp_path / "link"
    link.symlink_to(clone)
    with pytest.raises(CacheError, match="not used as a cache: expected a folder, got a link"):
        refuse_shared(link)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs files of another user")
def test_folders_and_secrets_of_another_user_are_refused(tmp_path):
    secret = make_secret(tmp_path / "cache")
    assert read_secret(tmp_path / "cache") == secret
    os.chown(tmp_path / "cache" / "secret", 12345, 12345)
    with pytest.raises(CacheError, match="it belongs to another user"):
        read_secret(tmp_path / "cache")
    os.chown(tmp_path / "cache", 12345, 12345)
    with pytest.raises(CacheError, match="it belongs to another user"):
        refuse_shared(tmp_path / "cache")


def test_a_secret_that_others_can_read_is_refused_and_one_that_is_a_link_is_none(tmp_path):
    make_secret(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(CacheError, match=r"it can be read by others \(mode 0644\)"):
        read_secret(tmp_path)
    (tmp_path / "secret").rename(tmp_path / "other")
    (tmp_path / "secret").symlink_to("other")
    assert read_secret(tmp_path) is None
