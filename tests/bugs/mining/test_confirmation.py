"""What later releases make of a suggested repair."""

import json
import zlib
from collections import Counter

import pytest
from tests.bugs.mining.local_index import LocalIndex

from hyperheat.bugs.mining.archive import Archive, Member
from hyperheat.bugs.mining.confirmation import CHANGED, MENDED, STILL_THERE, Suggestion, follow
from hyperheat.cli.bugs import confirm

OLD = """import os

class Box:
    def area(self, width, height):
        # twice?
        total = width * width
        return total

    def other(self):
        return 1
"""
REPAIRED = OLD.replace("width * width", "width * height")


def archive(**files: str) -> Archive:
    members = {}
    for name, text in files.items():
        contents = text.encode()
        key = (zlib.crc32(contents), len(contents))
        members[f"{name}.py"] = Member(key, lambda contents=contents: contents)
    return Archive(members, Counter())


def verdict(*later: str) -> tuple[str, str]:
    suggestion = Suggestion.of("box.py", OLD, REPAIRED)
    assert suggestion is not None
    releases = [(f"1.{number}", archive(box=text)) for number, text in enumerate(later, start=1)]
    (found,) = follow([suggestion], releases)
    return found


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([OLD, REPAIRED], (MENDED, "1.2")),
        ([OLD, REPAIRED, OLD], (MENDED, "1.2")),
        ([OLD, OLD.replace("# twice?", "# yes")], (STILL_THERE, "")),
        ([OLD.replace("return 1", "return 2")], (STILL_THERE, "")),
        ([OLD.replace("width * width", "abs(width)"), REPAIRED], (CHANGED, "1.1")),
        ([OLD.replace("def area", "def size")], (CHANGED, "1.1")),
        ([REPAIRED.replace("return total", "return int(total)")], (MENDED, "1.1")),
        ([REPAIRED.replace("width * height", "(width *\n            height)")], (CHANGED, "1.1")),
        ([REPAIRED.replace("width * height", "(width * height)  # now")], (MENDED, "1.1")),
        ([], (STILL_THERE, "")),
    ],
)
def test_the_first_release_without_the_old_lines_decides(later, expected):
    assert verdict(*later) == expected


def test_a_file_that_is_gone_has_changed():
    suggestion = Suggestion.of("box.py", OLD, REPAIRED)
    assert suggestion is not None
    assert follow([suggestion], [("2.0", archive(crate=OLD))]) == [(CHANGED, "2.0")]


def test_lines_that_stand_twice_are_counted():
    twice = OLD.replace("        return total", "        total = width * width\n        return total")
    once = twice.replace("width * width", "width * height", 1)
    suggestion = Suggestion.of("box.py", twice, once)
    assert suggestion is not None
    assert suggestion.times == 2
    assert follow([suggestion], [("2", archive(box=twice))]) == [(STILL_THERE, "")]
    assert follow([suggestion], [("2", archive(box=once))]) == [(MENDED, "2")]


def test_code_outside_of_functions_has_no_suggestion():
    assert Suggestion.of("a.py", "x = 1\n", "x = 2\n") is None


BUGGY = """def first_or(items, default):
    for item in items:
        return items
    return default
"""


def test_the_command_counts_findings_that_a_later_release_fixed(index: LocalIndex, tmp_path, capsys):
    index.form = "json"
    repaired = BUGGY.replace("return items", "return item")
    index.release("box", "1.0", {"box/a.py": BUGGY, "build/b.py": BUGGY}, uploaded="2020-01-01T00:00:00Z")
    index.release("box", "1.1", {"box/a.py": repaired, "build/b.py": BUGGY}, uploaded="2022-01-01T00:00:00Z")
    rows = tmp_path / "rows.jsonl"
    confirm(package=("box",), before="2021-01-01", jobs=1, index=index.registry.address, out=rows, json=True)
    record = json.loads(capsys.readouterr().out)
    assert (record["packages"], record["functions"], record["later_releases"]) == (1, 2, 1)
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [(row["path"], row["line"], row["verdict"], row["decided_by"]) for row in found] == [
        ("box/a.py", 3, MENDED, "1.1"),
        ("build/b.py", 3, STILL_THERE, ""),
    ]
    assert {row["tier"] for row in found} <= set(record["verdicts"])
