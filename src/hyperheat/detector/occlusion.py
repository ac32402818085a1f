"""What can be taken away from a function before a detector is asked again: its variables, tokens and relations.

    for part in list_parts(function, place):
        without = remove(graph, part)

Nothing else changes: nodes keep their numbers, so the candidates of the function stay what they are.

    variable    a name that occurs more than once: the labels of its symbol and of all its occurrences are hidden
    token       one word, number, string or operator: its label is hidden; punctuation is not listed
    relation    all edges of a family, such as control flow: they are dropped

Letters: N nodes, E edges.
"""

from collections import defaultdict
from collections.abc import Iterator
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
    "AstNode": "syntax",
    "CtrlF": "control flow",
    "MayRead": "earlier reads",
    "MayWrite": "assignments that may reach a use",
    "Symbol": "occurrences of the same name",
    "Returns": "what is returned",
    "Yields": "what is yielded",
    "calls": "calls and operators",
}
"""The families of relations that can be removed, and what they say; `calls` are those of functions and operators.

The sequence of tokens is not among them: without it, hardly anything is left to read.
"""

_FIRST = {"AstNode": "node", "Symbol": "sym", "Returns": "fn", "Yields": "fn"} | dict.fromkeys(
    ("CtrlF", "MayRead", "MayWrite"), "prev"
)  # the qualifier that edges of a family begin with
_HIDDEN = "\ue000"  # for private use: no vocabulary knows it, so it is read as an unknown word
_PUNCTUATION = frozenset("()[]{},:;.") | {"<INDENT>", "<DEDENT>", "->", "..."}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FunctionPart:
    """Something that can be removed from the hypergraph of a function.

    `spans` are its places in the function's source, the one nearest to the place in question first; a relation has none.
    """

    kind: PartKind
    text: str
    spans: tuple[Span, ...] = ()
    nodes: tuple[int, ...] = ()
    """The nodes whose labels are hidden."""
    edges: tuple[int, ...] = ()
    """The edges that are dropped."""


def list_parts(function: FunctionGraph, place: Span) -> list[FunctionPart]:
    """All parts of a function: relations first, then what is nearest to a place.

    Near means few steps in the hypergraph, whose edges lead from a use to the assignment; then few characters.
    """
    graph = function.graph
    near = _Nearness(function, place)
    parts = sorted((*_variables(function, near), *_tokens(function, near)), key=near.of)
    return [*_relations(graph), *parts]


def remove(graph: Hypergraph, part: FunctionPart) -> Hypergraph:
    """The hypergraph without a part."""
    names, label = graph.names, graph.label
    if part.nodes:
        label = label.copy()
        label[list(part.nodes)] = len(names)
        names = (*names, _HIDDEN)
    if not part.edges:
        return replace(graph, names=names, label=label)
    kept = np.ones(graph.num_edges, dtype=bool)
    kept[list(part.edges)] = False
    inside = kept[graph.edge]
    return replace(
        graph,
        names=names,
        label=label,
        relation=graph.relation[kept],
        offsets=running_sum(np.diff(graph.offsets)[kept]),
        qualifier=graph.qualifier[inside],
        node=graph.node[inside],
    )


class _Nearness:
    """How far the nodes and characters of a function are from a place."""

    def __init__(self, function: FunctionGraph, place: Span) -> None:
        columns, start = function.syntax.columns, function.syntax.start_of_lines
        self._place = place
        self.spans = [
            Span(first - start, last - start)
            for first, last in zip(columns.starts, columns.ends, strict=True)
        ]
        inside = [
            node
            for node, span in enumerate(self.spans)
            if place.start <= span.start and span.end <= place.end
        ]
        self._steps = _steps(function.graph, np.array(inside, dtype=np.int64))

    def characters(self, span: Span) -> int:
        """Characters between a span and the place."""
        return max(span.start - self._place.end, self._place.start - span.end, 0)

    def of(self, part: FunctionPart) -> tuple[int, int, int, bool]:
        """What to sort parts by: steps, characters, order in the source, variables before their tokens."""
        steps = min(int(self._steps[node]) for node in part.nodes)
        return steps, self.characters(part.spans[0]), part.spans[0].start, part.kind == "token"


def _steps(graph: Hypergraph, sources: np.ndarray) -> np.ndarray:
    """How many edges lie between each node and the nearest source, tokens in sequence not counted as joined [N]."""
    joins = np.array([name != "Tokens" for name in graph.names] or [True])[graph.relation]  # [E]
    inside = joins[graph.edge]
    edge, node = graph.edge[inside], graph.node[inside]
    steps = np.full(graph.num_nodes, graph.num_nodes + 1)
    steps[sources] = 0
    reached = np.zeros(graph.num_edges, dtype=bool)
    for step in range(1, graph.num_nodes + 1):
        new = np.unique(edge[(steps[node] == step - 1) & ~reached[edge]])
        if not len(new):
            break
        reached[new] = True
        there = node[np.isin(edge, new)]
        steps[there] = np.minimum(steps[there], step)
    return steps


def _relations(graph: Hypergraph) -> Iterator[FunctionPart]:
    """The families of relations that the graph has, in the order of `FAMILIES`."""
    edges: dict[str, list[int]] = defaultdict(list)
    for edge, (relation, start) in enumerate(zip(graph.relations, graph.offsets[:-1].tolist(), strict=True)):
        first = int(graph.qualifier[start])
        if first >= 0:  # else it is a sequence of tokens
            own = _FIRST.get(relation) == graph.names[first]  # else it is a call of a function of that name
            edges[relation if own else "calls"].append(edge)
    for family in FAMILIES:
        if family in edges:
            yield FunctionPart(kind="relation", text=family, edges=tuple(edges[family]))


def _variables(function: FunctionGraph, near: _Nearness) -> Iterator[FunctionPart]:
    """The names that occur more than once; of `self.total` the last word is hidden wherever it stands."""
    labels, token_at_end = function.graph.labels, _tokens_by_end(function)
    for symbol, *occurrences in symbols(function.graph):
        if len(occurrences) > 1:
            words = sorted({token_at_end.get(near.spans[node].end, node) for node in occurrences})
            spans = sorted((near.spans[node] for node in occurrences), key=near.characters)
            yield FunctionPart(
                kind="variable", text=labels[symbol], spans=tuple(spans), nodes=(symbol, *words)
            )


def _tokens_by_end(function: FunctionGraph) -> dict[int, int]:
    """The token that ends at each place in the function's source."""
    tokens, start = function.syntax.tokens, function.syntax.start_of_lines
    return {end - start: token for token, end in enumerate(tokens.ends)}


def _tokens(function: FunctionGraph, near: _Nearness) -> Iterator[FunctionPart]:
    """The tokens that say something; the only occurrence of a name is hidden together with its symbol."""
    tokens = function.syntax.tokens
    alone = {nodes[0]: symbol for symbol, *nodes in symbols(function.graph) if len(nodes) == 1}
    for token, text in enumerate(tokens.texts):
        if text not in _PUNCTUATION and token not in tokens.quotes:
            nodes = (token, alone[token]) if token in alone else (token,)
            yield FunctionPart(kind="token", text=text, spans=(near.spans[token],), nodes=nodes)
