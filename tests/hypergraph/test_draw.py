"""Drawings: exact text, DOT that Graphviz can read, SVG without overlaps."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
from hyperheat.hypergraph.arrangement import place
from hyperheat.hypergraph.draw import to_dot, to_svg, to_text

SVG = "{http://www.w3.org/2000/svg}"


def studied() -> Hypergraph:
    builder = HypergraphBuilder()
    person, institution, major = (builder.add_node(label) for label in ("Einstein", "ETH Zürich", "physics"))
    builder.relate("studied", ("person", person), ("institution", institution), ("major", major))
    return builder.build()


def tokens(count: int) -> Hypergraph:
    builder = HypergraphBuilder()
    builder.relate_sequence("Tokens", [builder.add_node(f"t{i}") for i in range(count)])
    return builder.build()


def awkward() -> Hypergraph:
    """Shared labels, repeated incidences, markup, control characters, wide letters, empty names and edges."""
    builder = HypergraphBuilder()
    x, other_x, markup, wide, blank = (
        builder.add_node(label) for label in ("x", "x", '<b>&"\\', "变\n量", "")
    )
    builder.relate("a<b", ("&amp;", markup), ("q", x), ("q", x))
    builder.relate("größe", ("变", wide), ("left", other_x))
    builder.relate("")
    builder.relate("unary", ("", blank))
    builder.add_node("alone\x00\ud800")
    return builder.build()


def code_like() -> Hypergraph:
    """A syntax tree of 40 nodes with data flow across it and a few loose parts."""
    rng = np.random.default_rng(7)
    builder = HypergraphBuilder()
    labels = ["Call", "BinOp", "value", "index", "n", "self"]
    nodes = [builder.add_node(labels[i % 6]) for i in range(40)]
    for first in range(0, 36, 2):
        builder.relate(
            "AstNode",
            ("node", nodes[first // 2]),
            ("left", nodes[first + 1]),
            ("comparator", nodes[first + 2]),
        )
    for _ in range(12):
        one, two = (int(node) for node in rng.choice(40, 2, replace=False))
        builder.relate("MayRead", ("prev", one), ("succ", two))
    return builder.build()


def test_text_of_the_papers_example() -> None:
    assert to_text(studied()).splitlines() == [
        "            ┌─ person ────── (Einstein)",
        "[studied] ──┼─ institution ─ (ETH Zürich)",
        "            └─ major ─────── (physics)",
    ]


def test_text_of_awkward_graphs() -> None:
    assert to_text(awkward()).splitlines() == [
        '        ┌─ &amp; ─ (<b>&"\\)',
        "[a<b] ──┼─ q ───── (x #0)",
        "        └─ q ───── (x #0)",
        "[größe] ──┬─ 变 ─── (变\\n量)",
        "          └─ left ─ (x #1)",
        "['']",
        "[unary] ──── '' ─ ('')",
        "(alone\\x00\\ud800)",
    ]


def test_text_counts_what_it_does_not_draw() -> None:
    assert to_text(tokens(2_000), most=2).splitlines() == [
        "           ┌─ p1 ─ (t0)",
        "[Tokens] ──┼─ p2 ─ (t1)",
        "           └  … 1,998 more",
    ]


def test_text_of_nothing() -> None:
    assert to_text(HypergraphBuilder().build()) == ""


def test_dot_of_the_papers_example() -> None:
    assert to_dot(studied()).splitlines()[3:] == [
        '  n0 [shape="ellipse", label="Einstein"];',
        '  n1 [shape="ellipse", label="ETH Zürich"];',
        '  n2 [shape="ellipse", label="physics"];',
        '  e0 [shape="box", style="filled", fillcolor="#dde3ea", label="studied"];',
        '  e0 -- n0 [label="person"];',
        '  e0 -- n1 [label="institution"];',
        '  e0 -- n2 [label="major"];',
        "}",
    ]


def test_dot_escapes() -> None:
    dot = to_dot(awkward())
    assert 'n2 [shape="ellipse", label="<b>&amp;\\"\\\\"];' in dot
    assert 'e0 -- n2 [label="&amp;amp;"];' in dot
    assert 'n3 [shape="ellipse", label="变\\\\n量"];' in dot
    assert dot.count("e0 -- n0") == 2


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_svg_has_squares_round_nodes_and_a_labelled_spoke_per_incidence() -> None:
    root = ET.fromstring(to_svg(studied()))
    assert len(list(root.iter(f"{SVG}ellipse"))) == 3
    assert [rect.get("class") for rect in root.iter(f"{SVG}rect")] == [
        None,
        "edge shade0",
    ]  # the first is the paper
    assert len(list(root.iter(f"{SVG}path"))) == 3
    assert sorted(texts(to_svg(studied()))) == [
        *("ETH Zürich", "Einstein", "institution", "major", "person", "physics", "studied")
    ]


def test_svg_spokes_join_an_edge_to_its_nodes_through_the_qualifier() -> None:
    root = ET.fromstring(to_svg(studied()))
    centres = {ET.tostring(e): (e.get("cx"), e.get("cy")) for e in root.iter(f"{SVG}ellipse")}
    ends = {tuple(re.findall(r"[-\d.]+", path.get("d", ""))[4:]) for path in root.iter(f"{SVG}path")}
    assert ends == set(centres.values())


def test_svg_escapes_everything() -> None:
    svg = to_svg(awkward())
    assert '<b>&"\\' in texts(svg)
    assert "变\\n量" in texts(svg)
    assert "alone\\x00\\ud800" in texts(svg)
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_svg_shows_long_texts_whole_in_a_tooltip() -> None:
    builder = HypergraphBuilder()
    builder.add_node("word " * 20)
    svg = to_svg(builder.build())
    assert texts(svg) == ["word word word word word wo…"]
    assert f"<title>{'word ' * 20}</title>" in svg


def test_svg_of_nothing() -> None:
    assert texts(to_svg(HypergraphBuilder().build())) == []


def test_svg_is_the_same_every_time() -> None:
    assert to_svg(code_like()) == to_svg(code_like())


@pytest.mark.parametrize("graph", [studied(), awkward(), tokens(30), code_like()])
def test_svg_boxes_lie_inside_and_apart(graph: Hypergraph) -> None:
    root = ET.fromstring(to_svg(graph))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    boxes = []
    for group in root.iter(f"{SVG}g"):
        shape = next((e for e in group if e.tag in (f"{SVG}ellipse", f"{SVG}rect")), None)
        text = next(group.iter(f"{SVG}text"))
        x, y = float(text.get("x", 0)), float(text.get("y", 0)) - 4.2
        if shape is None:  # a qualifier: at least as wide as five units per letter
            half = 2.5 * len(text.text or ""), 6.0
        elif shape.tag == f"{SVG}ellipse":
            half = float(shape.get("rx", 0)), float(shape.get("ry", 0))
        else:
            half = float(shape.get("width", 0)) / 2, float(shape.get("height", 0)) / 2
        assert half[0] <= x <= width - half[0]
        assert half[1] <= y <= height - half[1]
        boxes.append((x, y, *half))
    assert len(boxes) == graph.num_nodes + graph.num_edges + graph.num_incidences
    for (x, y, w, h), (other_x, other_y, other_w, other_h) in combinations(boxes, 2):
        assert abs(x - other_x) >= w + other_w or abs(y - other_y) >= h + other_h


def test_svg_of_a_large_graph_is_still_whole() -> None:
    builder = HypergraphBuilder()
    nodes = [builder.add_node(f"t{i}") for i in range(2_000)]
    builder.relate_sequence("Tokens", nodes)
    builder.relate("f", *((Position(1 + i % 2), node) for i, node in enumerate(nodes[:500])))
    root = ET.fromstring(to_svg(builder.build()))
    assert len(list(root.iter(f"{SVG}ellipse"))) == 2_000
    assert len(list(root.iter(f"{SVG}path"))) == 2_500
    assert len(texts(ET.tostring(root, encoding="unicode"))) == 2_000 + 2 + 2_500


def test_layout_keeps_linked_boxes_near() -> None:
    sizes = np.full((4, 2), 20.0)
    links = np.array([[0, 1], [1, 2], [2, 3]])
    centres = place(sizes, links, np.full(3, 60.0))
    along = np.abs(np.diff(centres[:, 0]))
    assert np.allclose(along, 60.0, atol=1.0)  # a path lies flat
    assert np.ptp(centres[:, 1]) < 1.0
    assert np.allclose(centres.min(axis=0), 10.0, atol=1.0)


def test_layout_separates_boxes_in_the_same_place() -> None:
    centres = place(np.full((3, 2), 20.0), np.array([[0, 1], [0, 2], [1, 2]]), np.full(3, 1e-3))
    for one, other in combinations(centres, 2):
        assert np.abs(one - other).max() >= 20.0
