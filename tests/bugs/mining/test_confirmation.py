"""What later releases make of a suggested repair."""

import zlib
from collections import Counter

import pytest

from hyperheat.bugs.mining.archive import Archive, Member
from hyperheat.bugs.mining.confirmation import CHANGED, MENDED, STILL_THERE, Suggestion, follow

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
