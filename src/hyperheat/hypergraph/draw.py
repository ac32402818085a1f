"""Pictures of a hypergraph: edges as squares, nodes round, the qualifier on the spoke."""

from hyperheat.hypergraph.captions import columns, node_captions, printable
from hyperheat.hypergraph.graph import Edge, Hypergraph
from hyperheat.hypergraph.svg import to_svg

__all__ = ["to_dot", "to_svg", "to_text"]


def to_text(graph: Hypergraph, *, most: int = 20) -> str:
    """A drawing for terminals: [edges] with their spokes to (nodes).

                ┌─ person ────── (Einstein)
    [studied] ──┼─ institution ─ (ETH)
                └─ major ─────── (physics)

    Nodes without an edge come last. Of an edge with more than `most` incidences the first are drawn and the
    others counted.
    """
    captions = node_captions(graph)
    blocks = [_edge_lines(edge, captions, most) for edge in graph]
    touched = set(graph.node.tolist())
    isolated = [[f"({caption})"] for index, caption in enumerate(captions) if index not in touched]
    return "\n".join(line for block in [*blocks, *isolated] for line in block)


def _edge_lines(edge: Edge, captions: list[str], most: int) -> list[str]:
    shown = [(printable(str(qualifier)), captions[node]) for qualifier, node in edge.incidences[:most]]
    head = f"[{printable(edge.relation)}]"
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


def to_dot(graph: Hypergraph) -> str:
    """The text of a Graphviz drawing; `neato -Tsvg` lays it out well."""
    lines = [
        "graph hypergraph {",
        '  layout="neato"; overlap="false"; splines="true"; sep="+12";',
        '  node [fontname="Helvetica", fontsize=12]; edge [fontname="Helvetica", fontsize=10];',
    ]
    for index, caption in enumerate(node_captions(graph)):
        lines.append(f'  n{index} [shape="ellipse", label={_quoted(caption)}];')
    for index, edge in enumerate(graph):
        caption = _quoted(printable(edge.relation))
        lines.append(f'  e{index} [shape="box", style="filled", fillcolor="#dde3ea", label={caption}];')
        for qualifier, node in edge.incidences:
            lines.append(f"  e{index} -- n{node} [label={_quoted(printable(str(qualifier)))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A DOT string that shows the text as it is: Graphviz would read backslashes and entities."""
    return '"' + text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'
