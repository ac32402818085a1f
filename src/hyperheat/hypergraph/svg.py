"""A drawing as one self-contained SVG: shaded squares, round nodes, the qualifier on the spoke between."""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from html import escape

import numpy as np

from hyperheat.hypergraph.captions import node_captions, printable, shorten
from hyperheat.hypergraph.graph import Hypergraph
from hyperheat.hypergraph.layout import place

__all__ = ["to_svg"]

_MARGIN = 16.0
_HEIGHT = 30.0  # of nodes and edges
_SPOKE = 18.0  # of line seen on either side of a qualifier
_MODERATE = 400  # nodes, edges and qualifiers together
_LONGEST = 28  # characters on a shape; the whole text is in its tooltip
_SHADES = ("#cfdcec", "#f3dcc4", "#d3e6d0", "#ead3df", "#e3dfc4", "#d5d3ea", "#cfe5e6", "#ecd0cc")
_STYLE = """
  text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; text-anchor: middle; fill: #1c2733; }
  .node { fill: #ffffff; stroke: #44566b; stroke-width: 1.3; }
  .edge { stroke: #44566b; stroke-width: 1.3; }
  .spoke { fill: none; stroke: #8796a8; stroke-width: 1.2; }
  .caption { font-size: 13px; }
  .qualifier { font-size: 11px; fill: #42526a; stroke: #ffffff; stroke-width: 4; paint-order: stroke; }
"""


@dataclass(frozen=True, kw_only=True)
class _Shape:
    text: str
    full: str
    width: float
    height: float

    @classmethod
    def of(cls, text: str, *, size: float, padding: float, height: float) -> "_Shape":
        short = shorten(text, _LONGEST)
        width = max(_text_width(short) * size + 2 * padding, height if padding else 0.0)
        return cls(text=short, full=text, width=width, height=height)


def to_svg(graph: Hypergraph) -> str:
    """Draw a hypergraph as SVG text; needs no other program.

    Texts longer than 28 characters are cut with `…` and shown whole when pointed at. Edges of one relation
    have one shade.
    """
    nodes = [_Shape.of(text, size=13, padding=12, height=_HEIGHT) for text in node_captions(graph)]
    edges = [_Shape.of(printable(name), size=13, padding=9, height=_HEIGHT) for name in graph.relations]
    spokes = [_Shape.of(printable(str(name)), size=11, padding=0, height=14.0) for name in graph.qualifiers]
    centres = _centres(graph, nodes, edges, spokes) + _MARGIN
    node_at, edge_at, spoke_at = np.split(centres, [len(nodes), len(nodes) + len(edges)])
    ends = zip(graph.edge.tolist(), graph.node.tolist(), strict=True)
    lines = [_curve(edge_at[edge], spoke_at[index], node_at[node]) for index, (edge, node) in enumerate(ends)]
    shade = {relation: _SHADES[i % len(_SHADES)] for i, relation in enumerate(dict.fromkeys(graph.relations))}
    parts = [
        *lines,
        *(_qualifier(shape, at) for shape, at in zip(spokes, spoke_at, strict=True)),
        *(
            _edge(shape, at, shade[name])
            for shape, at, name in zip(edges, edge_at, graph.relations, strict=True)
        ),
        *(_node(shape, at) for shape, at in zip(nodes, node_at, strict=True)),
    ]
    return _document(parts, _extent(centres, [*nodes, *edges, *spokes]))


def _centres(graph: Hypergraph, nodes: list[_Shape], edges: list[_Shape], spokes: list[_Shape]) -> np.ndarray:
    """Places of nodes, edges and qualifiers.

    In a graph of moderate size a qualifier is a box of its own between its edge and its node, so that it
    covers nothing. In a large one it stands in the middle of its spoke, whatever else is there.
    """
    sizes = np.array([(shape.width, shape.height) for shape in [*nodes, *edges, *spokes]]).reshape(-1, 2)
    half, bodies = sizes[:, 0] / 2, len(nodes) + len(edges)
    edge, node, spoke = len(nodes) + graph.edge, graph.node, bodies + np.arange(len(spokes))
    if len(sizes) <= _MODERATE:
        links = np.stack([np.concatenate([spoke, spoke]), np.concatenate([edge, node])], axis=1)
        return place(sizes, links, half[links].sum(axis=1) + _SPOKE)
    lengths = half[edge] + half[node] + 2 * half[spoke] + 2 * _SPOKE
    centres = place(sizes[:bodies], np.stack([edge, node], axis=1), lengths)
    middles = (centres[edge] + centres[node]) / 2
    middles[:, 1] += 16.0 * np.array(_repetition(edge, node))
    return np.concatenate([centres, middles])


def _repetition(edge: np.ndarray, node: np.ndarray) -> list[int]:
    """How often the same node stood in the same edge before, for each incidence."""
    seen: Counter[tuple[int, int]] = Counter()
    earlier = []
    for pair in zip(edge.tolist(), node.tolist(), strict=True):
        earlier.append(seen[pair])
        seen[pair] += 1
    return earlier


def _extent(centres: np.ndarray, shapes: list[_Shape]) -> tuple[float, float]:
    if not shapes:
        return 2 * _MARGIN, 2 * _MARGIN
    sizes = np.array([(shape.width, shape.height) for shape in shapes])
    width, height = (centres + sizes / 2).max(axis=0) + _MARGIN
    return float(width), float(height)


def _document(parts: list[str], extent: tuple[float, float]) -> str:
    width, height = (f"{side:.0f}" for side in np.ceil(extent))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _curve(start: np.ndarray, through: np.ndarray, end: np.ndarray) -> str:
    """A line from start to end that passes through the point in its middle."""
    bend = 2 * through - (start + end) / 2
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (bend, end))
    return f'<path class="spoke" d="M{start[0]:.1f},{start[1]:.1f} Q{points}"/>'


def _qualifier(shape: _Shape, at: np.ndarray) -> str:
    return _group(shape, _text(shape, at, "qualifier"))


def _edge(shape: _Shape, at: np.ndarray, fill: str) -> str:
    x, y = at[0] - shape.width / 2, at[1] - shape.height / 2
    square = (
        f'<rect class="edge" x="{x:.1f}" y="{y:.1f}" width="{shape.width:.1f}" '
        f'height="{shape.height:.1f}" fill="{fill}"/>'
    )
    return _group(shape, square + _text(shape, at, "caption"))


def _node(shape: _Shape, at: np.ndarray) -> str:
    ellipse = (
        f'<ellipse class="node" cx="{at[0]:.1f}" cy="{at[1]:.1f}" '
        f'rx="{shape.width / 2:.1f}" ry="{shape.height / 2:.1f}"/>'
    )
    return _group(shape, ellipse + _text(shape, at, "caption"))


def _group(shape: _Shape, content: str) -> str:
    return f"<g><title>{escape(shape.full)}</title>{content}</g>"


def _text(shape: _Shape, at: np.ndarray, kind: str) -> str:
    return f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1] + 4.2:.1f}">{escape(shape.text)}</text>'


def _text_width(text: str) -> float:
    """About how wide a text is, in units of its font size; rather too much than too little."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljI.,:;'|!()[]{}ftr ":
        return 0.4
    if character in "mwMW@%…—":
        return 1.0
    return 0.72 if character.isupper() else 0.64
