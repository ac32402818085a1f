"""Pictures of a hypergraph as text, DOT and SVG: edges as squares, nodes round, the qualifier on the spoke."""

from collections import Counter
from dataclasses import dataclass
from html import escape

import numpy as np

from hyperheat.hypergraph.arrangement import place
from hyperheat.hypergraph.graph import Edge, Hypergraph
from hyperheat.visible_text import columns, visible

__all__ = ["to_dot", "to_svg", "to_text"]

# Sizes and colours of the SVG, in pixels.
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
""" + "".join(f"  .shade{number} {{ fill: {colour}; }}\n" for number, colour in enumerate(_SHADES))


def to_text(graph: Hypergraph, *, most: int = 20, isolated: bool = True) -> str:
    """A drawing for terminals: [edges] with their spokes to (nodes).

                ┌─ person ────── (Einstein)
    [studied] ──┼─ institution ─ (ETH)
                └─ major ─────── (physics)

    Nodes without an edge come last, unless `isolated` is false. An edge with more than `most` incidences shows the
    first ones and counts the rest.
    """
    captions = _node_captions(graph)
    blocks = [_edge_lines(edge, captions, most) for edge in graph]
    alone = np.setdiff1d(_drawn_nodes(graph, isolated=isolated), graph.node)
    blocks += [[f"({captions[node]})"] for node in alone.tolist()]
    return "\n".join(line for block in blocks for line in block)


def _drawn_nodes(graph: Hypergraph, *, isolated: bool) -> np.ndarray:
    """The numbers of the nodes in a drawing: all, or those with an edge. Drawn or not, nodes keep their numbers."""
    return np.arange(graph.num_nodes) if isolated else np.unique(graph.node)


def _edge_lines(edge: Edge, captions: list[str], most: int) -> list[str]:
    shown = [(_caption(str(qualifier)), captions[node]) for qualifier, node in edge.incidences[:most]]
    head = f"[{_caption(edge.relation)}]"
    if not shown:
        return [head]
    width = max(columns(qualifier) for qualifier, _ in shown)
    spokes = [
        f"─ {qualifier} {'─' * (width - columns(qualifier) + 1)} ({caption})" for qualifier, caption in shown
    ]
    hidden = len(edge.incidences) - len(shown)
    if hidden:
        spokes.append(f"  … {hidden:,} more")
    stem, blank = f"{head} ──", " " * (columns(head) + 3)
    middle = (len(spokes) - 1) // 2
    return [
        (stem if row == middle else blank) + _joint(row, middle, len(spokes)) + spoke
        for row, spoke in enumerate(spokes)
    ]


def _joint(row: int, middle: int, rows: int) -> str:
    """Where a spoke leaves the vertical line; in the middle row the stem comes in from the left."""
    above, below = row > 0, row < rows - 1
    if row == middle:
        return {(False, False): "─", (False, True): "┬", (True, True): "┼", (True, False): "┴"}[above, below]
    return {(False, True): "┌", (True, True): "├", (True, False): "└"}[above, below]


def to_dot(graph: Hypergraph, *, isolated: bool = True) -> str:
    """Graphviz source; `neato -Tsvg` gives a good layout. Nodes without an edge are left out if `isolated` is false."""
    lines = [
        "graph hypergraph {",
        '  layout="neato"; overlap="false"; splines="true"; sep="+12";',
        '  node [fontname="Helvetica", fontsize=12]; edge [fontname="Helvetica", fontsize=10];',
    ]
    captions = _node_captions(graph)
    for node in _drawn_nodes(graph, isolated=isolated).tolist():
        lines.append(f'  n{node} [shape="ellipse", label={_quoted(captions[node])}];')
    for index, edge in enumerate(graph):
        caption = _quoted(_caption(edge.relation))
        lines.append(f'  e{index} [shape="box", style="filled", fillcolor="#dde3ea", label={caption}];')
        for qualifier, node in edge.incidences:
            lines.append(f"  e{index} -- n{node} [label={_quoted(_caption(str(qualifier)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A DOT string that shows the text as it is: Graphviz would read backslashes and entities."""
    return '"' + text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_svg(graph: Hypergraph, *, isolated: bool = True, styled: bool = True) -> str:
    """Draw a hypergraph as SVG text; needs no other program.

    Texts longer than 28 characters are cut with `…`; a tooltip shows them in full. Edges of the same relation
    have the same shade. Nodes without an edge are left out if `isolated` is false. With `styled` false the drawing
    leaves its colours and fonts to the page that it is put into.
    """
    captions, drawn = _node_captions(graph), _drawn_nodes(graph, isolated=isolated)
    nodes = [_Shape.of(captions[node], size=13, padding=12, height=_HEIGHT) for node in drawn.tolist()]
    edges = [_Shape.of(_caption(name), size=13, padding=9, height=_HEIGHT) for name in graph.relations]
    spokes = [_Shape.of(_caption(str(name)), size=11, padding=0, height=14.0) for name in graph.qualifiers]
    node_of = np.searchsorted(drawn, graph.node)
    centres = _centres(graph.edge, node_of, nodes, edges, spokes) + _MARGIN
    node_at, edge_at, spoke_at = np.split(centres, [len(nodes), len(nodes) + len(edges)])
    ends = zip(graph.edge.tolist(), node_of.tolist(), strict=True)
    lines = [_curve(edge_at[edge], spoke_at[index], node_at[node]) for index, (edge, node) in enumerate(ends)]
    shade = {relation: i % len(_SHADES) for i, relation in enumerate(dict.fromkeys(graph.relations))}
    parts = [
        *lines,
        *(_qualifier(shape, at) for shape, at in zip(spokes, spoke_at, strict=True)),
        *(
            _edge(shape, at, shade[name])
            for shape, at, name in zip(edges, edge_at, graph.relations, strict=True)
        ),
        *(_node(shape, at) for shape, at in zip(nodes, node_at, strict=True)),
    ]
    return _document(parts, _extent(centres, [*nodes, *edges, *spokes]), styled=styled)


