"""What can be taken away from a function before a detector is asked again: its variables, tokens and relations.

    for part in list_parts(function, place):
        without = remove(function.graph, [part])

Nodes keep their numbers, so the candidates of the function stay what they are.

    variable    a name that occurs more than once: its labels are hidden, and so is which occurrences belong together
                and which assignment reaches which use (Symbol, MayRead, MayWrite)
    token       one word, number, string or operator: its label is hidden, and it is taken out of all edges; at the
                place in question only the label is hidden. Punctuation is not listed.
    relation    the edges of a family, such as control flow, that touch the place in question: they are dropped

Letters: N nodes, E edges, I incidences.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.graph import running_sum
from hyperheat.pycode import FunctionGraph
from hyperheat.pycode.pairs import symbols
from hyperheat.rewrites import Span

__all__ = ["FAMILIES", "FunctionPart", "PartKind", "list_parts", "remove"]

PartKind = Literal["variable", "token", "relation"]

FAMILIES = {
    "AstNode": "where it stands in the syntax tree",
    "CtrlF": "what runs before and after it",
    "MayRead": "which uses come before and after it",
    "MayWrite": "which assignments reach it",
    "Symbol": "where else the name occurs",
    "Returns": "that it is returned",
    "Yields": "that it is yielded",
    "calls": "which function or operator it is passed to, and as which parameter",
}
"""The families of relations, and what each says about a place; `calls` are those of functions and operators.

