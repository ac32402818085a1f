"""`hyperheat graph`: formats, choices and errors."""

import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from hyperheat.cli.graph import graph
from hyperheat.hypergraph.hif import from_hif

SVG = "{http://www.w3.org/2000/svg}"
SOURCE = """\
def foo(a, b):
    if a in b:
        a += 1
    return a * 2

class Box:
    def open(self):
        return foo(self, 1)

    def close(self): ...
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "box.py"
    path.write_text(SOURCE)
    return str(path)


def test_text_draws_the_wanted_relations(file: str, capsys: pytest.CaptureFixture[str]):
    graph(f"{file}:Box.open", relation=["CtrlF", "foo"])
    assert capsys.readouterr().out == (
        "Box.open (lines 7-8)\n"
        "\n"
        "[CtrlF] ──┬─ prev ─ (Call)\n"
        "          └─ succ ─ (Return)\n"
        "        ┌─ rval ─ (Call)\n"
        "[foo] ──┼─ a ──── (self #10)\n"
        "        └─ b ──── (1)\n"
    )


def test_nodes_keep_their_numbers_when_relations_are_left_out(file: str, capsys: pytest.CaptureFixture[str]):
    def run(**options: Any) -> str:
        graph(f"{file}:foo", **options)
        return capsys.readouterr().out

    numbered = re.compile(r"\((a #\d+)\)")
    whole, part = (set(numbered.findall(run(relation=wanted))) for wanted in (None, ["MayRead"]))
    assert len(part) > 1
    assert part < whole
    records = [json.loads(run(format="json", relation=wanted)) for wanted in (None, ["MayRead"])]
    assert records[0]["nodes"] == records[1]["nodes"]
    assert [edge for edge in records[0]["edges"] if edge["relation"] == "MayRead"] == records[1]["edges"]
    shown = {text.text for text in ET.fromstring(run(format="svg", relation=["MayRead"])).iter(f"{SVG}text")}
    assert part <= shown
    assert "def" not in shown, "nodes without a shown edge are not drawn"
    assert set(re.findall(r'label="(a #\d+)"', run(format="dot", relation=["MayRead"]))) == part


def test_without_a_function_all_are_shown(file: str, capsys: pytest.CaptureFixture[str]):
    graph(file, relation=["Returns"])
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if "lines" in line] == [
        "foo (lines 1-4)",
        "Box.open (lines 7-8)",
        "Box.close (lines 10-10)",
    ]


def test_the_last_part_of_a_name_is_enough(file: str, capsys: pytest.CaptureFixture[str]):
    graph(f"{file}:close", relation=["Returns"])
    assert capsys.readouterr().out.startswith("Box.close")


def test_json_has_one_line_per_function(file: str, capsys: pytest.CaptureFixture[str]):
    graph(file, format="json")
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["name"] for record in records] == ["foo", "Box.open", "Box.close"]
    assert records[0]["span"] == [1, 0, 4, 16]
    assert records[0]["nodes"][:4] == ["def", "foo", "(", "a"]
    assert records[0]["spans"][1] == [1, 4, 1, 7]
    assert records[0]["edges"][0]["relation"] == "Tokens"
    assert records[0]["edges"][0]["incidences"][:2] == [[1, 0], [2, 1]]


def test_hif_dot_and_svg_show_one_function(file: str, capsys: pytest.CaptureFixture[str]):
    graph(f"{file}:foo", format="hif")
    assert from_hif(json.loads(capsys.readouterr().out)).labels[:2] == ["def", "foo"]
    graph(f"{file}:foo", format="svg")
    assert ET.fromstring(capsys.readouterr().out).tag.endswith("svg")
    graph(f"{file}:foo", format="dot")
    assert capsys.readouterr().out.startswith("graph hypergraph {")


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
    graph("-:foo", relation=["Returns"])
    assert capsys.readouterr().out.startswith("foo (lines 1-4)")


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("{}:fo", {}, "no function named 'fo'; did you mean foo?"),
        (
            "{}:foo",
            {"relation": ["Ctrlf"]},
            "no relation named 'Ctrlf'; did you mean CtrlF?",
        ),
        ("{}:zzz", {}, "no function named 'zzz'; there is Box.close, Box.open, foo"),
        (
            "{}",
            {"format": "svg"},
            "svg shows one function, so choose one as FILE:FUNCTION (foo, Box.open, Box.close)",
        ),
        ("{}.missing", {}, ".missing: No such file or directory"),
    ],
)
def test_errors_are_one_sentence_and_exit_with_2(file, target, options, message, capsys):
    with pytest.raises(SystemExit) as stop:
        graph(target.format(file), **options)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_broken_source_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "old.py"
    path.write_text("print 'x'\n")
    with pytest.raises(SystemExit):
        graph(str(path))
    assert capsys.readouterr().err.startswith(f"{path}:1: not valid Python 3: Missing parentheses")
