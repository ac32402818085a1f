"""The cache: what is in it is right or not there, whatever was edited, damaged, planted or killed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.check.scores import CALIBRATION, pseudo_scores

from hyperheat.check import cache as module
from hyperheat.check.cache import Cache, Entry
from hyperheat.check.detector import Detector
from hyperheat.check.discover import FoundFile
from hyperheat.check.examine import examine_text
from hyperheat.check.records import Record
from hyperheat.report.finding import Model

ROOT = Path(__file__).parents[2]
DETECTOR = Detector(Path("nowhere"), Model(name="none", sha256="0"), CALIBRATION, "key")
FILE = FoundFile("a.py", Path("a.py"))
ENTRY = Entry("ab", {"functions": [], "known": {}, "errors": [], "comments": []})

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
    known: dict[str, Record] = {}
    reused = made = 0
    for _ in range(120):
        text = SOURCE
        for before, after in rng.sample(EDITS, rng.randint(0, 3)):
            text = text.replace(before, after)
        fresh = examine_text(text, (), pseudo_scores, CALIBRATION)
        again = examine_text(text, known, pseudo_scores, CALIBRATION)
        assert again | {"known": {}} == fresh | {"known": {}}
        assert again["known"].keys() == fresh["known"].keys() - known.keys()
        for digest, record in fresh["known"].items():
            assert known.setdefault(digest, record) == record
        reused += len(fresh["known"]) - len(again["known"])
        made += len(again["known"])
    assert reused > 5 * made > 100  # both happen often


def test_an_entry_is_read_as_it_was_written(tmp_path):
    cache = Cache.open(tmp_path / "cache", DETECTOR)
    assert cache.load(FILE) is None
    cache.store(FILE, ENTRY)
    assert cache.load(FILE) == ENTRY
    assert cache.load(FoundFile("b.py", Path("b.py"))) is None
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "cache" / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")
    other = Detector(DETECTOR.folder, DETECTOR.model, DETECTOR.calibration, "other key")
    assert Cache.open(tmp_path / "cache", other).load(FILE) is None


def _signed(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"x" * 64,
        _signed(b"{"),
        _signed(b"[]"),
        _signed(b'{"sha256": "ab"}'),
        _signed(b"[" * 100_000),
        _signed(b"\xff"),
        _signed(json.dumps({"sha256": "ab", "record": {}}).encode())[:-1],
    ],
)
def test_what_is_no_entry_is_nothing_and_is_written_over(tmp_path, content):
    cache = Cache.open(tmp_path, DETECTOR)
    cache.store(FILE, ENTRY)
    (path,) = cache.entries.glob("*.json")
    path.write_bytes(content)
    assert cache.load(FILE) is None
    cache.store(FILE, ENTRY)
    assert cache.load(FILE) == ENTRY


def test_nothing_is_written_through_links_or_where_it_cannot_be(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "file").write_text("")
    for name in ("link", "file", "absent/cache"):
        cache = Cache.open(tmp_path / name, DETECTOR)
        cache.store(FILE, ENTRY)
        cache.tidy()
        assert cache.load(FILE) is None
    assert not any(elsewhere.iterdir())


def test_old_entries_go_first(tmp_path, monkeypatch):
    cache = Cache.open(tmp_path, DETECTOR)
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


def test_killed_at_any_moment_it_leaves_no_wrong_result(tmp_path):
    kills = os.environ.get("HYPERHEAT_KILLS", "200")
    command = [sys.executable, "-m", "tests.check.kill_scans", str(tmp_path), kills]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    killed, wrong = map(int, done.stdout.split())
    assert (killed, wrong) == (int(kills), 0)
