"""The same function as a graph of pairs, for models that read binary edges: PyBugLab's GNN and GREAT.

`pairwise` keeps every node of the hypergraph, with its number, and puts two-ended edges in place of the
relations:

    Tokens       NextToken(source: token, target: the next)
    AstNode      Child(source: parent, target: child)
                 Sibling(source: child, target: the next)
    CtrlF        ControlFlowNext(source: previous, target: successor)
    MayRead      NextMayUse(source: previous use, target: use)
    MayWrite     LastMayWrite(source: use, target: write)
    Symbol       OccurrenceOf(source: occurrence, target: symbol)
                 MayFinalUseOf(source: last use, target: symbol)
    Returns      ReturnsFrom(source: function, target: return)
    Yields       YieldsFrom(source: function, target: yield)
    assignment   AssignedFrom(source: target of the assignment, target: value)
    calls        CandidateCall(source: call, target: name of the callee)
                 MayFormalName(source: argument, target: name of its parameter)

The names of callees and of parameters are new nodes, one per name and graph.
Operators have no pairs of their own: what they relate are children. `between_tokens` is GREAT's view: the
nodes are the tokens alone, and the edges of flow, assignment and last use lie between the tokens that stand
for their ends.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise as neighbours
from typing import NamedTuple

import numpy as np

from hyperheat.hypergraph import Hypergraph
from hyperheat.pycode.extraction import FunctionGraph
from hyperheat.pycode.syntax.function_syntax import FunctionSyntax
from hyperheat.pycode.syntax.traversal import descendants, levels

__all__ = [
    "RELATIONS",
    "TOKEN_RELATIONS",
    "between_tokens",
    "pairwise",
    "symbols",
    "tokens_of",
]

RELATIONS = (
    "NextToken",
    "Child",
    "Sibling",
    "ControlFlowNext",
    "NextMayUse",
    "LastMayWrite",
    "OccurrenceOf",
    "MayFinalUseOf",
    "ReturnsFrom",
    "YieldsFrom",
    "AssignedFrom",
    "CandidateCall",
    "MayFormalName",
)
"""The relations of `pairwise`."""

TOKEN_RELATIONS = (
    "ControlFlowNext",
    "AssignedFrom",
    "ReturnsFrom",
    "YieldsFrom",
    "NextMayUse",
    "LastMayWrite",
    "MayFinalUseOf",
)
"""The relations that `between_tokens` keeps."""

_NUMBER = {name: number for number, name in enumerate(RELATIONS)}
_FLOW = {"CtrlF": "ControlFlowNext", "MayRead": "NextMayUse", "MayWrite": "LastMayWrite"}
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign)


class _Edge(NamedTuple):
    """An edge of a code hypergraph: its relation, its first qualifier ("" for a position), and its columns."""

    relation: str
    first: str
    qualifiers: list[int]
    nodes: list[int]


class _Pairs:
    """Pairs as columns; relations are numbered as in `RELATIONS`."""

    def __init__(self) -> None:
        self.relation: list[int] = []
        self.source: list[int] = []
        self.target: list[int] = []

    def add(self, relation: str, source: Sequence[int], target: Sequence[int]) -> None:
        self.relation += [_NUMBER[relation]] * len(source)
        self.source += source
        self.target += target

    def rows(self) -> np.ndarray:
        """Relation, source and target of each pair: [P, 3]."""
        return np.array([self.relation, self.source, self.target], dtype=np.int64).T


def pairwise(function: FunctionGraph) -> Hypergraph:
    """The graph of pairs of a function; its first nodes are those of `function.graph`."""
    graph = function.graph
    names = {name: index for index, name in enumerate(graph.names)}
    edges = list(_edges(graph))
    added, calls = _calls(function, edges)
    rows = np.concatenate([_distinct(_structure(function, edges, names)), calls.rows()])
    label = [*graph.label.tolist(), *(names.setdefault(name, len(names)) for name in added)]
    codes = np.zeros(len(RELATIONS), dtype=np.int32)
    for number in dict.fromkeys(rows[:, 0].tolist()):
        codes[number] = names.setdefault(RELATIONS[number], len(names))
    ends = [names.setdefault("source", len(names)), names.setdefault("target", len(names))]
    span = None if graph.span is None else np.pad(graph.span, ((0, len(added)), (0, 0)), constant_values=-1)
    return Hypergraph(
        names=tuple(names),
        label=np.array(label, dtype=np.int32),
        relation=codes[rows[:, 0]],
        offsets=2 * np.arange(len(rows) + 1, dtype=np.int64),
        qualifier=np.tile(np.array(ends, dtype=np.int32), len(rows)),
        node=rows[:, 1:].reshape(-1).astype(np.int32),
        span=span,
    )


def between_tokens(pairs: Hypergraph, token_of: np.ndarray) -> Hypergraph:
    """The pairs between tokens, given the token that stands for each node; no pair joins a token to itself.

    between_tokens(pairwise(function), tokens_of(function))
    """
    tokens = int((token_of == np.arange(len(token_of))).sum())
    kept = np.array([name in TOKEN_RELATIONS for name in pairs.names] or [False])[pairs.relation]
    ends = token_of[pairs.node.reshape(-1, 2)[kept]]  # [P, 2]
    relation = pairs.relation[kept]
    real = (ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])
    rows = np.column_stack([relation, ends])[real]
    _, first = np.unique(rows, axis=0, return_index=True)
    rows = rows[np.sort(first)]
    ends_of_pair = pairs.qualifier[:2] if len(pairs.qualifier) else pairs.qualifier  # source, target
    return Hypergraph(
        names=pairs.names,
        label=pairs.label[:tokens],
        relation=rows[:, 0],
        offsets=np.arange(len(rows) + 1) * 2,
        qualifier=np.tile(ends_of_pair, len(rows)),
        node=rows[:, 1:].reshape(-1),
        span=None if pairs.span is None else pairs.span[:tokens],
    )


def _edges(graph: Hypergraph) -> Iterator[_Edge]:
    names, qualifiers, nodes = graph.names, graph.qualifier.tolist(), graph.node.tolist()
    for relation, (start, end) in zip(
        graph.relation.tolist(), neighbours(graph.offsets.tolist()), strict=True
    ):
        first = qualifiers[start]
        yield _Edge(
            names[relation], names[first] if first >= 0 else "", qualifiers[start:end], nodes[start:end]
        )


def _structure(function: FunctionGraph, edges: list[_Edge], number: Mapping[str, int]) -> _Pairs:
    """Pairs for syntax, flow and assignments. Calls may share their names, but their edges begin with `rval`."""
    pairs, last_use = _Pairs(), number.get("may_last_use")
    for relation, first, qualifiers, nodes in edges:
        if first == "rval":
            continue
        head, rest = nodes[:1], nodes[1:]
        if first == "":
            pairs.add("NextToken", nodes[:-1], rest)
        elif first == "node" and relation == "AstNode":
            pairs.add("Child", head * len(rest), rest)
            pairs.add("Sibling", rest[:-1], rest[1:])
        elif first == "prev" and relation in _FLOW:
            split = qualifiers.count(qualifiers[0])  # `prev` comes before `succ`
            after = nodes[split:]
            ends = [node for node in nodes[:split] for _ in after], after * split
            pairs.add(_FLOW[relation], *(reversed(ends) if relation == "MayWrite" else ends))
        elif first == "sym" and relation == "Symbol":
            pairs.add("OccurrenceOf", rest, head * len(rest))
            uses = [node for node, qualifier in zip(nodes, qualifiers, strict=True) if qualifier == last_use]
            pairs.add("MayFinalUseOf", uses, head * len(uses))
        elif first == "fn" and relation in ("Returns", "Yields"):
            pairs.add(f"{relation}From", head * len(rest), rest)
    for target, value in _assignments(function.syntax):
        pairs.add("AssignedFrom", [target], [value])
    return pairs


def _distinct(pairs: _Pairs) -> np.ndarray:
    """The rows of pairs without repetitions, in the order of their first occurrence."""
    rows = pairs.rows()
    width = rows[:, 1:].max(initial=0) + 1
    _, first = np.unique((rows[:, 0] * width + rows[:, 1]) * width + rows[:, 2], return_index=True)
    return rows[np.sort(first)]


def _assignments(syntax: FunctionSyntax) -> Iterator[tuple[int, int]]:
    """The nodes of the target and the value of every assignment."""
    for level in levels([syntax.function]):
        for node in level:
            if isinstance(node, _ASSIGNMENTS) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    yield syntax.node(target), syntax.node(node.value)


def _calls(function: FunctionGraph, edges: list[_Edge]) -> tuple[list[str], _Pairs]:
    """Labels of the nodes that stand for callees and parameters, and the pairs that lead there."""
    syntax, qualifier_names = function.syntax, function.graph.names
    calls = {syntax.node(node) for node in descendants(syntax.function) if type(node) is ast.Call}
    names: dict[tuple[str, ...], int] = {}
    pairs = _Pairs()
    for relation, first, qualifiers, nodes in edges:
        if first != "rval" or nodes[0] not in calls:
            continue
        for qualifier, node in zip(qualifiers, nodes, strict=True):
            formal = qualifier_names[qualifier]
            name = (relation,) if formal == "rval" else (relation, formal)
            target = names.setdefault(name, function.graph.num_nodes + len(names))
            pairs.add("CandidateCall" if len(name) == 1 else "MayFormalName", [node], [target])
    return [name[-1] for name in names], pairs


def tokens_of(function: FunctionGraph) -> np.ndarray:
    """The token that stands for each node: itself, its operator or its first, a symbol's first occurrence.

    -1 for a node without a token.
    """
    syntax = function.syntax
    at_start, tokens = syntax.placement.at_start, len(syntax.tokens.texts)
    token_of = [*range(tokens), *(at_start.get(start, -1) for start in syntax.columns.starts[tokens:])]
    for node in descendants(syntax.function):
        if isinstance(node, _OPERATIONS):
            token_of[syntax.node(node)] = syntax.node((node, "op"))
        elif type(node) is ast.Compare:
            token_of[syntax.node(node)] = syntax.node((node, "ops", 0))
    for symbol, first, *_ in symbols(function.graph):
        token_of[symbol] = token_of[first]
    return np.array(token_of, dtype=np.int32)


def symbols(graph: Hypergraph) -> Iterator[list[int]]:
    """The nodes of each symbol of a function's graph: the symbol itself, then its occurrences."""
    if "Symbol" not in graph.names:
        return
    for edge in np.flatnonzero(graph.relation == graph.names.index("Symbol")).tolist():
        start, end = graph.offsets[edge : edge + 2].tolist()
        qualifier = int(graph.qualifier[start])
        if (
            qualifier >= 0 and graph.names[qualifier] == "sym"
        ):  # else it is the call of a function of that name
            yield graph.node[start:end].tolist()