The sequence of tokens is not among them: without it, hardly anything is left to read.
"""

_FIRST = {"AstNode": "node", "Symbol": "sym", "Returns": "fn", "Yields": "fn"} | dict.fromkeys(
    ("CtrlF", "MayRead", "MayWrite"), "prev"
)  # the qualifier that edges of a family begin with
_OF_NAMES = ("Symbol", "MayRead", "MayWrite")
_HIDDEN = "\ue000"  # for private use: no vocabulary knows it, so it is read as an unknown word
_PUNCTUATION = frozenset("()[]{},:;.") | {"<INDENT>", "<DEDENT>", "->", "..."}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPart:
    """Something that can be removed from the hypergraph of a function.

    `spans` are its places in the function's source, the one nearest to the place in question first; a relation has none.
    """

    kind: PartKind
    text: str
    spans: tuple[Span, ...] = ()
    nodes: tuple[int, ...] = ()
    """The nodes whose labels are hidden."""
    cut: bool = False
    """Whether these nodes are taken out of all edges."""
    edges: tuple[int, ...] = ()
    """The edges that are dropped."""


def list_parts(function: FunctionGraph, place: Span) -> list[FunctionPart]:
    """All parts of a function: relations of the place first, then what is nearest to it.

    Near means few steps in the hypergraph, whose edges lead from a use to the assignment; then few characters.
    """
    families = dict(_families(function.graph))
    near = _Nearness(function, place)
    parts = [*_variables(function, near, families), *_tokens(function, near)]
    return [*_relations(function.graph, near, families), *sorted(parts, key=near.of)]


def remove(graph: Hypergraph, parts: Sequence[FunctionPart]) -> Hypergraph:
    """The hypergraph without some parts."""
    hidden = [node for part in parts for node in part.nodes]
    names, label = graph.names, graph.label
    if hidden:
        names, label = (*names, _HIDDEN), label.copy()
        label[hidden] = len(names) - 1
    edge = graph.edge
    dropped = np.zeros(graph.num_edges, dtype=bool)
    dropped[[edge for part in parts for edge in part.edges]] = True
    cut = np.zeros(graph.num_nodes, dtype=bool)
    cut[[node for part in parts if part.cut for node in part.nodes]] = True
    kept = ~dropped[edge] & ~cut[graph.node]  # [I]
    sizes = np.bincount(edge[kept], minlength=graph.num_edges)
    return replace(
        graph,
        names=names,
        label=label,
        relation=graph.relation[sizes > 0],
        offsets=running_sum(sizes[sizes > 0]),
        qualifier=graph.qualifier[kept],
        node=graph.node[kept],
    )


class _Nearness:
    """How far the nodes and characters of a function are from a place."""

    def __init__(self, function: FunctionGraph, place: Span) -> None:
        columns, start = function.syntax.columns, function.syntax.start_of_lines
        self.place = place
        self.spans = [
            Span(first - start, last - start)
            for first, last in zip(columns.starts, columns.ends, strict=True)
        ]
        self.inside = [node for node, span in enumerate(self.spans) if self.covers(span)]
        self._steps = _steps(function.graph, np.array(self.inside, dtype=np.int64))

    def covers(self, span: Span) -> bool:
        """Whether a span lies in the place."""
        return self.place.start <= span.start and span.end <= self.place.end

    def characters(self, span: Span) -> int:
        """How many characters lie between a span and the place."""
        return max(span.start - self.place.end, self.place.start - span.end, 0)

    def of(self, part: FunctionPart) -> tuple[int, int, int, bool]:
        """What to sort parts by: steps, characters, order in the source, variables before their tokens."""
        steps = min(int(self._steps[node]) for node in part.nodes)
        return steps, self.characters(part.spans[0]), part.spans[0].start, part.kind == "token"


def _steps(graph: Hypergraph, sources: np.ndarray) -> np.ndarray:
    """How many edges lie between each node and the nearest source; the sequence of tokens joins nothing [N]."""
    joins = np.array([name != "Tokens" for name in graph.names] or [True])[graph.relation]  # [E]
    inside = joins[graph.edge]
    edge, node = graph.edge[inside], graph.node[inside]
    steps = np.full(graph.num_nodes, graph.num_nodes + 1)
    steps[sources] = 0
    reached = np.zeros(graph.num_edges, dtype=bool)
    for step in range(1, graph.num_nodes + 1):
        new = edge[(steps[node] == step - 1) & ~reached[edge]]
        if not len(new):
            break
        now = np.zeros(graph.num_edges, dtype=bool)
        now[new] = reached[new] = True
        there = node[now[edge]]
        steps[there] = np.minimum(steps[there], step)
    return steps


def _families(graph: Hypergraph) -> Iterator[tuple[str, list[int]]]:
    """The edges of each family that the graph has, in the order of `FAMILIES`."""
    edges: dict[str, list[int]] = defaultdict(list)
    for edge, (relation, start) in enumerate(zip(graph.relations, graph.offsets[:-1].tolist(), strict=True)):
        first = int(graph.qualifier[start])
        if first >= 0:  # else it is a sequence of tokens
            own = _FIRST.get(relation) == graph.names[first]  # else it is a call of a function of that name
            edges[relation if own else "calls"].append(edge)
    return ((family, edges[family]) for family in FAMILIES if family in edges)


def _edges_at(graph: Hypergraph, nodes: Sequence[int]) -> np.ndarray:
    """Which edges have one of the nodes [E]."""
    chosen = np.zeros(graph.num_nodes, dtype=bool)
    chosen[list(nodes)] = True
    found = np.zeros(graph.num_edges, dtype=bool)
    found[graph.edge[chosen[graph.node]]] = True
    return found


def _relations(graph: Hypergraph, near: _Nearness, families: dict[str, list[int]]) -> Iterator[FunctionPart]:
    """The families of relations with edges at the place."""
    touched = _edges_at(graph, near.inside)
    for family, edges in families.items():
        if there := tuple(edge for edge in edges if touched[edge]):
            yield FunctionPart(kind="relation", text=family, edges=there)


def _variables(
    function: FunctionGraph, near: _Nearness, families: dict[str, list[int]]
) -> Iterator[FunctionPart]:
    """The names that occur more than once; of `self.total` the last word is hidden wherever it stands."""
    graph, tokens = function.graph, function.syntax.tokens
    labels, start = graph.labels, function.syntax.start_of_lines
    token_ending = {end - start: token for token, end in enumerate(tokens.ends)}
    of_names = [edge for family in _OF_NAMES for edge in families.get(family, ())]
    for symbol, *occurrences in symbols(graph):
        if len(occurrences) == 1:
            continue
        words = sorted({token_ending.get(near.spans[node].end, node) for node in occurrences})
        touched = _edges_at(graph, occurrences)
        yield FunctionPart(
            kind="variable",
            text=labels[symbol],
            spans=tuple(sorted((near.spans[node] for node in occurrences), key=near.characters)),
            nodes=(symbol, *words),
            edges=tuple(edge for edge in of_names if touched[edge]),
        )


def _tokens(function: FunctionGraph, near: _Nearness) -> Iterator[FunctionPart]:
    """The tokens that say something; the only occurrence of a name is hidden together with its symbol."""
    tokens = function.syntax.tokens
    alone = {nodes[0]: symbol for symbol, *nodes in symbols(function.graph) if len(nodes) == 1}
    for token, text in enumerate(tokens.texts):
        if text not in _PUNCTUATION and token not in tokens.quotes:
            span = near.spans[token]
            nodes = (token, alone[token]) if token in alone else (token,)
            yield FunctionPart(kind="token", text=text, spans=(span,), nodes=nodes, cut=not near.covers(span))
