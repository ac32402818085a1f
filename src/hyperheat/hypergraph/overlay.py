"""A hypergraph drawn over the text that it was made from, as SVG.

    number  source text                                lane        lane
    4           i = 0                          .------ [e12]
                -                  .-----------'-------------- [e40]
                `------------------'

Every edge is a box in the lane of its relations, beside the text, at about the height of its nodes. A spoke leads from the
box to each node: between two lines of text, where it covers nothing, and then to the mark below the node. Nodes without a
place in the text are named in the box.

Boxes show the number of the edge and tooltips those of its nodes; both are those of the graph, whichever relations are
drawn. Colours and fonts are left to the style sheet of the page; classes are `lane0`, `lane1`, ... by the style of the lane.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise

from hyperheat.hypergraph.graph import Edge, Hypergraph
from hyperheat.visible_text import columns, visible, visible_code

__all__ = ["MAX_SPOKES", "Lane", "TooManySpokes", "draw_over"]

MAX_SPOKES = 20_000
"""The most spokes of a drawing; more would keep a browser busy for long, and nobody could read them."""

# All in pixels.
_CHARACTER = 7.8  # the width of a column; texts are stretched to it, so that any font fits
_ROW = 38.0
_BASELINE, _LEAF, _INNER = 17.0, 24.5, 27.0  # of the text, and of the marks below it, from the top of its row
_TRACKS = (29.5, 31.5, 33.5)  # where spokes run, below the marks
_LEFT, _TOP = 52.0, 44.0
_MOST_COLUMNS = 96  # beside which some lanes fit on a screen; longer lines are cut
_BOX, _GAP = 17.0, 21.0  # the height of a box, and from one to the next
_SMALL = 6.2  # the width of a character of a small text
_LISTED = 12  # nodes of an edge that its tooltip names


class TooManySpokes(ValueError):
    """A drawing that would be too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A column of edges: its title, the relations whose edges it holds, and the number of its colour.

    `named` puts the relation into each box.
    """

    title: str
    relations: frozenset[str]
    style: int
    named: bool = False


def draw_over(
    graph: Hypergraph,
    lines: Sequence[str],
    *,
    first_line: int,
    lanes: Sequence[Lane],
    shown_line: int | None = None,
) -> str:
    """Draw the edges of some relations over the lines, the first of which has the number `first_line` in the spans.

    Beside it stands that number, or `shown_line`. Raises TooManySpokes.
    """
    if graph.span is None:
        raise ValueError("graph: expected places of its nodes, got none")
    lane_of = {relation: place for place, lane in enumerate(lanes) for relation in lane.relations}
    chosen = [(number, edge) for number, edge in enumerate(graph) if edge.relation in lane_of]
    spokes = sum(len(edge.incidences) for _, edge in chosen)
    if spokes > MAX_SPOKES:
        raise TooManySpokes(
            f"these relations join {spokes:,} nodes, more than the {MAX_SPOKES:,} that can be drawn"
        )
    paper = _Paper(lines, first_line, first_line if shown_line is None else shown_line)
    anchors = _Anchors(graph, paper)
    by_lane: dict[int, list[_Box]] = defaultdict(list)
    for number, edge in chosen:
        lane = lane_of[edge.relation]
        by_lane[lane].append(_Box.of(number, edge, anchors, named=lanes[lane].named))
    parts, left = [], paper.right + 64.0
    for place, lane in enumerate(lanes):
        boxes = _spread(by_lane[place])
        width = max([_small_width(lane.title), *(_small_width(box.caption) for box in boxes)]) + 14.0
        parts.append(_Column(lane, left, width, boxes))
        left += width + 34.0
    bottom = max([paper.bottom, *(box.y + _GAP for column in parts for box in column.boxes)])
    used = sorted({anchor.node for column in parts for box in column.boxes for _, anchor in box.spokes})
    return "\n".join(
        [
            f'<svg class="overlay" role="group" aria-label="Hypergraph over the source" width="{left:.0f}" '
            f'height="{bottom:.0f}" viewBox="0 0 {left:.0f} {bottom:.0f}">',
            *paper.draw(),
            *(part for column in parts for part in column.draw_spokes()),
            *(anchors.draw(node) for node in used),
            *(part for column in parts for part in column.draw_boxes(anchors)),
            "</svg>",
        ]
    )


class _Paper:
    """The text, without the blanks that all its lines begin with, and where each of its characters is."""

    def __init__(self, lines: Sequence[str], first_line: int, shown_line: int) -> None:
        self._first, self._shown = first_line, shown_line
        shown = [visible_code(*line[: 2 * _MOST_COLUMNS]) for line in lines]
        self._edges = [_running(map(columns, characters)) for characters in shown]
        texts = ["".join(characters) for characters in shown]
        self._indent = min(
            (len(text) - len(text.lstrip(" ")) for text in texts if text.strip(" ")), default=0
        )
        self._texts = [_cut(text[self._indent :]) for text in texts]
        widest = max((columns(text) for text in self._texts), default=0)
        self.right = _LEFT + _CHARACTER * widest
        self.bottom = _TOP + _ROW * len(lines) + 8.0

    def top(self, line: int) -> float:
        """The top of the row of a line; of the first or last one if there is no such line."""
        return _TOP + _ROW * min(max(line - self._first, 0), len(self._texts) - 1)

    def x(self, line: int, column: int) -> float:
        """The left side of a character."""
        index = line - self._first
        if not 0 <= index < len(self._edges):
            return _LEFT
        edges = self._edges[index]
        edge = edges[min(column, len(edges) - 1)] - self._indent
        return _LEFT + _CHARACTER * min(max(edge, 0), _MOST_COLUMNS)

    def draw(self) -> Iterator[str]:
        for index, text in enumerate(self._texts):
            y = _TOP + _ROW * index + _BASELINE
            yield f'<text class="lineno" x="{_LEFT - 14:.0f}" y="{y:.1f}">{self._shown + index}</text>'
            code = text.lstrip(" ")
            if code:
                x = _LEFT + _CHARACTER * (len(text) - len(code))
                yield (
                    f'<text class="src" x="{x:.1f}" y="{y:.1f}" textLength="{_CHARACTER * columns(code):.1f}" '
                    f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(code)}</text>'
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchor:
    """Where the spokes of a node end."""

    node: int
    line: int
    x: float
    y: float
    row: float


class _Anchors:
    """The marks of nodes: dots below single tokens, small squares below the first character of larger pieces of code."""

    def __init__(self, graph: Hypergraph, paper: _Paper) -> None:
        assert graph.span is not None
        self._spans, self._paper, self._graph = graph.span.tolist(), paper, graph
        self._leaves = _leaves(self._spans)
        self._shift: dict[int, int] = {}
        starts: Counter[tuple[int, int]] = Counter()
        for node, (line, column, *_) in enumerate(self._spans):
            if line >= 0 and node not in self._leaves:
                self._shift[node] = starts[line, column]
                starts[line, column] += 1

    @cached_property
    def _labels(self) -> list[str]:
        return self._graph.labels

    def label(self, node: int) -> str:
        """The label of a node and its number, as a tooltip shows them."""
        text = visible(self._labels[node]) or "''"
        return f"{text if len(text) <= 40 else text[:39] + '…'} #{node}"

    def of(self, node: int) -> _Anchor | None:
        """The mark of a node; None if it has no place in the text."""
        line, column, end_line, end_column = self._spans[node]
        if line < 0:
            return None
        row, left = self._paper.top(line), self._paper.x(line, column)
        if node in self._leaves:
            right = self._paper.x(line, end_column) if end_line == line else left + 2 * _CHARACTER
            return _Anchor(node=node, line=line, x=(left + right) / 2, y=row + _LEAF, row=row)
        x = left + 2.0 + 5.0 * self._shift[node]
        return _Anchor(node=node, line=line, x=x, y=row + _INNER, row=row)

    def draw(self, node: int) -> str:
        """The mark, and an area over its text that can be pointed at."""
        anchor = self.of(node)
        assert anchor is not None
        line, column, end_line, end_column = self._spans[node]
        title = f"<title>{escape(self.label(node))}</title>"
        if node not in self._leaves:
            x, y = anchor.x - 2.0, anchor.y - 2.0
            mark = f'<rect class="mark" x="{x:.1f}" y="{y:.1f}" width="4" height="4"/>'
            return f'<g class="place inner" data-node="{node}">{title}{mark}</g>'
        left = self._paper.x(line, column)
        wide = max(self._paper.x(line, end_column) - left if end_line == line else 0.0, _CHARACTER)
        area = f'<rect class="area" x="{left:.1f}" y="{anchor.row + 4:.1f}" width="{wide:.1f}" height="20"/>'
        mark = f'<circle class="mark" cx="{anchor.x:.1f}" cy="{anchor.y:.1f}" r="2.2"/>'
        return f'<g class="place leaf" data-node="{node}">{title}{area}{mark}</g>'


def _leaves(spans: list[list[int]]) -> set[int]:
    """The nodes that no other node is a part of."""
    placed = [node for node, span in enumerate(spans) if span[0] >= 0]
    order = sorted(placed, key=lambda node: (spans[node][:2], [-end for end in spans[node][2:]], -node))
    leaves = set(order)
    for node, following in pairwise(order):
        start, end = spans[following][:2], spans[following][2:]
        if start != end and start < spans[node][2:] and spans[node] != spans[following]:
            leaves.discard(node)
    return leaves


@dataclass(slots=True, kw_only=True)
class _Box:
    """An edge: its number, what its box says, and the marks of its nodes."""

    number: int
    edge: Edge
    caption: str
    spokes: list[tuple[str, _Anchor]]
    y: float

    @classmethod
    def of(cls, number: int, edge: Edge, anchors: _Anchors, *, named: bool) -> "_Box":
        spokes, words = [], [visible(edge.relation)] if named else []
        for qualifier, node in edge.incidences:
            anchor = anchors.of(node)
            if anchor is None:
                words.append(anchors.label(node))
            else:
                spokes.append((visible(str(qualifier)), anchor))
        words = [word if len(word) <= 22 else word[:21] + "…" for word in words[:2]]
        rows = sorted({anchor.row for _, anchor in spokes})
        middle = sum(rows) / len(rows) if rows else _TOP
        return cls(
            number=number,
            edge=edge,
            caption=" ".join([f"e{number}", *words]),
            spokes=spokes,
            y=middle + _ROW / 2,
        )


def _spread(boxes: list[_Box]) -> list[_Box]:
    """Move boxes so that none overlap, as little as possible: least squares under order, by pooling neighbours."""
    boxes = sorted(boxes, key=lambda box: (box.y, box.number))
    pools: list[
        tuple[float, int]
    ] = []  # the mean of what is wanted, less what earlier boxes take; and how many
    for index, box in enumerate(boxes):
        wanted, size = box.y - _GAP * index, 1
        while pools and pools[-1][0] > wanted:
            mean, count = pools.pop()
            wanted, size = (mean * count + wanted * size) / (count + size), count + size
        pools.append((wanted, size))
    places = [wanted for wanted, size in pools for _ in range(size)]
    for index, (box, place) in enumerate(zip(boxes, places, strict=True)):
        box.y = max(place, _TOP + _BOX / 2) + _GAP * index
    return boxes


@dataclass(frozen=True, slots=True)
class _Column:
    """A lane with its boxes, from `left` on."""

    lane: Lane
    left: float
    width: float
    boxes: list[_Box]

    def draw_spokes(self) -> Iterator[str]:
        """What lies below all boxes."""
        yield f'<g class="lane{self.lane.style}">'
        for box in self.boxes:
            paths = "".join(self._spoke(box, anchor) for _, anchor in box.spokes)
            yield f'<g class="spokes" data-edge="{box.number}">{paths}</g>'
        yield "</g>"

    def draw_boxes(self, anchors: _Anchors) -> Iterator[str]:
        """The title and the boxes of the lane, each with the words of its spokes."""
        yield f'<g class="lane{self.lane.style}">'
        middle = self.left + self.width / 2
        yield f'<text class="lanename" x="{middle:.1f}" y="20">{escape(self.lane.title)}</text>'
        for box in self.boxes:
            title = escape(_title(box, anchors))
            nodes = " ".join(str(node) for _, node in box.edge.incidences)
            yield (
                f'<g class="hyperedge" data-edge="{box.number}" data-nodes="{nodes}" role="button" tabindex="-1" '
                f'aria-label="{title}"><title>{title}</title>'
                f'<rect class="box" x="{self.left:.1f}" y="{box.y - _BOX / 2:.1f}" width="{self.width:.1f}" '
                f'height="{_BOX}" rx="3"/>'
                f'<text class="number" x="{middle:.1f}" y="{box.y + 3.5:.1f}">{escape(box.caption)}</text>'
            )
            yield from _words(box)
            yield "</g>"
        yield "</g>"

    def _spoke(self, box: _Box, anchor: _Anchor) -> str:
        track = anchor.row + _TRACKS[box.number % len(_TRACKS)]
        turn = min(self.left, max(anchor.x, self.left - 60.0))
        bend = (self.left - turn) * 0.6
        return (
            f'<path class="spoke" d="M{anchor.x:.1f},{anchor.y:.1f} V{track:.1f} H{turn:.1f} '
            f'C{turn + bend:.1f},{track:.1f} {self.left - bend:.1f},{box.y:.1f} {self.left:.1f},{box.y:.1f}"/>'
        )


def _title(box: _Box, anchors: _Anchors) -> str:
    """The edge in words: its relation, its number and its nodes."""
    named = [f"{visible(str(qualifier))} {anchors.label(node)}" for qualifier, node in box.edge.incidences]
    more = [f"{len(named) - _LISTED} more"] if len(named) > _LISTED else []
    return f"{visible(box.edge.relation)} e{box.number}: {', '.join([*named[:_LISTED], *more])}"


def _words(box: _Box) -> Iterator[str]:
    """The part of each node in the edge, above it; shown when the edge is chosen. None covers another."""
    free: dict[float, float] = defaultdict(float)
    for qualifier, anchor in sorted(box.spokes, key=lambda spoke: (spoke[1].row, spoke[1].x)):
        text = f"{qualifier if len(qualifier) <= 20 else qualifier[:19] + '…'} #{anchor.node}"
        x = max(anchor.x - _small_width(text) / 2, free[anchor.row])
        free[anchor.row] = x + _small_width(text) + 5.0
        yield f'<text class="part" x="{x:.1f}" y="{anchor.row + 3.0:.1f}">{escape(text)}</text>'


def _small_width(text: str) -> float:
    return _SMALL * columns(text)


def _cut(text: str) -> str:
    return text if columns(text) <= _MOST_COLUMNS else text[: _MOST_COLUMNS - 1] + "…"


def _running(widths: Iterable[int]) -> list[int]:
    """Where each of the characters begins, and where the last one ends."""
    edges = [0]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges
