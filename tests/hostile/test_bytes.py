"""Bytes and characters that are not what they seem."""

from pathlib import Path

import pytest
from tests.check.scores import CALIBRATION, pseudo_scores
from tests.hostile.projects import GOOD, hyperheat

from hyperheat.check.analysis import analyse
from hyperheat.visible_text import visible


@pytest.mark.parametrize(
    "character",
    ["\u3164", "\u2800", "\u115f", "\u1160", "\u034f", "\uffa0", "\ufe0f", "\U000e0100", "\u17b4"],
)
def test_characters_that_show_nothing_are_spelled_out(character: str):
    assert visible(f"a{character}b") == f"a{character.encode('unicode_escape').decode()}b"


def test_characters_that_show_something_stay():
    text = "aé中ㄱ⠁́ "
    assert visible(text) == text


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (b"# \xff\n" + GOOD.encode(), []),
        (GOOD.encode() + b"x = 1  # caf\xe9\n", []),
        (b"\xef\xbb\xbf# \xff\n" + GOOD.encode(), []),
        (b"# -*- coding: utf-8 -*-\n# \xff\n" + GOOD.encode(), []),
        (b"x = '\xff'\n" + GOOD.encode(), ["HH900"]),
        (b"x = \xff\n" + GOOD.encode(), ["HH900"]),
        (b"# -*- coding: ascii -*-\n# \xff\n" + GOOD.encode(), ["HH900"]),
        (b"# -*- coding: nonsense -*-\n# \xff\n" + GOOD.encode(), ["HH900"]),
        (b"\xff\xfe# \x00\n", ["HH900"]),
    ],
)
def test_files_that_python_compiles_are_read(data: bytes, rules: list[str]):
    try:
        compile(data, "<source>", "exec")
        compiles = True
    except (SyntaxError, ValueError):
        compiles = False
    record = analyse(data, (), pseudo_scores, CALIBRATION)
    assert [rule for rule, *_ in record.errors] == rules
    assert len(record.functions) == (1 if compiles else 0)


def test_a_repair_keeps_stray_bytes(tmp_path: Path, exported_detector: Path):
    data = b"# caf\xe9\n" + GOOD.encode() + b"# \xff\xfe\n"
    (tmp_path / "good.py").write_bytes(data)
    words = ("--model", str(exported_detector), "--tier", "C", "--no-cache", "--unsafe-fixes")
    shown = hyperheat("fix", *words, cwd=tmp_path)
    assert shown.code == 1
    assert "\n # caf\\xe9\n" in shown.out
    assert hyperheat("fix", *words, "--write", "--allow-dirty", cwd=tmp_path).code == 0
    after = (tmp_path / "good.py").read_bytes()
    assert after != data
    assert after.startswith(b"# caf\xe9\ndef area(")
    assert after.endswith(b"# \xff\xfe\n")
