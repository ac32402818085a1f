"""The cache: what is in it is right or not there, whatever was edited, damaged, planted or killed."""

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.check.caches import open_cache, sign
from tests.check.scores import CALIBRATION, pseudo_scores

from hyperheat.check import cache as module
from hyperheat.check.analysis import analyse_text
from hyperheat.check.cache import Cache, CacheError, Entry, user_folder
from hyperheat.check.discovery import FoundFile
from hyperheat.check.records import FileRecord, FunctionRecord
from hyperheat.detector.detector import Detector

ROOT = Path(__file__).parents[2]
DETECTOR = Detector(Path("nowhere"), "none", "0", CALIBRATION, "key")
FILE = FoundFile("a.py", Path("a.py"))
ENTRY = Entry("ab", FileRecord())

SOURCE = """import os
from math import hypot

LIMIT = 3


class Box:
    sides = 4

    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self, scale=1):
        return scaled(self.width, self.height) * scale

    def diagonal(self):
        return hypot(self.width, self.height) + LIMIT


def scaled(width, height):
    if width > height and height != LIMIT:
        return scaled(height, width)
    return width * height


def boxes(widths, heights):
    made = [Box(w, h) for w, h in zip(widths, heights)]
    return [box.area(scale=2) for box in made if os.path.exists(box)]
"""
EDITS = (
    ("import os", "import posixpath as os"),
    ("from math import hypot", "hypot = max"),
    ("from math import hypot", "from math import *"),
    ("LIMIT = 3", "LIMIT: float = 3.0"),
    ("LIMIT = 3\n", ""),
    ("class Box:", "class Box(Base):"),
    ("sides = 4", "area = None"),
    ("self, width, height", "self, height, width"),
    ("self.width = width", "self.width = Box(width, width)"),
    ("scale=1", "size=1, *, scale=1"),
    ("def diagonal", "@property\n    def diagonal"),
    ("def scaled(width, height)", "def scaled(height, width, depth=1)"),
    ("def scaled", "async def scaled"),
    ("width * height", "width + height"),
    ("class Box:", "from __future__ import annotations\nclass Box:"),
    ("\n\n\ndef boxes", "\n\n# More.\n\n\ndef boxes"),
    ("def boxes(", "def boxes(*"),
    ("\n", "\r\n"),
)


def test_what_is_known_of_a_function_is_what_a_fresh_scan_finds():
    rng = Random(0)
    known: dict[str, FunctionRecord] = {}
    reused = made = 0
    for _ in range(120):
        text = SOURCE
        for before, after in rng.sample(EDITS, rng.randint(0, 3)):
            text = text.replace(before, after)
        fresh = analyse_text(text, (), pseudo_scores, CALIBRATION)
        again = analyse_text(text, known, pseudo_scores, CALIBRATION)
        assert replace(again, known={}) == replace(fresh, known={})
        assert again.known.keys() == fresh.known.keys() - known.keys()
        for digest, record in fresh.known.items():
            assert known.setdefault(digest, record) == record
        reused += len(fresh.known) - len(again.known)
        made += len(again.known)
    assert reused > 5 * made > 100  # both happen often


def test_an_entry_is_read_as_it_was_written(tmp_path):
    cache = open_cache(tmp_path / "cache", DETECTOR)
    assert cache.load(FILE) is None
    cache.store(FILE, ENTRY)
    assert cache.load(FILE) == ENTRY
    assert cache.load(FoundFile("b.py", Path("b.py"))) is None
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")
    other = replace(DETECTOR, key="other key")
    assert open_cache(tmp_path / "cache", other).load(FILE) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"sha256": "ab"}', b"[" * 100_000, b"\xff"],
)
@pytest.mark.parametrize("signed", [False, True])
def test_what_is_no_entry_is_nothing_and_is_written_over(tmp_path, content, signed):
    cache = open_cache(tmp_path, DETECTOR)
    cache.store(FILE, ENTRY)
    (path,) = cache.entries.glob("*.json")
    path.write_bytes(sign(cache, path, content) if signed else content)
    assert cache.load(FILE) is None
    cache.store(FILE, ENTRY)
    assert cache.load(FILE) == ENTRY


