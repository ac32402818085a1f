"""Drawings over source text."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from hyperheat.hypergraph import HypergraphBuilder, overlay
from hyperheat.hypergraph.overlay import Lane, TooManySpokes, draw_over
from hyperheat.pycode import FunctionGraph, extract

SOURCE = """\
def clip(values, low, high):
    result = []
    for value in values:
        if value < low:
            value = low
        result.append(min(value, high))
    return result
"""
FLOW = Lane(title="MayWrite", relations=frozenset({"MayWrite"}), style=4)
CONTROL = Lane(title="CtrlF", relations=frozenset({"CtrlF"}), style=2)
SYMBOLS = Lane(title="Symbol", relations=frozenset({"Symbol"}), style=5)
SYNTAX = Lane(title="AstNode", relations=frozenset({"AstNode"}), style=1)


def function() -> FunctionGraph:
    return extract(SOURCE).functions[0]


def drawn(*lanes: Lane, source: str = SOURCE) -> ET.Element:
    found = extract(source).functions[0]
    return ET.fromstring(draw_over(found.graph, source.splitlines(), first_line=1, lanes=lanes))


def groups(root: ET.Element, kind: str) -> list[ET.Element]:
    return [group for group in root.iter("g") if kind in group.get("class", "").split()]


def test_every_edge_has_a_box_and_every_incidence_a_spoke():
    graph = function().graph
    root = drawn(FLOW, CONTROL)
    edges = {number: edge for number, edge in enumerate(graph) if edge.relation in ("MayWrite", "CtrlF")}
    boxes = {int(box.get("data-edge", "")): box for box in groups(root, "hyperedge")}
    assert boxes.keys() == edges.keys()
    spokes = {int(part.get("data-edge", "")): len(part.findall("path")) for part in groups(root, "spokes")}
    assert spokes == {number: len(edge.incidences) for number, edge in edges.items()}
    for number, edge in edges.items():
        assert boxes[number].get("data-nodes", "").split() == [str(node) for _, node in edge.incidences]
        assert boxes[number].get("aria-label", "").startswith(f"{edge.relation} e{number}: ")


def test_numbers_and_marks_do_not_depend_on_what_else_is_drawn():
    def marks(*lanes: Lane) -> dict[str, str]:
        return {
            str(place.get("data-node")): ET.tostring(place, encoding="unicode")
            for place in groups(drawn(*lanes), "place")
        }

    alone, among = marks(FLOW), marks(CONTROL, FLOW, SYNTAX)
    assert alone
    assert alone == {node: among[node] for node in alone}


def test_boxes_of_a_lane_do_not_overlap_and_stay_on_the_page():
    root = drawn(SYNTAX, FLOW)
    by_lane: dict[str, list[float]] = {}
    for box in groups(root, "hyperedge"):
        rect = box.find("rect")
        assert rect is not None
        by_lane.setdefault(str(rect.get("x")), []).append(float(rect.get("y", "")))
    assert len(by_lane) == 2
    for tops in by_lane.values():
        assert all(below - above > 17 for above, below in pairwise(tops))
        assert min(tops) > 20
        assert max(tops) + 17 < float(root.get("height", ""))


def test_spokes_run_between_the_lines():
    """No horizontal part of a spoke is at the height of a text."""
    root = drawn(FLOW, CONTROL, SYNTAX)
    baselines = [float(text.get("y", "")) for text in root.iter("text") if text.get("class") == "src"]
    for path in root.iter("path"):
        found = re.match(r"M[\d.]+,[\d.]+ V([\d.]+) H", path.get("d", ""))
        assert found
        assert all(not base - 12 < float(found[1]) < base + 6 for base in baselines)


def test_nodes_without_a_place_are_named_in_the_box():
    captions = [text.text for box in groups(drawn(SYMBOLS), "hyperedge") for text in box.findall("text")[:1]]
    assert any(re.fullmatch(r"e\d+ values #\d+", caption or "") for caption in captions)


def test_tokens_are_below_themselves_whatever_is_spelled_out():
    source = "def f(a):\n\treturn '\u202e', '商', a\n"
    graph = extract(source).functions[0].graph
    root = drawn(FLOW, source=source)
    assert graph.span is not None
    lines = graph.span[:, 0].tolist()
    node = max(node for node, label in enumerate(graph.labels) if label == "a" and lines[node] == 2)
    (place,) = [place for place in groups(root, "place") if place.get("data-node") == str(node)]
    area = place.find("rect")
    assert area is not None
    shown = next(text for text in root.iter("text") if (text.text or "").startswith("return"))
    assert shown.text == "return '\\u202e', '商', a"
    before = len("    return '\\u202e', '商', ") + 1  # the character is two columns wide
    assert float(area.get("x", "")) == pytest.approx(52 + 7.8 * before, abs=0.1)


def test_the_indentation_of_methods_is_left_out():
    source = "class A:\n    def f(self, a):\n        return a\n"
    graph = extract(source).functions[0].graph
    lines = source.splitlines()[1:]
    root = ET.fromstring(draw_over(graph, lines, first_line=2, lanes=[FLOW]))
    texts = [text for text in root.iter("text") if text.get("class") == "src"]
    assert [(text.text, float(text.get("x", ""))) for text in texts] == [
        ("def f(self, a):", 52.0),
        ("return a", pytest.approx(52 + 4 * 7.8)),
    ]
    marks = [float(area.get("x", "")) for area in root.iter("rect") if area.get("class") == "area"]
    assert pytest.approx(52 + 7.8 * 11, abs=0.1) in marks


def test_the_page_gives_the_style():
    text = draw_over(function().graph, SOURCE.splitlines(), first_line=1, lanes=[FLOW])
    assert "<style" not in text
    assert "style=" not in text


def test_hostile_names_stay_text():
    source = "def f(a):\n    b = '</text><script>x</script>'\n    return g(b, a)\n"
    root = drawn(FLOW, SYNTAX, SYMBOLS, source=source)
    assert not list(root.iter("script"))
    assert any("</text><script>" in (text.text or "") for text in root.iter("text"))


def test_long_lines_are_cut():
    source = f"def f(a):\n    return {', '.join(['a'] * 500)}\n"
    root = drawn(FLOW, source=source)
    assert float(root.get("width", "")) < 2_000
    assert all(len(text.text or "") < 400 for text in root.iter("text"))


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overlay, "MAX_SPOKES", 10)
    with pytest.raises(TooManySpokes, match="more than the 10 that can be drawn"):
        drawn(SYNTAX)


def test_without_places_nothing_can_be_drawn():
    builder = HypergraphBuilder()
    builder.relate("r", ("x", builder.add_node("a")))
    with pytest.raises(ValueError, match="expected places of its nodes"):
        draw_over(builder.build(), ["a"], first_line=1, lanes=[])