@dataclass(frozen=True, kw_only=True)
class _Shape:
    text: str
    full: str
    width: float
    height: float

    @classmethod
    def of(cls, text: str, *, size: float, padding: float, height: float) -> "_Shape":
        short = _shorten(text, _LONGEST)
        width = max(_text_width(short) * size + 2 * padding, height if padding else 0.0)
        return cls(text=short, full=text, width=width, height=height)


def _centres(
    edge: np.ndarray, node: np.ndarray, nodes: list[_Shape], edges: list[_Shape], spokes: list[_Shape]
) -> np.ndarray:
    """Places of nodes, edges and qualifiers, given the edge and the node of each incidence.

    In a graph of moderate size a qualifier is a box of its own between its edge and its node, so that it
    covers nothing. In a large one it is put in the middle of its spoke and may overlap other things.
    """
    sizes = np.array([(shape.width, shape.height) for shape in [*nodes, *edges, *spokes]]).reshape(-1, 2)
    half, bodies = sizes[:, 0] / 2, len(nodes) + len(edges)
    edge, spoke = len(nodes) + edge, bodies + np.arange(len(spokes))
    if len(sizes) <= _MODERATE:
        links = np.stack([np.concatenate([spoke, spoke]), np.concatenate([edge, node])], axis=1)
        return place(sizes, links, half[links].sum(axis=1) + _SPOKE)
    lengths = half[edge] + half[node] + 2 * half[spoke] + 2 * _SPOKE
    centres = place(sizes[:bodies], np.stack([edge, node], axis=1), lengths)
    middles = (centres[edge] + centres[node]) / 2
    middles[:, 1] += 16.0 * np.array(_repetition(edge, node))
    return np.concatenate([centres, middles])


def _repetition(edge: np.ndarray, node: np.ndarray) -> list[int]:
    """For each incidence, how many earlier ones join the same node and edge."""
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


def _document(parts: list[str], extent: tuple[float, float], *, styled: bool) -> str:
    width, height = (f"{side:.0f}" for side in np.ceil(extent))
    style = [f"<style>{_STYLE}</style>", f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">',
            *(style if styled else []),
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


def _edge(shape: _Shape, at: np.ndarray, shade: int) -> str:
    x, y = at[0] - shape.width / 2, at[1] - shape.height / 2
    square = (
        f'<rect class="edge shade{shade}" x="{x:.1f}" y="{y:.1f}" width="{shape.width:.1f}" '
        f'height="{shape.height:.1f}"/>'
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
    """About how wide a text is, in units of its font size; rounded up."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    wide = columns(character)
    if wide != 1:
        return 1.05 if wide else 0.0
    if character in "iljI.,:;'|!()[]{}ftr ":
        return 0.4
    if character in "mwMW@%…—":
        return 1.0
    return 0.72 if character.isupper() else 0.64


def _caption(text: str) -> str:
    r"""The text as a drawing shows it.

    >>> _caption("two\nlines"), _caption("")
    ('two\\nlines', "''")
    """
    return visible(text) or "''"


def _node_captions(graph: Hypergraph) -> list[str]:
    """The label of each node, with `#node` behind it where several nodes share the label."""
    labels = graph.labels
    counts = Counter(labels)
    return [
        _caption(label) + (f" #{index}" if counts[label] > 1 else "") for index, label in enumerate(labels)
    ]


def _shorten(text: str, limit: int) -> str:
    """The text, cut with `…` to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