def test_an_entry_counts_only_for_its_file_and_with_the_secret(tmp_path, monkeypatch):
    cache = open_cache(tmp_path, DETECTOR)
    other = FoundFile("b.py", Path("b.py"))
    cache.store(FILE, ENTRY)
    cache._path(other).write_bytes(cache._path(FILE).read_bytes())
    assert cache.load(FILE) == ENTRY
    assert cache.load(other) is None
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "another-user"))
    stranger = open_cache(tmp_path, DETECTOR)
    assert stranger.load(FILE) is None
    stranger.store(other, ENTRY)
    assert stranger.load(other) == ENTRY
    assert cache.load(other) is None


def test_where_nothing_can_be_written_there_is_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HYPERHEAT_CACHE", str(tmp_path / "file" / "cache"))
    cache = Cache.open(DETECTOR)
    assert cache is not None
    cache.store(FILE, ENTRY)
    cache.tidy_now_and_then()
    assert cache.load(FILE) is None


def test_the_folder_follows_the_platform_and_its_mode_is_private(tmp_path, monkeypatch):
    monkeypatch.delenv("HYPERHEAT_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert user_folder() == tmp_path / ".cache" / "hyperheat"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_folder() == tmp_path / "xdg" / "hyperheat"
    cache = Cache.open(DETECTOR)
    assert cache is not None
    cache.store(FILE, ENTRY)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in cache.folder.iterdir()}
    assert modes[cache.entries.name] == 0o700
    assert modes["secret"] == 0o600
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_folder() == tmp_path / "Library" / "Caches" / "hyperheat"
    monkeypatch.setenv("HYPERHEAT_CACHE", "relative")
    with pytest.raises(CacheError, match="HYPERHEAT_CACHE: expected an absolute path, got 'relative'"):
        user_folder()


def test_old_entries_go_first(tmp_path, monkeypatch):
    cache = open_cache(tmp_path, DETECTOR)
    files = [FoundFile(f"{name}.py", Path(f"{name}.py")) for name in "abcd"]
    size = 0
    for age, file in enumerate(files):
        cache.store(file, ENTRY)
        path = max(cache.entries.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        size = path.stat().st_size
        moment = path.stat().st_mtime - [40, 9, 8, 7][age] * 86400
        os.utime(path, (moment, moment))
    monkeypatch.setattr(module, "_MAX_BYTES", 2 * size)
    assert cache.load(files[1]) == ENTRY  # which counts as use
    cache.tidy()
    assert [cache.load(file) is not None for file in files] == [False, True, False, True]


def test_tidying_is_not_done_all_the_time(tmp_path, monkeypatch):
    cache = open_cache(tmp_path, DETECTOR)
    cache.store(FILE, ENTRY)
    cache.tidy_now_and_then()
    monkeypatch.setattr(module, "_MAX_BYTES", 0)
    cache.tidy_now_and_then()
    assert cache.load(FILE) == ENTRY
    os.utime(tmp_path / "tidied", (0, 0))
    cache.tidy_now_and_then()
    assert cache.load(FILE) is None


def test_killed_at_any_moment_it_leaves_no_wrong_result(tmp_path):
    kills = os.environ.get("HYPERHEAT_KILLS", "200")
    command = [sys.executable, "-m", "tests.check.kill_scans", str(tmp_path), kills]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    killed, wrong = map(int, done.stdout.split())
    assert (killed, wrong) == (int(kills), 0)


def test_entries_do_not_outlive_a_change_of_messages(tmp_path, monkeypatch):
    """Records hold messages, so that entries made with other templates must not be found."""
    rewrites = tmp_path / "rewrites"
    shutil.copytree(ROOT / "src" / "hyperheat" / "rewrites", rewrites)
    monkeypatch.setattr(module, "_REWRITES", rewrites)
    folder = tmp_path / "cache"
    open_cache(folder, DETECTOR).store(FILE, ENTRY)
    assert open_cache(folder, DETECTOR).load(FILE) == ENTRY
    literal = rewrites / "kinds" / "literal.py"
    literal.write_text(literal.read_text().replace('message="', 'message="really, '))
    assert open_cache(folder, DETECTOR).load(FILE) is None
